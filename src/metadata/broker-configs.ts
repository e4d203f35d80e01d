/** The catalog of Kafka 4.3.1's server properties: which this node applies, which it accepts without effect, and what can be altered at run time. Read by node settings, the controller's config commands and DescribeConfigs. */
import { type ConfigRow, nearestKey } from '../core/config-rows.ts'
import { appliedProperties, topicConfigsWithoutEffect } from './applied-properties.ts'
import { authorizerProperties } from './broker-properties/authorizer.ts'
import { clusterProperties } from './broker-properties/cluster.ts'
import { coordinatorsProperties } from './broker-properties/coordinators.ts'
import { logProperties } from './broker-properties/log.ts'
import { nodeProperties } from './broker-properties/node.ts'
import { remoteStorageProperties } from './broker-properties/remote-storage.ts'
import { securityProperties } from './broker-properties/security.ts'
import { type ConfigValue, type KafkaProperty, propertyRow } from './kafka-property.ts'
import { topicConfigs } from './topic-configs.ts'

export interface BrokerConfig {
  readonly name: string
  readonly property: KafkaProperty
  readonly row: ConfigRow<ConfigValue>
  /** False: accepted, and has no effect in this node. */
  readonly applied: boolean
}

/** Docs of server properties that only give a topic config its server-wide value. */
const topicDocs = new Map<string, string>()
for (const topic of topicConfigs.values())
  for (const synonym of topicConfigsWithoutEffect.has(topic.name) ? [] : topic.synonyms)
    topicDocs.set(synonym.name, `Server-wide value of ${topic.name}. ${topic.row.doc}`)

function brokerConfigOf(name: string, property: KafkaProperty): BrokerConfig {
  const doc = appliedProperties[name] ?? topicDocs.get(name)
  return {
    name,
    property,
    row: propertyRow(property, doc ?? 'A property of Kafka that this node accepts; it has no effect here.'),
    applied: doc !== undefined,
  }
}

const catalog: ReadonlyMap<string, BrokerConfig> = new Map(
  Object.entries({
    ...authorizerProperties,
    ...clusterProperties,
    ...coordinatorsProperties,
    ...logProperties,
    ...nodeProperties,
    ...remoteStorageProperties,
    ...securityProperties,
  })
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, property]) => [name, brokerConfigOf(name, property)]),
)

/** Every name of the catalog, sorted. */
export const brokerConfigs: ReadonlyMap<string, BrokerConfig> = catalog

const LISTENER_PREFIX = /^listener\.name\.[^.]*\.(.+)$/

/** Properties of pluggable classes: any name below these is accepted, as in Kafka. */
const PLUGIN_PREFIXES = ['config.providers.', 'rlmm.config.', 'rsm.config.']

/** The property without its `listener.name.<listener>.` (and `<mechanism>.`) prefix. */
function withoutListenerPrefix(name: string): string {
  const rest = LISTENER_PREFIX.exec(name)?.[1]
  if (rest === undefined) return name
  return catalog.has(rest) ? rest : rest.slice(rest.indexOf('.') + 1)
}

/** The catalog row of a property, also for `listener.name.<listener>.<property>`. */
export const brokerConfig = (name: string): BrokerConfig | undefined => catalog.get(withoutListenerPrefix(name))

export type PropertyVerdict =
  | { readonly kind: 'applied' | 'accepted' }
  | { readonly kind: 'unknown'; readonly nearest: string | undefined }

/** What to do with a name found in a server properties file. `own` = names of Lockstep's own properties, candidates for the nearest name. */
export function judgeProperty(name: string, own: Iterable<string> = []): PropertyVerdict {
  if (PLUGIN_PREFIXES.some(prefix => name.startsWith(prefix))) return { kind: 'accepted' }
  const config = brokerConfig(name)
  if (config !== undefined && !config.property.dynamicOnly) return { kind: config.applied ? 'applied' : 'accepted' }
  return { kind: 'unknown', nearest: nearestKey(name, [...own, ...catalog.keys()]) }
}
