/** Changes of a link's properties: what may change, and what a change takes with it. Pure; called by alter-link-configs. */
import { nearestKey } from '../../core/config-rows.ts'
import type { LinkConfigChange } from '../engine-api.ts'
import { linkError } from '../errors.ts'
import type { SecretBox } from '../secret-box.ts'
import { type LinkConfigKey, linkConfigKeys, linkConfigRows, linkConfigSynonyms } from './link-config-rows.ts'
import { type LinkConfigs, parseLinkConfigs } from './link-configs.ts'

/** Switching a feature off clears its filters, as existing tools expect. */
const filtersOf = {
  'acl.sync.enable': 'acl.filters',
  'consumer.offset.sync.enable': 'consumer.offset.group.filters',
  'auto.create.mirror.topics.enable': 'auto.create.mirror.topics.filters',
} as const satisfies Partial<Record<LinkConfigKey, LinkConfigKey>>

export interface AlteredConfigs {
  readonly configs: LinkConfigs
  readonly warnings: readonly string[]
  /** Properties that were taken away beside those that were asked for. */
  readonly cleared: readonly string[]
}

/** Throws OperationalError for unknown, unsupported or immutable properties and for bad values. */
export function alterConfigs(
  current: LinkConfigs,
  changes: readonly LinkConfigChange[],
  secrets?: SecretBox,
): AlteredConfigs {
  const next = new Map(current.overrides)
  const named = new Set<LinkConfigKey>()
  for (const change of changes) {
    const key = keyOf(change.name)
    if (named.has(key)) throw linkError('LINK_CONFIG_INVALID', { key, problem: 'is given twice' })
    named.add(key)
    if (change.operation === 'DELETE') next.delete(key)
    else if (change.value === null) throw linkError('LINK_CONFIG_INVALID', { key, problem: 'needs a value' })
    else next.set(key, change.value)
  }
  const cleared = clearedFilters(next, named)
  const { configs, warnings } = parseLinkConfigs(next, secrets)
  for (const key of named)
    if (!linkConfigRows[key].mutable && textOf(configs, key) !== textOf(current, key))
      throw linkError('LINK_CONFIG_READ_ONLY', { key })
  return { configs, warnings: named.size === 0 ? [] : warnings, cleared }
}

function keyOf(name: string): LinkConfigKey {
  const key = linkConfigSynonyms[name] ?? name
  if (Object.hasOwn(linkConfigRows, key)) return key as LinkConfigKey
  throw linkError('LINK_CONFIG_UNKNOWN', { key: name, nearest: nearestKey(name, linkConfigKeys) })
}

/** Takes the filters of features that these changes switch off. */
function clearedFilters(next: Map<string, string>, named: ReadonlySet<LinkConfigKey>): string[] {
  const cleared: string[] = []
  for (const [feature, filters] of Object.entries(filtersOf)) {
    const isOff = (next.get(feature) ?? 'false').trim().toLowerCase() === 'false'
    if (named.has(feature as LinkConfigKey) && isOff && next.delete(filters)) cleared.push(filters)
  }
  return cleared
}

const textOf = (configs: LinkConfigs, key: LinkConfigKey): string | undefined => {
  const value = configs.value(key)
  return value === undefined ? undefined : (linkConfigRows[key].format as (value: unknown) => string)(value)
}
