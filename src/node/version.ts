/** The product's version, from package.json; the same file serves the sources and the published package. */
import { readFileSync } from 'node:fs'

export const version: string = (
  JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as { version: string }
).version
