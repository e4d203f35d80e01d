/** Images of a Kafka cluster with Lockstep nodes in it, for tests of where partitions live. */
import { type Uuid, ZERO_UUID } from '../../core/uuid.ts'
import { LOCKSTEP_LISTENER } from '../lockstep-nodes.ts'
import {
  type BrokerImage,
  ConfigResourceType,
  configResourceKey,
  emptyImage,
  type MetadataImage,
  type PartitionImage,
} from '../metadata-image.ts'

export const javaBroker = (id: number, more: Partial<BrokerImage> = {}): BrokerImage => ({
  id,
  epoch: id * 10,
  incarnationId: ZERO_UUID,
  listeners: new Map([['PLAINTEXT', { name: 'PLAINTEXT', host: 'h', port: 9092, securityProtocol: 0 }]]),
  features: new Map(),
  rack: null,
  fenced: false,
  inControlledShutdown: false,
  logDirs: [fakeId(`directory ${id}`)],
  cordonedLogDirs: [],
  ...more,
})

/** A Lockstep node, cordoned as it always is. */
export function lockstepBroker(id: number, more: Partial<BrokerImage> = {}): BrokerImage {
  const broker = javaBroker(id, more)
  const endpoint = { name: LOCKSTEP_LISTENER, host: 'h', port: 8090, securityProtocol: 0 }
  return {
    ...broker,
    listeners: new Map([...broker.listeners, [LOCKSTEP_LISTENER, endpoint]]),
    cordonedLogDirs: broker.logDirs,
  }
}

/** Everything in sync, led by the first replica, unless told otherwise. */
export const partitionOn = (replicas: readonly number[], more: Partial<PartitionImage> = {}): PartitionImage => ({
  replicas,
  isr: replicas,
  removingReplicas: [],
  addingReplicas: [],
  eligibleLeaderReplicas: [],
  lastKnownElr: [],
  leader: replicas[0] ?? -1,
  leaderEpoch: 0,
  leaderRecoveryState: 0,
  partitionEpoch: 0,
  directories: replicas.map(id => fakeId(`directory ${id}`)),
  ...more,
})

export interface JoinedImageParts {
  readonly brokers: readonly BrokerImage[]
  /** Partitions by topic name; replicas alone are enough. */
  readonly topics?: Readonly<Record<string, readonly (readonly number[] | PartitionImage)[]>>
  readonly topicConfigs?: Readonly<Record<string, Readonly<Record<string, string>>>>
  readonly brokerConfigs?: Readonly<Record<number, Readonly<Record<string, string>>>>
}

export function joinedImage({ brokers, topics = {}, topicConfigs = {}, brokerConfigs = {} }: JoinedImageParts) {
  const empty = emptyImage('cluster')
  const byId = empty.topics.edit()
  const idByName = empty.topicIds.edit()
  for (const [name, partitions] of Object.entries(topics)) {
    const id = fakeId(name)
    idByName.set(name, id)
    byId.set(id, {
      name,
      id,
      partitions: partitions.map(partition => ('isr' in partition ? partition : partitionOn(partition))),
    })
  }
  const configs = empty.configs.edit()
  for (const [name, values] of Object.entries(topicConfigs))
    configs.set(configResourceKey({ type: ConfigResourceType.TOPIC, name }), new Map(Object.entries(values)))
  for (const [name, values] of Object.entries(brokerConfigs))
    configs.set(configResourceKey({ type: ConfigResourceType.BROKER, name }), new Map(Object.entries(values)))
  const image: MetadataImage = {
    ...empty,
    offset: 1,
    brokers: new Map(brokers.map(broker => [broker.id, broker])),
    topics: byId.finish(),
    topicIds: idByName.finish(),
    configs: configs.finish(),
  }
  return image
}

/** An id that is a function of the text. */
export const fakeId = (text: string): Uuid =>
  Buffer.from(text.padEnd(16, '_').slice(0, 16)).toString('base64url') as Uuid
