/** What a fetch asks and what it is compared with while it waits; shared by the parts of the fetch path. */
import type { Uuid } from '../core/uuid.ts'
import type { AnswerMemory } from './answer-memory.ts'
import type { Partition } from './partition.ts'
import type { Replica } from './replica.ts'

/** What a fetch wants of one partition. */
export interface FetchTarget {
  readonly topicId: Uuid
  readonly topic: string
  readonly partition: number
  readonly fetchOffset: number
  /** -1 = not said. */
  readonly currentLeaderEpoch: number
  /** Epoch of the last record that the fetcher has, for the divergence check of KIP-595; -1 = not said. */
  readonly lastFetchedEpoch: number
  readonly partitionBytesMax: number
}

export interface FetchQuery {
  /** -1 = a consumer, -2 = a debugging tool, otherwise the id of a follower. */
  readonly replicaId: number
  /** Of the follower's registration (KIP-903); absent or -1 = not said. */
  readonly brokerEpoch?: number
  /** May be answered by a follower, up to the high watermark that it knows (KIP-392). Not for followers. Default: no. */
  readonly fromAnyReplica?: boolean
  readonly isolation: 'read_uncommitted' | 'read_committed'
  readonly maxWaitMs: number
  readonly minBytes: number
  /** Bound of the whole answer; the first non-empty partition may pass it with one batch. */
  readonly bytesMax: number
  readonly targets: readonly FetchTarget[]
  /** Where the memory for records comes from; absent = unlimited. */
  readonly memory?: AnswerMemory
  /** Ends the wait: the client is gone. */
  readonly signal: AbortSignal
}

/** Where partitions are looked up: ReplicaSet. */
export interface PartitionSource {
  /** One that is led here. Throws PartitionUnavailable. */
  lookup(topicId: Uuid, index: number): Partition
  /** Also one that is followed here. Throws PartitionUnavailable. */
  lookupReplica(topicId: Uuid, index: number): Replica
  /** A log that cannot be read or written: told to the operator. */
  storageFailed(replica: Replica, error: unknown): void
}

/** The state of the partition when it was read, so that a waiting fetch sees what has changed. */
export interface ReadSnapshot {
  readonly partition: Replica
  /** The same, for a follower's fetch. */
  readonly led: Partition | undefined
  readonly fetchOffset: number
  readonly leaderEpoch: number
  readonly highWatermark: number
  readonly logStartOffset: number
  readonly appendedBytes: number
  /** End of what the fetch may see. */
  readonly bound: number
}

/** End of what this fetch may see: followers everything, consumers up to the high watermark or the last stable offset. */
export function boundOf(partition: Replica, query: Pick<FetchQuery, 'replicaId' | 'isolation'>): number {
  if (ofFollower(query)) return partition.log.logEndOffset
  return query.isolation === 'read_committed' ? partition.lastStableOffset : partition.highWatermark
}

/** Who a follower's fetch is from. */
export const followerOf = ({ replicaId, brokerEpoch = -1 }: FetchQuery) => ({ replicaId, brokerEpoch })

export const ofFollower = ({ replicaId }: Pick<FetchQuery, 'replicaId'>): boolean => replicaId >= 0
