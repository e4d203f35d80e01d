/** The configs of client metrics subscriptions (KIP-714): kept and told as Kafka does; no client is asked for metrics. Read by validation and DescribeConfigs. */
import type { ConfigRow } from '../core/config-rows.ts'
import { type ConfigValue, type KafkaProperty, propertyRow, valueProblem } from './kafka-property.ts'

export interface ClientMetricsConfig {
  readonly name: string
  readonly property: KafkaProperty
  readonly row: ConfigRow<ConfigValue>
}

const row = (name: string, property: KafkaProperty, doc: string): [string, ClientMetricsConfig] => [
  name,
  { name, property, row: propertyRow(property, doc) },
]

/** All rows by name. */
export const clientMetricsConfigs: ReadonlyMap<string, ClientMetricsConfig> = new Map([
  row('interval.ms', { type: 'int', default: '300000' }, 'How often clients send their metrics.'),
  row('match', { type: 'list', default: '' }, 'Which clients: pairs of an attribute and a pattern.'),
  row('metrics', { type: 'list', default: '' }, 'Prefixes of the names of metrics.'),
])

const attributes: ReadonlySet<string> = new Set([
  'client_instance_id',
  'client_id',
  'client_software_name',
  'client_software_version',
  'client_source_address',
  'client_source_port',
])

export interface ClientMetricsProblem {
  readonly error: 'INVALID_REQUEST' | 'INVALID_CONFIG'
  readonly message: string
}

/** Why a subscription may not have these values; undefined if it may. */
export function clientMetricsProblem(overrides: ReadonlyMap<string, string>): ClientMetricsProblem | undefined {
  for (const [name, value] of overrides) {
    const config = clientMetricsConfigs.get(name)
    if (config === undefined)
      return { error: 'INVALID_REQUEST', message: `Unknown client metrics configuration: ${name}` }
    const problem = valueProblem(name, config.row, value)
    if (problem !== undefined) return { error: 'INVALID_CONFIG', message: problem }
    if (name === 'interval.ms' && !(Number(value) >= 100 && Number(value) <= 3_600_000))
      return { error: 'INVALID_REQUEST', message: `Invalid value ${value} for interval.ms: must be 100 to 3600000` }
    const wrong = name === 'match' ? value.split(',').find(pair => value.trim() !== '' && !isPattern(pair)) : undefined
    if (wrong !== undefined)
      return { error: 'INVALID_CONFIG', message: `Illegal client matching pattern: ${wrong.trim()}` }
  }
  return undefined
}

function isPattern(pair: string): boolean {
  const [attribute = '', pattern, ...more] = pair.split('=').map(part => part.trim())
  if (pattern === undefined || more.length > 0 || !attributes.has(attribute)) return false
  try {
    return new RegExp(pattern) instanceof RegExp
  } catch {
    return false
  }
}
