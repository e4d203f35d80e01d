/** What Kafka asks of altered server properties beyond their types and bounds: values that must fit each other or the present; used by the validation of configs. */

export interface AlteredProperties {
  /** New values; null = removed. */
  readonly changed: ReadonlyMap<string, string | null>
  /** Effective text of a server property before the change; '' = not set. */
  readonly server: (name: string) => string
}

/** Their number may at most double or halve at a time. */
const threadCounts: readonly string[] = [
  'background.threads',
  'log.cleaner.threads',
  'num.io.threads',
  'num.network.threads',
  'num.recovery.threads.per.data.dir',
  'num.replica.fetchers',
]

/** Read once, when the node starts; Kafka can change some of them later. */
const fixedHere: readonly string[] = ['listeners', 'listener.security.protocol.map', 'cordoned.log.dirs']

const LISTENER_LIMIT = /^listener\.name\.[^.]+\.(max\.connections|max\.connection\.creation\.rate)$/
const IP_LIMIT = /^.+:-?\d+$/

/** The first problem, undefined if there is none. Values have been parsed before. */
export function brokerOverridesProblem(altered: AlteredProperties): string | undefined {
  for (const [name, value] of altered.changed) {
    const problem = value === null ? undefined : valueProblem(altered, name, value)
    if (problem !== undefined) return problem
  }
  return undefined
}

function valueProblem(altered: AlteredProperties, name: string, value: string): string | undefined {
  if (fixedHere.includes(name) && value !== '') return `${name} can only be changed in the file, with a restart`
  if (threadCounts.includes(name)) return threadsProblem(altered, name, Number(value))
  if (LISTENER_LIMIT.test(name) || name === 'max.connection.creation.rate')
    return Number(value) < 1 ? `${name} must be at least 1, not ${value}` : undefined
  switch (name) {
    case 'log.retention.ms':
      return Number(value) === 0 ? `${name} must be unlimited (-1) or at least 1` : undefined
    case 'log.roll.ms':
      return Number(value) < 1 ? `${name} must be at least 1, not ${value}` : undefined
    case 'max.connections.per.ip':
    case 'max.connections.per.ip.overrides':
      return addressLimitsProblem(altered)
    case 'log.local.retention.ms':
    case 'log.local.retention.bytes':
      return localRetentionProblem(altered, name, Number(value))
    default:
      return undefined
  }
}

const after = ({ changed, server }: AlteredProperties, name: string): string => changed.get(name) ?? server(name)

function threadsProblem({ server }: AlteredProperties, name: string, wanted: number): string | undefined {
  const current = Number(server(name))
  if (wanted > 2 * current) return `${name} may at most double at a time, from ${current}`
  return wanted < Math.floor(current / 2) ? `${name} may at most be halved at a time, from ${current}` : undefined
}

function addressLimitsProblem(altered: AlteredProperties): string | undefined {
  const overrides = after(altered, 'max.connections.per.ip.overrides')
    .split(',')
    .flatMap(item => item.trim() || [])
  const malformed = overrides.find(item => !IP_LIMIT.test(item))
  if (malformed !== undefined)
    return `max.connections.per.ip.overrides must hold pairs of an address and a number, not "${malformed}"`
  return Number(after(altered, 'max.connections.per.ip')) === 0 && overrides.length === 0
    ? 'max.connections.per.ip can only be 0 if max.connections.per.ip.overrides lets somebody in'
    : undefined
}

/** −2 = as the whole retention. */
function localRetentionProblem(altered: AlteredProperties, name: string, local: number): string | undefined {
  const whole = name.replace('local.', '')
  const most = name.endsWith('.ms') ? wholeRetentionMs(altered) : Number(after(altered, whole))
  return local !== -2 && most >= 0 && (local > most || local === -1)
    ? `${name} must not be more than ${whole}`
    : undefined
}

function wholeRetentionMs(altered: AlteredProperties): number {
  for (const [name, ms] of [
    ['log.retention.ms', 1],
    ['log.retention.minutes', 60_000],
    ['log.retention.hours', 3_600_000],
  ] as const) {
    const text = after(altered, name)
    if (text !== '') return Number(text) * ms
  }
  return -1
}
