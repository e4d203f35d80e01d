// Builds the operator's page (src/page) into .page/, where nodes of a clone find it, or where --out says; run by the bootstrap and by build-package.
import { createHash } from 'node:crypto'
import { existsSync, globSync, readFileSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { parseArgs } from 'node:util'
import { gzipSync } from 'node:zlib'
import { build, type Plugin, type Rollup } from 'vite'

/** What a browser has to load before it shows anything, compressed as nodes compress it. */
const GZIPPED_BYTES_MAX = 60 * 1024

/** Kinds of lines that uPlot can draw and the page does not: a bundler cannot leave them out by itself. */
const UNUSED_PATHS = /^\t\(paths\.(stepped|bars|spline)\s+= \w+\);$/gm

const root = join(import.meta.dirname, '..')
const { values } = parseArgs({ options: { out: { type: 'string' }, 'if-changed': { type: 'boolean' } } })
const out = values.out ?? join(root, '.page')
const withoutUnusedPaths: Plugin = {
  name: 'without-unused-paths',
  transform(code, id) {
    if (!id.endsWith('/uPlot.esm.js')) return undefined
    if (code.match(UNUSED_PATHS)?.length !== 3) throw new Error('uPlot names its kinds of lines in another way now')
    return { code: code.replace(UNUSED_PATHS, ';'), map: null }
  },
}
const stampFile = join(out, '.built-from')
const stamp = sourcesStamp()
if (!values['if-changed'] || !existsSync(stampFile) || readFileSync(stampFile, 'utf8') !== stamp) await buildPage()

async function buildPage(): Promise<void> {
  const result = await build({
    root: join(root, 'src/page'),
    configFile: false,
    logLevel: 'warn',
    // The page may be served under any path.
    base: './',
    oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
    plugins: [withoutUnusedPaths],
    build: {
      outDir: out,
      emptyOutDir: true,
      target: ['chrome123', 'firefox128', 'safari17.5'],
      modulePreload: false,
      reportCompressedSize: false,
      // Style and pictures come from files: the page's content security policy knows no others.
      assetsInlineLimit: 0,
    },
  })
  const files = [result as Rollup.RollupOutput].flat().flatMap(({ output }) => output)
  const bytes = files.reduce(
    (sum, file) => sum + gzipSync(file.type === 'chunk' ? file.code : file.source, { level: 9 }).length,
    0,
  )
  if (bytes > GZIPPED_BYTES_MAX)
    throw new Error(`the page is ${bytes} bytes compressed, which is more than ${GZIPPED_BYTES_MAX}`)
  writeFileSync(stampFile, stamp)
  process.stderr.write(`lockstep: built the page, ${(bytes / 1024).toFixed(1)} KB compressed\n`)
}

/** Changes with whatever the page is made of. */
function sourcesStamp(): string {
  const own = globSync(['src/page/**/*', 'src/rest/schemas/*.ts'], { cwd: root, withFileTypes: true })
  const files = own.filter(entry => entry.isFile()).map(entry => join(entry.parentPath, entry.name))
  const hash = createHash('sha256')
  for (const file of [...files, join(root, 'package-lock.json'), import.meta.filename].sort())
    hash.update(relative(root, file)).update(readFileSync(file))
  return hash.digest('hex')
}
