/**
 * Where share groups keep how far they are in a partition, as Kafka's persister of KIP-932: share groups create and delete the
 * state, share partitions read and write it. ShareCoordinator implements it; LocalSharePersister asks it again while it loads.
 */
import type { Uuid } from '../../core/uuid.ts'

/** A partition of a topic as one share group sees it. */
export interface ShareKey {
  readonly groupId: string
  readonly topicId: Uuid
  readonly partition: number
}

/** Records that are in the same state; the offsets are both inclusive. */
export interface StateBatch {
  readonly firstOffset: number
  readonly lastOffset: number
  /** Kafka's number of the state: 0 available, 2 acknowledged, 3 archiving, 4 archived. */
  readonly deliveryState: number
  readonly deliveryCount: number
}

/** "Nothing was read yet": the start is decided by the group's `share.auto.offset.reset`. */
export const UNKNOWN_START_OFFSET = -1
/** "Not known" in epochs and counts; a write with it changes nothing about them. */
export const UNKNOWN = -1

/** What is kept of a share partition. */
export interface SharePartitionState {
  /** Raised by each initialisation; whoever comes with an older one is fenced. */
  readonly stateEpoch: number
  /** First offset that is not done for the group; UNKNOWN_START_OFFSET at first. */
  readonly startOffset: number
  /** Records from `startOffset` on that are not available for the first time; in order, without overlap. */
  readonly batches: readonly StateBatch[]
}

export interface SharePartitionSummary {
  readonly stateEpoch: number
  readonly leaderEpoch: number
  readonly startOffset: number
  /** Records at or above the start that are done for the group (KIP-1226); UNKNOWN if nobody has counted yet. */
  readonly deliveryCompleteCount: number
}

/** A change of a share partition. */
export interface ShareWrite {
  readonly stateEpoch: number
  readonly leaderEpoch: number
  /** UNKNOWN_START_OFFSET: as it was. */
  readonly startOffset: number
  readonly deliveryCompleteCount: number
  readonly batches: readonly StateBatch[]
}

/** All reject with CoordinatorError. What has resolved is durable. */
export interface SharePersister {
  /** Begins a new state, also where there is one. FENCED_STATE_EPOCH if that is newer. */
  initialize(key: ShareKey, state: { readonly stateEpoch: number; readonly startOffset: number }): Promise<void>
  /** Also remembers the leader epoch: writers of older ones are fenced. INVALID_REQUEST for what was not initialised. */
  read(key: ShareKey, leaderEpoch: number): Promise<SharePartitionState>
  /** FENCED_STATE_EPOCH, FENCED_LEADER_EPOCH; INVALID_REQUEST for what was not initialised. */
  write(key: ShareKey, change: ShareWrite): Promise<void>
  /** Nothing happens where there is no state. */
  delete(key: ShareKey): Promise<void>
  /** UNKNOWN_START_OFFSET for what was not initialised. */
  readSummary(key: ShareKey): Promise<SharePartitionSummary>
}

/** The name of a state, from which its coordinator follows. */
export const shareKeyName = ({ groupId, topicId, partition }: ShareKey): string => `${groupId}:${topicId}:${partition}`
