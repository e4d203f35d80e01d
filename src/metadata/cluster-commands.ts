/** Part of the Controller port: what only administrators ask for, of the quorum, of brokers and of where partitions live. Handlers of the broker call it; `controller/local` implements it. */
import type { Uuid } from '../core/uuid.ts'
import type { ApiError } from './api-error.ts'

export type UpgradeType = 'upgrade' | 'safe-downgrade' | 'unsafe-downgrade' | 'unknown'

/** A feature's finalized level as it shall be; 0 = not finalized (KIP-584). */
export interface FeatureUpdate {
  readonly feature: string
  readonly level: number
  readonly upgradeType: UpgradeType
}

/** `preferred`: the first replica shall lead. `unclean`: any replica, where nobody leads, at the price of records. */
export type ElectionType = 'preferred' | 'unclean'

export interface NamedPartition {
  readonly topic: string
  readonly partition: number
}

/** Where a partition's replicas shall be, the preferred leader first; null = give up a reassignment that is under way. */
export interface Reassignment extends NamedPartition {
  readonly replicas: readonly number[] | null
}

export interface QuorumReplica {
  readonly id: number
  /** The zero id where the quorum's voters are fixed in the configuration. */
  readonly directoryId: Uuid
  readonly logEndOffset: number
}

/** The quorum of the metadata log as its leader knows it. */
export interface QuorumDescription {
  readonly leaderId: number
  readonly leaderEpoch: number
  readonly highWatermark: number
  readonly voters: readonly QuorumReplica[]
  readonly observers: readonly QuorumReplica[]
}

export interface ClusterCommands {
  /** All updates or none: the first that is not possible is the answer, INVALID_UPDATE_VERSION. */
  updateFeatures(updates: readonly FeatureUpdate[], options: { readonly validateOnly: boolean }): Promise<ApiError>
  /** `partitions` null = all; answers about all leave out the partitions that need no election. */
  electLeaders(type: ElectionType, partitions: readonly NamedPartition[] | null): Promise<(ApiError & NamedPartition)[]>
  alterPartitionReassignments(asked: readonly Reassignment[]): Promise<(ApiError & NamedPartition)[]>
  unregisterBroker(brokerId: number): Promise<ApiError>
  describeQuorum(): Promise<QuorumDescription>
}
