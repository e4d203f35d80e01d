/**
 * The Controller port: everything that changes cluster metadata. Standalone: `controller/local` appends to the node's own
 * `__cluster_metadata`; joined (later): requests to the active controller. Callers never know the mode.
 * Every method resolves after the change is durable and has been published to the subscribers of this node.
 */
import type { Uuid } from '../core/uuid.ts'
import type { AclCommands } from './acl-commands.ts'
import type { ApiError } from './api-error.ts'
import type { ClusterCommands } from './cluster-commands.ts'
import type { MetadataDelta } from './metadata-delta.ts'
import type { ConfigResource, MetadataImage } from './metadata-image.ts'
import type { QuotaCommands } from './quota-commands.ts'
import type { ScramCommands } from './scram-commands.ts'

export type { ApiError } from './api-error.ts'
export type { ConfigResource } from './metadata-image.ts'

export interface NewTopic {
  readonly name: string
  /** -1 = the cluster's default (`num.partitions`). Must be -1 when `assignments` is given. */
  readonly partitions: number
  /** -1 = the cluster's default. Must be -1 when `assignments` is given. */
  readonly replicationFactor: number
  /** Partition index → broker ids; empty = the controller chooses. */
  readonly assignments: ReadonlyMap<number, readonly number[]>
  readonly configs: ReadonlyMap<string, string | null>
}

export interface CreatedTopic extends ApiError {
  readonly name: string
  readonly topicId: Uuid
  readonly partitions: number
  readonly replicationFactor: number
  /** Effective overrides of the new topic. */
  readonly configs: ReadonlyMap<string, string>
}

export interface DeletedTopic extends ApiError {
  readonly name: string | null
  readonly topicId: Uuid
}

export type ConfigOperation = 'set' | 'delete' | 'append' | 'subtract'

export interface ConfigAlteration {
  readonly resource: ConfigResource
  readonly changes: readonly {
    readonly key: string
    readonly operation: ConfigOperation
    readonly value: string | null
  }[]
}

/** ISR change asked for by a partition's leader (AlterPartition, KIP-497). */
export interface IsrChange {
  readonly topicId: Uuid
  readonly partition: number
  readonly leaderEpoch: number
  /** The partition epoch that the leader knows; compare-and-set. */
  readonly partitionEpoch: number
  readonly isr: readonly number[]
  /** Broker epochs of members as their fetches said (KIP-903); one that is missing or -1 is not checked. */
  readonly memberEpochs?: ReadonlyMap<number, number>
}

/** More partitions for a topic. */
export interface PartitionGrowth {
  readonly name: string
  /** Total count after the call. */
  readonly newCount: number
  /** Broker ids of each added partition; null or absent = the controller chooses. */
  readonly assignments?: readonly (readonly number[])[] | null
}

/** Asked once per topic whose partitions are to be created or deleted; false = refused, THROTTLING_QUOTA_EXCEEDED (KIP-599). */
export type MutationGate = (partitions: number) => boolean

/** How topics and partitions are created. */
export interface CreationOptions {
  readonly validateOnly: boolean
  /** Default: nobody minds. An active controller elsewhere keeps the quotas itself. */
  readonly mayMutate?: MutationGate | undefined
}

export interface ProducerIdBlock {
  readonly firstId: bigint
  readonly length: number
}

/** Called after each published change, in the fixed order replica → coordinator → broker → destination. */
export interface ImageSubscriber {
  readonly name: string
  /** Must not wait for a command of the controller: commands wait for this. Awaited before the next subscriber runs and before the command that caused the change resolves. */
  onImage(image: MetadataImage, delta: MetadataDelta): Promise<void> | void
}

export interface Controller {
  /** The last published image. */
  readonly image: MetadataImage
  readonly acls: AclCommands
  readonly cluster: ClusterCommands
  readonly quotas: QuotaCommands
  readonly scram: ScramCommands
  /** Subscribers run in the order of registration; a new one is called at once with the whole image as delta. */
  subscribe(subscriber: ImageSubscriber): Promise<void>
  createTopics(topics: readonly NewTopic[], options: CreationOptions): Promise<CreatedTopic[]>
  /** By id, or by name with the zero id. */
  deleteTopics(
    topics: readonly { readonly name: string | null; readonly topicId: Uuid }[],
    options?: Pick<CreationOptions, 'mayMutate'>,
  ): Promise<DeletedTopic[]>
  incrementalAlterConfigs(
    alterations: readonly ConfigAlteration[],
    options: { validateOnly: boolean },
  ): Promise<(ApiError & { readonly resource: ConfigResource })[]>
  createPartitions(
    topics: readonly PartitionGrowth[],
    options: CreationOptions,
  ): Promise<(ApiError & { readonly name: string })[]>
  alterPartition(changes: readonly IsrChange[]): Promise<(ApiError & IsrChange)[]>
  /** Starts a new leader epoch of the partition, with the same leader (used when a mirror becomes writable). Resolves to the new epoch. */
  bumpLeaderEpoch(topicId: Uuid, partition: number): Promise<number>
  allocateProducerIds(): Promise<ProducerIdBlock>
  /** Makes every later block start above `producerId` (the producer-id barrier of promote and failover). */
  skipProducerIdsBelow(producerId: bigint): Promise<void>
  /** Stops accepting commands, waits for those accepted, flushes and closes. */
  close(): Promise<void>
}
