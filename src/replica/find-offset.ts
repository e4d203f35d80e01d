/** Answers "which offset?" for one partition: ends, timestamps and Kafka's special timestamps; the ListOffsets handler calls it. */
import { ErrorCode } from '../protocol/errors.ts'
import { Partition } from './partition.ts'
import { PartitionUnavailable } from './partition-unavailable.ts'
import type { Replica } from './replica.ts'

/** The special timestamps of ListOffsets and the first version that knows each. */
export const offsetSpec = {
  latest: -1n,
  earliest: -2n,
  /** KIP-734: the record with the largest timestamp. */
  maxTimestamp: -3n,
  /** KIP-405: the same as earliest without tiered storage. */
  earliestLocal: -4n,
  /** KIP-1005: none without tiered storage. */
  latestTiered: -5n,
  /** KIP-1023: none without tiered storage. */
  earliestPendingUpload: -6n,
} as const

export interface OffsetQuestion {
  /** A special timestamp, or milliseconds since 1970. */
  readonly timestamp: bigint
  /** 'log_end' for followers and debugging tools, which may see everything. */
  readonly visibility: 'read_uncommitted' | 'read_committed' | 'log_end'
  /** -1 = not said. */
  readonly currentLeaderEpoch: number
}

export interface FoundOffset {
  /** -1 = nothing matches. */
  readonly offset: number
  /** -1 = not a question about timestamps, or nothing matches. */
  readonly timestamp: bigint
  /** -1 = unknown. */
  readonly leaderEpoch: number
}

const NOTHING: FoundOffset = { offset: -1, timestamp: -1n, leaderEpoch: -1 }

/** Throws PartitionUnavailable for epochs that do not match, and OFFSET_NOT_AVAILABLE while a new leader does not know the end (KIP-207). */
export async function findOffset(partition: Replica, question: OffsetQuestion): Promise<FoundOffset> {
  const epochError = partition.leaderEpochError(question.currentLeaderEpoch)
  if (epochError !== ErrorCode.NONE)
    throw new PartitionUnavailable(epochError, `${partition.name} is at leader epoch ${partition.leaderEpoch}`)
  const { log } = partition
  const end = visibleEnd(partition, question)
  const isEndKnown = question.visibility === 'log_end' || !(partition instanceof Partition) || partition.knowsEnd
  const visible = (found: FoundOffset | undefined): FoundOffset => {
    if (found !== undefined && found.offset < end) return found
    if (!isEndKnown) throw endUnknown(partition)
    // What lies beyond the end that the asker may see does not exist for it.
    return NOTHING
  }
  switch (question.timestamp) {
    case offsetSpec.latest:
      if (!isEndKnown) throw endUnknown(partition)
      return { offset: end, timestamp: -1n, leaderEpoch: partition.leaderEpoch }
    case offsetSpec.earliest:
    case offsetSpec.earliestLocal:
      return { offset: log.logStartOffset, timestamp: -1n, leaderEpoch: log.epochAt(log.logStartOffset) ?? -1 }
    case offsetSpec.latestTiered:
    case offsetSpec.earliestPendingUpload:
      return NOTHING
    case offsetSpec.maxTimestamp:
      return visible(await log.maxTimestamp())
    default:
      return visible(await log.offsetForTimestamp(question.timestamp))
  }
}

function visibleEnd(partition: Replica, { visibility }: OffsetQuestion): number {
  if (visibility === 'log_end') return partition.log.logEndOffset
  return visibility === 'read_committed' ? partition.lastStableOffset : partition.highWatermark
}

const endUnknown = ({ name }: Replica) =>
  new PartitionUnavailable(ErrorCode.OFFSET_NOT_AVAILABLE, `${name} has a new leader that does not know its end yet`)
