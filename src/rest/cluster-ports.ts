/** The plain cluster as the REST layer needs it: topics, configs, brokers, consumer groups, ACLs and nodes. Routes call it, adapters in `node/` implement it. */
import type { Uuid } from '../core/uuid.ts'

export interface TopicPartitionView {
  readonly partition: number
  /** -1 = none. */
  readonly leader: number
  readonly replicas: readonly number[]
  readonly isr: readonly number[]
}

export interface TopicView {
  readonly name: string
  readonly topicId: Uuid
  readonly internal: boolean
  readonly replicationFactor: number
  readonly partitions: readonly TopicPartitionView[]
}

/** One of the places that a value could come from, the strongest first. */
export interface ConfigSynonymView {
  readonly name: string
  readonly value: string | null
  readonly source: string
}

export interface ConfigView extends ConfigSynonymView {
  readonly isDefault: boolean
  readonly isReadOnly: boolean
  readonly isSensitive: boolean
  readonly synonyms: readonly ConfigSynonymView[]
}

export interface ConfigChange {
  readonly name: string
  readonly operation: 'SET' | 'DELETE'
  readonly value: string | null
}

export interface NewTopicRequest {
  readonly name: string
  /** undefined = the cluster's default. */
  readonly partitions: number | undefined
  readonly replicationFactor: number | undefined
  /** Partition → brokers; empty = the cluster chooses. */
  readonly assignments: ReadonlyMap<number, readonly number[]>
  readonly configs: ReadonlyMap<string, string | null>
}

/** What a new topic is, or would be. */
export type CreatedTopicView = Pick<TopicView, 'topicId' | 'replicationFactor'> & { readonly partitionsCount: number }

export interface BrokerView {
  readonly id: number
  readonly host: string
  readonly port: number
  readonly rack: string | null
}

/** Topics, configs and brokers. Changes reject with OperationalError. */
export interface ClusterAdmin {
  readonly clusterId: string
  readonly controllerId: number
  brokers(): readonly BrokerView[]
  /** Configs of a broker that is among `brokers()`. */
  brokerConfigs(brokerId: number): readonly ConfigView[]
  /** What is set for all brokers. */
  clusterConfigs(): readonly ConfigView[]
  topics(): readonly TopicView[]
  topic(name: string): TopicView | undefined
  /** Effective configs of a topic; of one that does not exist those that it would have. */
  topicConfigs(name: string): readonly ConfigView[]
  /** Configs as if the topic were created now. */
  defaultTopicConfigs(name: string): readonly ConfigView[]
  createTopic(request: NewTopicRequest, options: { readonly validateOnly: boolean }): Promise<CreatedTopicView>
  alterTopicConfigs(
    topic: string,
    changes: readonly ConfigChange[],
    options: { readonly validateOnly: boolean },
  ): Promise<void>
  /** `count` is the new total. */
  createPartitions(topic: string, count: number): Promise<void>
  deleteTopic(name: string): Promise<void>
}

export interface GroupMemberView {
  readonly memberId: string
  readonly instanceId: string | null
  readonly clientId: string
  /** What its leader gave it; empty where that cannot be read. */
  readonly assignment: readonly { readonly topic: string; readonly partition: number }[]
}

export interface GroupView {
  readonly groupId: string
  /** As Kafka calls it: Empty, PreparingRebalance, CompletingRebalance, Stable, Dead, ... */
  readonly state: string
  /** classic, consumer, share, ... */
  readonly type: string
  /** No members ever: somebody commits offsets by hand. */
  readonly isSimple: boolean
  /** Empty unless Stable. */
  readonly assignor: string
  readonly members: readonly GroupMemberView[]
}

/** What a group has committed in one partition, and how far the partition has come. */
export interface GroupLagView {
  readonly topic: string
  readonly partition: number
  readonly currentOffset: number
  /** What consumers can read up to, exclusive; null = not known now. */
  readonly logEndOffset: number | null
  /** Who has the partition. */
  readonly member: GroupMemberView | undefined
}

/** Groups of which this cluster's coordinator knows. Throws a retriable OperationalError while it is not there. */
export interface GroupAdmin {
  list(): readonly GroupView[]
  /** undefined = no such group. */
  describe(groupId: string): GroupView | undefined
  /** By topic and partition. */
  lags(group: GroupView): Promise<readonly GroupLagView[]>
  coordinatorId(groupId: string): number
}

/** An entry in the words of Kafka: TOPIC, LITERAL, READ, ALLOW, ... */
export interface AclView {
  readonly resourceType: string
  readonly resourceName: string
  readonly patternType: string
  readonly principal: string
  readonly host: string
  readonly operation: string
  readonly permission: string
}

/** undefined = any. */
export type AclViewFilter = { readonly [K in keyof AclView]: string | undefined }

/** Rejects or throws where there is no authorizer, and for words that do not exist. */
export interface AclAdmin {
  list(filter: AclViewFilter): readonly AclView[]
  create(acls: readonly AclView[]): Promise<void>
  /** Those that are gone. */
  delete(filter: AclViewFilter): Promise<readonly AclView[]>
}

/** One Lockstep node of this cluster. */
export interface NodeView {
  readonly nodeId: number
  readonly mode: 'STANDALONE' | 'JOINED'
  /** null = not known here: another node's. */
  readonly version: string | null
  readonly restUrl: string
  readonly partitionsLed: number
  readonly mirrorPartitionsLed: number
  readonly cordoned: boolean
  /** FENCED: the cluster does not let it lead. LEAVING: it has asked the cluster to take its leaderships. */
  readonly health: 'HEALTHY' | 'STARTING' | 'FENCED' | 'LEAVING'
  /** Why it is not HEALTHY. */
  readonly healthMessage: string | null
  readonly linkCoordinator: boolean
}

export interface NodeList {
  nodes(): readonly NodeView[]
  /** Of a node that has joined the cluster. Rejects with an OperationalError where it is alive or still holds partitions. */
  unregister(nodeId: number): Promise<void>
}
