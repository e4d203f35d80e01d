/** Reads the operator's page as it was built: beside the emitted product, or in `.page/` of a clone. Called when REST starts. */
import { readdir, readFile } from 'node:fs/promises'
import { extname, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import type { PageFile, PageFiles } from '../../rest/ports.ts'

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
}

/** Where a build leaves it. */
const builtPage = new URL(import.meta.url.endsWith('.ts') ? '../../../.page/' : '../../web/', import.meta.url)

/** undefined = the page was not built. Other errors are thrown. */
export async function readPageFiles(folder: URL = builtPage): Promise<PageFiles | undefined> {
  const files = new Map<string, PageFile>()
  try {
    for (const name of await readdir(fileURLToPath(folder), { recursive: true })) {
      const contentType = CONTENT_TYPES[extname(name)]
      if (contentType === undefined) continue
      const path = name.split(sep).join('/')
      const bytes = await readFile(new URL(path, folder))
      files.set(path, { contentType, bytes, gzipped: gzipSync(bytes, { level: 9 }) })
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
  return files.has('index.html') ? files : undefined
}
