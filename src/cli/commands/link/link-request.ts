/** What `link create` and `link preflight` send: the other end, its credentials and the properties. */
import { configEntries, parseConfigOption } from '../../config-option.ts'
import { UsageError } from '../../usage-error.ts'

export interface LinkOptions {
  readonly sourceCluster?: string
  readonly sourceBootstrapServer?: string
  readonly sourceApiKey?: string
  readonly sourceApiSecret?: string
  readonly destinationCluster?: string
  readonly destinationBootstrapServer?: string
  readonly destinationApiKey?: string
  readonly destinationApiSecret?: string
  readonly remoteCluster?: string
  readonly remoteBootstrapServer?: string
  readonly remoteApiKey?: string
  readonly remoteApiSecret?: string
  readonly localApiKey?: string
  readonly localApiSecret?: string
  readonly config?: readonly string[]
  readonly configFile?: readonly string[]
}

type End = 'source' | 'destination' | 'remote'
const ENDS: readonly End[] = ['source', 'destination', 'remote']

/** What the other end is called, seen from a link of that mode. */
const OTHER_END: Readonly<Record<string, End>> = {
  DESTINATION: 'source',
  SOURCE: 'destination',
  BIDIRECTIONAL: 'remote',
}

/** The properties of the link, `link.mode` included, and the body of the request. Throws UsageError. */
export function linkRequest(options: LinkOptions): { configs: Map<string, string>; body: object } {
  const configs = parseConfigOption([...(options.configFile ?? []), ...(options.config ?? [])])
  if (!configs.has('link.mode')) configs.set('link.mode', 'DESTINATION')
  const mode = (configs.get('link.mode') ?? '').toUpperCase()
  const other = OTHER_END[mode] ?? 'source'
  const unfitting = ENDS.find(end => end !== other && options[`${end}BootstrapServer`] !== undefined)
  if (unfitting)
    throw new UsageError(
      `--${unfitting}-bootstrap-server does not fit link.mode ${mode}: use --${other}-bootstrap-server`,
    )
  const bootstrap = options[`${other}BootstrapServer`]
  if (bootstrap !== undefined) configs.set('bootstrap.servers', bootstrap)
  for (const end of [...ENDS, 'local'] as const) addCredentials(configs, options, { end, mode, other })
  const ids = ENDS.map(end => [`${end}_cluster_id`, options[`${end}Cluster`]] as const)
  const body = {
    ...Object.fromEntries(ids.filter(([, id]) => id !== undefined)),
    configs: configEntries(configs),
  }
  return { configs, body }
}

/** Key and secret mean SASL_SSL with PLAIN, unless the properties say otherwise. */
function addCredentials(
  configs: Map<string, string>,
  options: LinkOptions,
  { end, mode, other }: { end: End | 'local'; mode: string; other: End },
): void {
  const key = options[`${end}ApiKey`]
  const secret = options[`${end}ApiSecret`]
  if ((key === undefined) !== (secret === undefined))
    throw new UsageError(`--${end}-api-key and --${end}-api-secret must be given together`)
  if (key === undefined || secret === undefined) return
  const isLocal = end === 'local' || (mode === 'SOURCE' && end === 'source')
  if (!isLocal && end !== other)
    throw new UsageError(`--${end}-api-key does not fit link.mode ${mode}: use --${other}-api-key`)
  const prefix = isLocal ? 'local.' : ''
  const defaults = { [`${prefix}security.protocol`]: 'SASL_SSL', [`${prefix}sasl.mechanism`]: 'PLAIN' }
  for (const [name, value] of Object.entries(defaults)) if (!configs.has(name)) configs.set(name, value)
  configs.set(`${prefix}sasl.jaas.config`, plainLogin(key, secret))
}

const plainLogin = (user: string, password: string) =>
  `org.apache.kafka.common.security.plain.PlainLoginModule required username=${quoted(user)} password=${quoted(password)};`

const quoted = (text: string) => `"${text.replace(/[\\"]/g, '\\$&')}"`

const SHOWN = [
  /^bootstrap\.servers$/,
  /^(remote\.)?(link\.|connection\.mode|link\.connection\.mode)/,
  /^(cluster\.link|consumer|acl|auto\.create|topic\.config|mirror|availability\.check|group\.sync)\./,
  /^(num\.cluster\.link|replica|metadata|request|retry|connections|socket|client\.dns|default\.api|fetch)\./,
  /^(local\.)?(security\.protocol|sasl\.mechanism|listener(\.name)?)$/,
  /^(local\.)?ssl\.(protocol|enabled\.protocols|endpoint\.identification\.algorithm|(keystore|truststore)\.(type|location))$/,
]

/** Those properties that may be printed, sorted: a list of what is known to be no secret. */
export const printable = (configs: ReadonlyMap<string, string>): [string, string][] =>
  [...configs]
    .filter(([name]) => SHOWN.some(pattern => pattern.test(name)))
    .sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
