/** Kafka's checks of config overrides before they are recorded; called by the controller's create and alter commands. */
import { nearestKey } from '../core/config-rows.ts'
import { brokerConfig } from './broker-configs.ts'
import { valueProblem } from './kafka-property.ts'
import { topicConfigs } from './topic-configs.ts'

/** Why a topic may not have these overrides (all of them together); undefined if it may. */
export function topicOverridesProblem(overrides: ReadonlyMap<string, string>): string | undefined {
  for (const [name, value] of overrides) {
    const config = topicConfigs.get(name)
    if (config === undefined) return unknownTopicConfig(name)
    const problem = valueProblem(name, config.row, value)
    if (problem !== undefined) return problem
  }
  const number = (name: string): number =>
    Number(topicConfigs.get(name)?.row.parse(overrides.get(name) ?? topicConfigs.get(name)?.property.default ?? ''))
  const minLag = number('min.compaction.lag.ms')
  const maxLag = number('max.compaction.lag.ms')
  if (minLag > maxLag)
    return `conflict topic config setting min.compaction.lag.ms (${minLag}) > max.compaction.lag.ms (${maxLag})`
  if (overrides.get('remote.storage.enable')?.trim().toLowerCase() === 'true')
    return 'Tiered Storage functionality is disabled in the broker. remote.storage.enable cannot be true here'
  return undefined
}

function unknownTopicConfig(name: string): string {
  const nearest = nearestKey(name, topicConfigs.keys())
  return `Unknown topic config name: ${name}${nearest === undefined ? '' : ` (did you mean ${nearest}?)`}`
}

/**
 * Why a server property may not be altered at run time to `value` (null = removed); undefined if it may.
 * Names that Kafka does not know are accepted, as Kafka does for plugins. `cluster` = for all brokers.
 */
export function brokerOverrideProblem(
  name: string,
  value: string | null,
  scope: 'cluster' | 'broker',
): string | undefined {
  const config = brokerConfig(name)
  if (config === undefined) return undefined
  const { dynamic } = config.property
  if (dynamic === undefined) return `Cannot update these configs dynamically: [${name}]`
  const perListener = name.startsWith('listener.name.')
  if (scope === 'cluster' && (dynamic === 'broker' || perListener))
    return `Cannot update these configs at default cluster level, broker id must be specified: [${name}]`
  return value === null ? undefined : valueProblem(name, config.row, value)
}
