/** Value checks of link properties that need more than a core row: addresses, start offsets, filters, prefixes. */
import { ConfigValueError } from '../../core/config-rows.ts'
import type { OffsetSpec } from '../ports.ts'

/** Why `host:port` (or `[v6]:port`) is not usable; undefined = fine. */
export function addressProblem(address: string): string | undefined {
  const match = /^(?:\[([0-9a-fA-F:.%]+)\]|([^\s:[\]/]+)):(\d{1,5})$/.exec(address)
  if (!match) return `must list host:port, not "${address}"`
  const port = Number(match[3])
  return port >= 1 && port <= 65535 ? undefined : `has a port outside 1-65535 in "${address}"`
}

/** `earliest`, `latest` or an ISO-8601 point in time. */
export function parseStartOffsetSpec(text: string): OffsetSpec {
  const trimmed = text.trim()
  const lower = trimmed.toLowerCase()
  if (lower === 'earliest' || lower === 'latest') return lower
  const time = /^\d{4}-\d{2}-\d{2}(T[\d:.]+(Z|[+-]\d{2}:?\d{2})?)?$/.test(trimmed) ? Date.parse(trimmed) : Number.NaN
  if (Number.isNaN(time)) throw new ConfigValueError(`must be earliest, latest or an ISO-8601 time, not "${text}"`)
  return { timestampMs: BigInt(time) }
}

/** Prefix of mirror names; empty text means none. */
export function prefixProblem(prefix: string): string | undefined {
  if (prefix.length > 100) return 'must have at most 100 characters'
  return /^[a-zA-Z0-9._-]*$/.test(prefix) ? undefined : 'may hold only letters, digits, ".", "_" and "-"'
}

/** Topic configs that are never copied, whatever a link lists. */
const neverCopied: ReadonlySet<string> = new Set([
  'min.insync.replicas',
  'compression.type',
  'unclean.leader.election.enable',
  'leader.replication.throttled.replicas',
  'follower.replication.throttled.replicas',
  'remote.storage.enable',
  'local.retention.ms',
  'local.retention.bytes',
  'remote.log.copy.disable',
  'remote.log.delete.on.disable',
])

export function includeListProblem(keys: readonly string[]): string | undefined {
  const refused = keys.find(key => neverCopied.has(key))
  return refused === undefined ? undefined : `may not list ${refused}, which belongs to each cluster alone`
}
