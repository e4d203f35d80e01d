/** The immutable picture of the cluster that every part of the node reads; built by `metadata-editor.ts` from KRaft metadata records. */
import { type Uuid, ZERO_UUID } from '../core/uuid.ts'
import type { AclImage } from './acl.ts'
import { AclIndex } from './acl-index.ts'
import { PersistentMap } from './persistent-map.ts'

/** A listener of a broker or controller; `securityProtocol` as on the wire (0 PLAINTEXT, 1 SSL, 2 SASL_PLAINTEXT, 3 SASL_SSL). */
export interface EndpointImage {
  readonly name: string
  readonly host: string
  readonly port: number
  readonly securityProtocol: number
}

export interface FeatureRange {
  readonly min: number
  readonly max: number
}

export interface BrokerImage {
  readonly id: number
  /** Offset of the record that registered it. */
  readonly epoch: number
  readonly incarnationId: Uuid
  /** By listener name. */
  readonly listeners: ReadonlyMap<string, EndpointImage>
  readonly features: ReadonlyMap<string, FeatureRange>
  readonly rack: string | null
  readonly fenced: boolean
  readonly inControlledShutdown: boolean
  readonly logDirs: readonly Uuid[]
  /** Null: the record version did not say. */
  readonly cordonedLogDirs: readonly Uuid[] | null
}

/** A registered KRaft controller (record 27). */
export interface ControllerImage {
  readonly id: number
  readonly incarnationId: Uuid
  readonly listeners: ReadonlyMap<string, EndpointImage>
  readonly features: ReadonlyMap<string, FeatureRange>
}

export interface PartitionImage {
  readonly replicas: readonly number[]
  readonly isr: readonly number[]
  readonly removingReplicas: readonly number[]
  readonly addingReplicas: readonly number[]
  /** KIP-966. */
  readonly eligibleLeaderReplicas: readonly number[]
  readonly lastKnownElr: readonly number[]
  /** -1 = no leader. */
  readonly leader: number
  /** Raised by every record that names a leader, even the same one. */
  readonly leaderEpoch: number
  /** 1 = the leader recovers from an unclean election. */
  readonly leaderRecoveryState: number
  /** Raised by every record about the partition; the compare-and-set value of AlterPartition. */
  readonly partitionEpoch: number
  /** One per replica, in the order of `replicas`. */
  readonly directories: readonly Uuid[]
}

export interface TopicImage {
  readonly name: string
  readonly id: Uuid
  /** Indexed by partition id, without holes. */
  readonly partitions: readonly PartitionImage[]
}

export interface ScramCredentialImage {
  readonly user: string
  /** 1 = SCRAM-SHA-256, 2 = SCRAM-SHA-512. */
  readonly mechanism: number
  readonly salt: Buffer
  readonly storedKey: Buffer
  readonly serverKey: Buffer
  readonly iterations: number
}

export interface ClientQuotaImage {
  readonly entity: readonly { readonly type: string; readonly name: string | null }[]
  readonly values: ReadonlyMap<string, number>
}

export interface DelegationTokenImage {
  readonly tokenId: string
  readonly owner: string
  readonly requester: string
  readonly renewers: readonly string[]
  readonly issueTimestamp: bigint
  readonly maxTimestamp: bigint
  readonly expirationTimestamp: bigint
}

export interface MetadataImage {
  readonly clusterId: string
  /** Offset of the last applied record; -1 = none. */
  readonly offset: number
  /** Epoch of the metadata log's leader that wrote it; 0 = none. */
  readonly epoch: number
  /** Leader of the metadata log; -1 = unknown. */
  readonly controllerId: number
  readonly brokers: ReadonlyMap<number, BrokerImage>
  readonly controllers: ReadonlyMap<number, ControllerImage>
  readonly topics: PersistentMap<Uuid, TopicImage>
  readonly topicIds: PersistentMap<string, Uuid>
  /** Overrides per resource; the key is `configResourceKey`. Resources without overrides are absent. */
  readonly configs: PersistentMap<string, ReadonlyMap<string, string>>
  /** Finalized feature levels; level 0 = absent. */
  readonly features: ReadonlyMap<string, number>
  /** First producer id that no block has handed out. */
  readonly nextProducerId: bigint
  readonly acls: PersistentMap<Uuid, AclImage>
  /** The same ACLs by resource. */
  readonly aclIndex: AclIndex
  /** Key: `scramCredentialKey`. */
  readonly scramCredentials: ReadonlyMap<string, ScramCredentialImage>
  /** Key: JSON of the sorted entity. */
  readonly clientQuotas: ReadonlyMap<string, ClientQuotaImage>
  readonly delegationTokens: ReadonlyMap<string, DelegationTokenImage>
}

export const emptyImage = (clusterId: string): MetadataImage => ({
  clusterId,
  offset: -1,
  epoch: 0,
  controllerId: -1,
  brokers: new Map(),
  controllers: new Map(),
  topics: PersistentMap.empty(),
  topicIds: PersistentMap.empty(),
  configs: PersistentMap.empty(),
  features: new Map(),
  nextProducerId: 0n,
  acls: PersistentMap.empty(),
  aclIndex: AclIndex.empty,
  scramCredentials: new Map(),
  clientQuotas: new Map(),
  delegationTokens: new Map(),
})

/** Reserved values among `PartitionImage.directories` (KIP-858). */
export const DirectoryId = {
  UNASSIGNED: ZERO_UUID,
  LOST: 'AAAAAAAAAAAAAAAAAAAAAQ' as Uuid,
  MIGRATING: 'AAAAAAAAAAAAAAAAAAAAAg' as Uuid,
} as const

/** A config resource: type as on the wire (2 = topic, 4 = broker) and its name ("" = all brokers). */
export interface ConfigResource {
  readonly type: number
  readonly name: string
}

/** Config resource types of the wire. */
export const ConfigResourceType = { TOPIC: 2, BROKER: 4, BROKER_LOGGER: 8, CLIENT_METRICS: 16, GROUP: 32 } as const

export const configResourceKey = (resource: ConfigResource): string => `${resource.type}:${resource.name}`

export const scramCredentialKey = (user: string, mechanism: number): string => `${mechanism}:${user}`

export function topicByName(image: MetadataImage, name: string): TopicImage | undefined {
  const id = image.topicIds.get(name)
  return id === undefined ? undefined : image.topics.get(id)
}

export const partitionOf = (image: MetadataImage, topicId: Uuid, partition: number): PartitionImage | undefined =>
  image.topics.get(topicId)?.partitions[partition]

const noOverrides: ReadonlyMap<string, string> = new Map()

/** Overrides set on one resource; empty if there are none. Broker "" holds the dynamic defaults of all brokers. */
export const configOverrides = (image: MetadataImage, resource: ConfigResource): ReadonlyMap<string, string> =>
  image.configs.get(configResourceKey(resource)) ?? noOverrides
