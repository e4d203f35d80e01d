/** The incrementalAlterConfigs command (KIP-339) for topics, brokers, groups and client metrics. Called by the local controller. */
import { brokerConfig } from '../../metadata/broker-configs.ts'
import { type AlteredProperties, brokerOverridesProblem } from '../../metadata/broker-override-checks.ts'
import { clientMetricsProblem } from '../../metadata/client-metrics-configs.ts'
import { brokerOverrideProblem, topicOverridesProblem } from '../../metadata/config-validation.ts'
import type { ApiError, ConfigAlteration, ConfigResource } from '../../metadata/controller-port.ts'
import { groupConfigs, groupOverridesProblem } from '../../metadata/group-configs.ts'
import type { KafkaProperty } from '../../metadata/kafka-property.ts'
import {
  ConfigResourceType,
  configOverrides,
  configResourceKey,
  type MetadataImage,
} from '../../metadata/metadata-image.ts'
import { topicConfigs } from '../../metadata/topic-configs.ts'
import { topicNameProblem } from '../../metadata/topic-names.ts'
import { type MetadataRecordInput, MetadataRecordType } from '../../protocol/metadata-records/registry.ts'
import { accepted, type Decision, refused, repeated } from './decision.ts'

const MIN_ISR = 'min.insync.replicas'

/** Effective text of a server property. */
export type ServerProperty = (name: string) => string

export function alterConfigs(
  image: MetadataImage,
  alterations: readonly ConfigAlteration[],
  server: ServerProperty,
): Decision<(ApiError & { readonly resource: ConfigResource })[]> {
  const records: MetadataRecordInput[] = []
  const twice = repeated(alterations.map(alteration => configResourceKey(alteration.resource)))
  const answer = alterations.map(alteration => {
    const { resource } = alteration
    if (twice.has(configResourceKey(resource)))
      return { resource, ...refused('INVALID_REQUEST', 'Each resource must appear at most once.') }
    const error = resourceProblem(image, resource)
    if (error !== undefined) return { resource, ...error }
    const planned = plan(image, alteration, server)
    if ('errorCode' in planned) return { resource, ...planned }
    records.push(...planned)
    return { resource, ...accepted }
  })
  return { records, answer }
}

function resourceProblem(image: MetadataImage, { type, name }: ConfigResource): ApiError | undefined {
  if (type === ConfigResourceType.TOPIC) {
    if (name === '') return refused('INVALID_REQUEST', 'Default topic resources are not allowed.')
    if (image.topicIds.has(name)) return undefined
    const nameProblem = topicNameProblem(name)
    if (nameProblem !== undefined) return refused('INVALID_TOPIC_EXCEPTION', nameProblem)
    return refused('UNKNOWN_TOPIC_OR_PARTITION', `The topic '${name}' does not exist.`)
  }
  if (type === ConfigResourceType.GROUP || type === ConfigResourceType.CLIENT_METRICS)
    return name === ''
      ? refused('INVALID_REQUEST', 'A group or a subscription without a name has no configs.')
      : undefined
  if (type !== ConfigResourceType.BROKER) return refused('INVALID_REQUEST', `Unsupported config resource type ${type}.`)
  if (name === '') return undefined
  if (!/^\d+$/.test(name)) return refused('INVALID_REQUEST', `Invalid broker id "${name}".`)
  if (image.brokers.has(Number(name))) return undefined
  return refused('BROKER_ID_NOT_REGISTERED', `No broker with id ${name} found.`)
}

/** The records of one resource, or why it is refused as a whole. */
function plan(
  image: MetadataImage,
  { resource, changes }: ConfigAlteration,
  server: ServerProperty,
): MetadataRecordInput[] | ApiError {
  if (new Set(changes.map(change => change.key)).size !== changes.length)
    return refused('INVALID_REQUEST', 'Error due to duplicate config keys')
  const before = configOverrides(image, resource)
  const after = new Map(before)
  for (const change of changes) {
    const value = newValue(resource, change, before.get(change.key))
    if (typeof value === 'object' && value !== null) return value
    if (value === null) after.delete(change.key)
    else after.set(change.key, value)
  }
  const changed = changes.map(change => change.key).filter(key => after.get(key) !== before.get(key))
  const problem = overridesProblem(image, { resource, after, changed, server })
  if (problem !== undefined) return problem
  return [...changed.map(key => configRecord(resource, key, after.get(key) ?? null)), ...clearElr(resource, changed)]
}

interface Altered {
  readonly resource: ConfigResource
  /** All overrides as they would be. */
  readonly after: ReadonlyMap<string, string>
  readonly changed: readonly string[]
  readonly server: ServerProperty
}

function overridesProblem(image: MetadataImage, { resource, after, changed, server }: Altered): ApiError | undefined {
  const invalid = (problem: string | undefined) =>
    problem === undefined ? undefined : refused('INVALID_CONFIG', problem)
  switch (resource.type) {
    case ConfigResourceType.TOPIC:
      return invalid(topicOverridesProblem(after))
    case ConfigResourceType.GROUP:
      return invalid(groupOverridesProblem(after, server))
    case ConfigResourceType.CLIENT_METRICS: {
      const problem = clientMetricsProblem(after)
      return problem && refused(problem.error, problem.message)
    }
    default:
      return brokerProblem(image, resource, {
        changed: new Map(changed.map(key => [key, after.get(key) ?? null])),
        server,
      })
  }
}

/** The value after one operation; null = removed. */
function newValue(
  resource: ConfigResource,
  change: ConfigAlteration['changes'][number],
  current: string | undefined,
): string | null | ApiError {
  const { key, operation, value } = change
  if (operation === 'delete') return null
  if (value === null) return refused('INVALID_REQUEST', `Null value not supported for : ${key}`)
  if (operation === 'set') return value
  const property = propertyOf(resource, key)
  if (property?.type !== 'list')
    return refused('INVALID_CONFIG', `Can't ${operation.toUpperCase()} to key ${key} because its type is not LIST.`)
  const parts = (text: string): string[] => text.split(',').flatMap(item => item.trim() || [])
  const items = parts(current ?? property.default ?? '')
  const given = parts(value)
  return operation === 'append'
    ? [...items, ...given.filter(item => !items.includes(item))].join(',')
    : items.filter(item => !given.includes(item)).join(',')
}

function propertyOf({ type }: ConfigResource, key: string): KafkaProperty | undefined {
  switch (type) {
    case ConfigResourceType.TOPIC:
      return topicConfigs.get(key)?.property
    case ConfigResourceType.GROUP:
      return groupConfigs.get(key)?.property
    case ConfigResourceType.BROKER:
      return brokerConfig(key)?.property
    default:
      // Kafka knows no lists among client metrics: nothing can be appended.
      return undefined
  }
}

function brokerProblem(
  image: MetadataImage,
  resource: ConfigResource,
  altered: AlteredProperties,
): ApiError | undefined {
  const { changed } = altered
  const scope = resource.name === '' ? 'cluster' : 'broker'
  for (const [key, value] of changed) {
    const problem = brokerOverrideProblem(key, value, scope)
    if (problem !== undefined) return refused('INVALID_REQUEST', problem)
  }
  const together = brokerOverridesProblem(altered)
  if (together !== undefined) return refused('INVALID_REQUEST', together)
  const minIsr = changed.get(MIN_ISR)
  // KIP-966: eligible leader replicas are kept relative to one known min.insync.replicas per topic.
  if (minIsr === undefined || !image.features.has('eligible.leader.replicas.version')) return undefined
  if (scope === 'broker')
    return refused('INVALID_CONFIG', `Broker-level ${MIN_ISR} cannot be altered while ELR is enabled.`)
  return minIsr === null
    ? refused('INVALID_CONFIG', `Cluster-level ${MIN_ISR} cannot be removed while ELR is enabled.`)
    : undefined
}

const configRecord = ({ type, name }: ConfigResource, key: string, value: string | null): MetadataRecordInput => ({
  type: MetadataRecordType.Config,
  version: 0,
  value: { resourceType: type, resourceName: name, name: key, value },
})

/** KIP-966: with another min.insync.replicas, earlier eligible leaders may lack acknowledged records. */
const clearElr = (resource: ConfigResource, changed: readonly string[]): MetadataRecordInput[] =>
  changed.includes(MIN_ISR)
    ? [{ type: MetadataRecordType.ClearElr, version: 0, value: { topicName: resource.name } }]
    : []
