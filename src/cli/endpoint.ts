/** Where the node is and who logs in: flag, then environment, then ~/.config/lockstep/config.yaml, then the default. */
import { readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { messageOf } from '../core/errors.ts'
import type { Certificates } from './http-call.ts'
import { UsageError } from './usage-error.ts'

export interface Endpoint {
  /** Base URL without a slash at the end, e.g. http://127.0.0.1:8090 */
  readonly url: string
  readonly user: string | undefined
  readonly password: string | undefined
  readonly certificates: Certificates
}

const DEFAULT_URL = 'http://127.0.0.1:8090'

/** Values of the options of all commands. */
export interface EndpointFlags {
  readonly url?: string
  readonly certificateAuthorityPath?: string
  readonly clientCertPath?: string
  readonly clientKeyPath?: string
  /** False: no user and password are sent. */
  readonly authentication?: boolean
}

/** Throws UsageError for a URL or a file that cannot be understood. */
export async function resolveEndpoint(flags: EndpointFlags, env: NodeJS.ProcessEnv): Promise<Endpoint> {
  const file = await readConfigFile(env)
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
    ...(flags.authentication === false
      ? { user: undefined, password: undefined }
      : { user: env['LOCKSTEP_USER'] ?? file.user, password: env['LOCKSTEP_PASSWORD'] ?? file.password }),
    certificates: {
      ca: pemOf(flags.certificateAuthorityPath ?? env['LOCKSTEP_CA'] ?? file.ca),
      cert: pemOf(flags.clientCertPath ?? env['LOCKSTEP_CLIENT_CERT'] ?? file.client_cert),
      key: pemOf(flags.clientKeyPath ?? env['LOCKSTEP_CLIENT_KEY'] ?? file.client_key),
    },
  }
}

interface ConfigFile {
  readonly url?: string
  readonly user?: string
  readonly password?: string
  /** Paths of PEM files. */
  readonly ca?: string
  readonly client_cert?: string
  readonly client_key?: string
}

function pemOf(path: string | undefined): string | undefined {
  if (path === undefined) return undefined
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw new UsageError(`cannot read ${path}: ${messageOf(error)}`)
  }
}

async function readConfigFile(env: NodeJS.ProcessEnv): Promise<ConfigFile> {
  const path = join(env['XDG_CONFIG_HOME'] ?? join(env['HOME'] ?? homedir(), '.config'), 'lockstep', 'config.yaml')
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {}
    throw new UsageError(`cannot read ${path}: ${(error as Error).message}`)
  }
  try {
    const { parse } = await import('yaml')
    const parsed: unknown = parse(text)
    return typeof parsed === 'object' && parsed !== null ? (parsed as ConfigFile) : {}
  } catch (error) {
    throw new UsageError(`${path} is not valid YAML: ${(error as Error).message}`)
  }
}
