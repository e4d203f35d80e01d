/** Which build this is: the version from package.json, and the commit, which a package was given when it was built and a clone has in its git folder. */
import { readFileSync } from 'node:fs'

/** The same file serves the sources and the published package. */
export const version: string = (
  JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as { version: string }
).version

/** Hexadecimal, whole; undefined where nothing tells it: sources that were copied without their history. */
export function commitOfBuild(): string | undefined {
  const build = contentOf(new URL('../build.json', import.meta.url))
  if (build !== undefined) return (JSON.parse(build) as { commit?: string }).commit
  return checkedOutCommit(new URL('../../.git/', import.meta.url))
}

/** What HEAD points to, from the files of a git folder: git itself need not be there. */
function checkedOutCommit(folder: URL): string | undefined {
  const head = contentOf(new URL('HEAD', folder))?.trim()
  const [, ref] = /^ref: (refs\/\S+)$/.exec(head ?? '') ?? []
  if (ref === undefined) return commitIn(head)
  const loose = contentOf(new URL(ref, folder))?.trim()
  if (loose !== undefined) return commitIn(loose)
  const packed = contentOf(new URL('packed-refs', folder))?.split('\n') ?? []
  return commitIn(packed.find(line => line.endsWith(` ${ref}`))?.split(' ')[0])
}

const commitIn = (text: string | undefined) => (/^[0-9a-f]{40,64}$/.test(text ?? '') ? text : undefined)

function contentOf(file: URL): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return undefined
  }
}
