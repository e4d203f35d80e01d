/** `--config`: comma-separated k=v pairs, or the path of a .properties file; repeatable. */
import { existsSync, readFileSync } from 'node:fs'
import { parse } from 'dot-properties'
import { UsageError } from './usage-error.ts'

/** Property that is accepted under another name too. */
const ALIASES: Readonly<Record<string, string>> = { 'link.prefix': 'cluster.link.prefix' }

/** Name/value pairs of all given values, later ones winning. Throws UsageError for text that is neither. */
export function parseConfigOption(values: readonly string[]): Map<string, string> {
  const entries = new Map<string, string>()
  for (const value of values)
    for (const [name, text] of value.includes('=') ? pairsOf(value) : fileEntries(value))
      entries.set(ALIASES[name] ?? name, text)
  return entries
}

/** A comma only separates pairs when what follows looks like a name and "="; values may contain commas. */
function pairsOf(text: string): [string, string][] {
  return text.split(/,(?=[A-Za-z0-9._-]+=)/).map(pair => {
    const at = pair.indexOf('=')
    if (at <= 0) throw new UsageError(`--config: "${pair}" is not of the form name=value`)
    return [pair.slice(0, at).trim(), pair.slice(at + 1).trim()]
  })
}

function fileEntries(path: string): [string, string][] {
  if (!existsSync(path)) throw new UsageError(`--config: "${path}" is neither name=value nor a file that exists`)
  return Object.entries(parse(readFileSync(path, 'utf8'))).map(([name, value]) => [name, String(value)])
}

/** The body form of REST. */
export const configEntries = (configs: ReadonlyMap<string, string>) =>
  [...configs].map(([name, value]) => ({ name, value }))

/** Options of commands that change properties. */
export interface UpdateOptions {
  readonly config?: readonly string[]
  readonly configFile?: readonly string[]
  readonly reset?: readonly string[]
  readonly dryRun?: boolean
}

/** The changes that were asked for, as REST takes them. Throws UsageError where there are none. */
export function configChanges({ config = [], configFile = [], reset = [] }: UpdateOptions) {
  const changes = [
    ...configEntries(parseConfigOption([...configFile, ...config])),
    ...reset.map(name => ({ name: ALIASES[name] ?? name, operation: 'DELETE' })),
  ]
  if (changes.length === 0) throw new UsageError('give --config, --config-file or --reset')
  return changes
}
