/** Where the node is and who logs in: flag, then environment, then ~/.config/lockstep/config.yaml, then the default. */
import { readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { parse } from 'yaml'
import type { Endpoint } from './rest-client.ts'
import { UsageError } from './usage-error.ts'

const DEFAULT_URL = 'http://127.0.0.1:8090'

/** `flags.url` is the value of --url. Throws UsageError for a URL or a file that cannot be understood. */
export function resolveEndpoint(flags: { url: string | undefined }, env: NodeJS.ProcessEnv): Endpoint {
  const file = readConfigFile(env)
  const text = flags.url ?? env['LOCKSTEP_URL'] ?? file.url ?? DEFAULT_URL
  let url: URL
  try {
    url = new URL(text)
  } catch {
    throw new UsageError(`"${text}" is not a URL; give for example ${DEFAULT_URL}`)
  }
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw new UsageError(`"${text}" must begin with http:// or https://`)
  return {
    url: url.href.replace(/\/+$/, ''),
    user: env['LOCKSTEP_USER'] ?? file.user,
    password: env['LOCKSTEP_PASSWORD'] ?? file.password,
  }
}

interface ConfigFile {
  readonly url?: string
  readonly user?: string
  readonly password?: string
}

function readConfigFile(env: NodeJS.ProcessEnv): ConfigFile {
  const path = join(env['XDG_CONFIG_HOME'] ?? join(env['HOME'] ?? homedir(), '.config'), 'lockstep', 'config.yaml')
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {}
    throw new UsageError(`cannot read ${path}: ${(error as Error).message}`)
  }
  try {
    const parsed: unknown = parse(text)
    return typeof parsed === 'object' && parsed !== null ? (parsed as ConfigFile) : {}
  } catch (error) {
    throw new UsageError(`${path} is not valid YAML: ${(error as Error).message}`)
  }
}
