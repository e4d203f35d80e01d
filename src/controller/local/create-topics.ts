/** The createTopics command: validation in Kafka's order, placement, records. Called by the local controller. */
import { randomUuid, type Uuid, ZERO_UUID } from '../../core/uuid.ts'
import { topicOverridesProblem } from '../../metadata/config-validation.ts'
import type { ApiError, CreatedTopic, MutationGate, NewTopic } from '../../metadata/controller-port.ts'
import { ConfigResourceType, type MetadataImage } from '../../metadata/metadata-image.ts'
import { CLUSTER_METADATA_TOPIC, canCollide, collisionKey, topicNameProblem } from '../../metadata/topic-names.ts'
import { type MetadataRecordInput, MetadataRecordType } from '../../protocol/metadata-records/registry.ts'
import { accepted, type Decision, quotaExceeded, refused, repeated } from './decision.ts'
import {
  type Assignments,
  assignmentProblem,
  NEW_PARTITIONS_MAX,
  partitionRecords,
  placePartitions,
} from './partition-placement.ts'

/** What -1 stands for, and who is asked. */
export interface TopicDefaults {
  readonly partitions: number
  readonly replicationFactor: number
  readonly mayMutate?: MutationGate | undefined
}

export function createTopics(
  image: MetadataImage,
  topics: readonly NewTopic[],
  defaults: TopicDefaults,
): Decision<CreatedTopic[]> {
  if (newPartitionsOf(topics, defaults) > NEW_PARTITIONS_MAX) {
    const error = refused('POLICY_VIOLATION', 'Excessively large number of partitions per request.')
    return { records: [], answer: topics.map(topic => notCreated(topic.name, error)) }
  }
  const names = new NameCheck(image, topics)
  const records: MetadataRecordInput[] = []
  const answer = topics.map(topic => {
    const planned = names.problem(topic.name) ?? planTopic(image, topic, defaults)
    if ('errorCode' in planned) return notCreated(topic.name, planned)
    if (defaults.mayMutate?.(planned.assignments.length) === false) return notCreated(topic.name, quotaExceeded)
    names.taken(topic.name)
    records.push(...recordsOf(image, topic, planned))
    return createdTopic(topic, planned)
  })
  return { records, answer }
}

function newPartitionsOf(topics: readonly NewTopic[], defaults: TopicDefaults): number {
  const count = (topic: NewTopic): number => {
    if (topic.assignments.size > 0) return topic.assignments.size
    return topic.partitions === -1 ? defaults.partitions : Math.max(0, topic.partitions)
  }
  return topics.reduce((sum, topic) => sum + count(topic), 0)
}

/** Checks names against the image and against each other within one request. */
class NameCheck {
  readonly #image: MetadataImage
  readonly #twice: ReadonlySet<string>
  /** Existing name by collision key; filled only when a name that can collide is asked for. */
  #collisions: Map<string, string> | undefined

  constructor(image: MetadataImage, topics: readonly NewTopic[]) {
    this.#image = image
    this.#twice = repeated(topics.map(topic => topic.name))
  }

  problem(name: string): ApiError | undefined {
    if (name === CLUSTER_METADATA_TOPIC)
      return refused('INVALID_REQUEST', `Creation of internal topic ${name} is prohibited.`)
    if (this.#twice.has(name)) return refused('INVALID_REQUEST', 'Duplicate topic name.')
    const nameProblem = topicNameProblem(name)
    if (nameProblem !== undefined) return refused('INVALID_TOPIC_EXCEPTION', nameProblem)
    if (this.#image.topicIds.has(name)) return refused('TOPIC_ALREADY_EXISTS', `Topic '${name}' already exists.`)
    const other = canCollide(name) ? this.#existing().get(collisionKey(name)) : undefined
    if (other === undefined) return undefined
    return refused('INVALID_TOPIC_EXCEPTION', `Topic '${name}' collides with existing topic: ${other}`)
  }

  taken(name: string): void {
    if (canCollide(name)) this.#existing().set(collisionKey(name), name)
  }

  #existing(): Map<string, string> {
    this.#collisions ??= new Map(
      [...this.#image.topicIds.keys()].filter(canCollide).map(name => [collisionKey(name), name]),
    )
    return this.#collisions
  }
}

interface PlannedTopic {
  readonly id: Uuid
  readonly assignments: Assignments
  readonly configs: ReadonlyMap<string, string>
}

function planTopic(image: MetadataImage, topic: NewTopic, defaults: TopicDefaults): PlannedTopic | ApiError {
  const configs = new Map<string, string>()
  for (const [key, value] of topic.configs) {
    if (value === null) return refused('INVALID_CONFIG', `Null value not supported for topic configs: ${key}`)
    configs.set(key, value)
  }
  const problem = topicOverridesProblem(configs)
  if (problem !== undefined) return refused('INVALID_CONFIG', problem)
  const assignments = topic.assignments.size > 0 ? manual(image, topic) : automatic(image, topic, defaults)
  if ('errorCode' in assignments) return assignments
  return { id: newTopicId(image), assignments, configs }
}

function manual(image: MetadataImage, topic: NewTopic): Assignments | ApiError {
  const given = (what: string) =>
    refused('INVALID_REQUEST', `A manual partition assignment was specified, but ${what} was not set to -1.`)
  if (topic.replicationFactor !== -1) return given('replication factor')
  if (topic.partitions !== -1) return given('numPartitions')
  const assignments: (readonly number[])[] = []
  for (let partition = 0; partition < topic.assignments.size; partition++) {
    const replicas = topic.assignments.get(partition)
    if (replicas === undefined)
      return refused('INVALID_REPLICA_ASSIGNMENT', 'partitions should be a consecutive 0-based integer sequence')
    assignments.push(replicas)
  }
  return assignmentProblem(image, assignments, 0) ?? assignments
}

function automatic(image: MetadataImage, topic: NewTopic, defaults: TopicDefaults): Assignments | ApiError {
  if (topic.replicationFactor < -1 || topic.replicationFactor === 0)
    return refused(
      'INVALID_REPLICATION_FACTOR',
      'Replication factor must be larger than 0, or -1 to use the default value.',
    )
  if (topic.partitions < -1 || topic.partitions === 0)
    return refused('INVALID_PARTITIONS', 'Number of partitions was set to an invalid non-positive value.')
  return placePartitions(image, {
    first: 0,
    count: topic.partitions === -1 ? defaults.partitions : topic.partitions,
    replicationFactor: topic.replicationFactor === -1 ? defaults.replicationFactor : topic.replicationFactor,
  })
}

function newTopicId(image: MetadataImage): Uuid {
  for (;;) {
    const id = randomUuid()
    if (!image.topics.has(id)) return id
  }
}

/** Kafka's order: topic, its configs, its partitions. */
const recordsOf = (image: MetadataImage, topic: NewTopic, planned: PlannedTopic): MetadataRecordInput[] => [
  { type: MetadataRecordType.Topic, version: 0, value: { name: topic.name, topicId: planned.id } },
  ...[...planned.configs].map(
    ([name, value]): MetadataRecordInput => ({
      type: MetadataRecordType.Config,
      version: 0,
      value: { resourceType: ConfigResourceType.TOPIC, resourceName: topic.name, name, value },
    }),
  ),
  ...partitionRecords(image, { id: planned.id, first: 0 }, planned.assignments),
]

const createdTopic = (topic: NewTopic, planned: PlannedTopic): CreatedTopic => ({
  ...accepted,
  name: topic.name,
  topicId: planned.id,
  partitions: planned.assignments.length,
  replicationFactor: planned.assignments[0]?.length ?? -1,
  configs: planned.configs,
})

const notCreated = (name: string, error: ApiError): CreatedTopic => ({
  ...error,
  name,
  topicId: ZERO_UUID,
  partitions: -1,
  replicationFactor: -1,
  configs: new Map(),
})
