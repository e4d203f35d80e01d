/** Reads one partition for a fetch, with Kafka's checks of epochs and offsets; fetch-from-log.ts calls it. */
import assert from 'node:assert/strict'
import { ErrorCode } from '../protocol/errors.ts'
import {
  boundOf,
  type FetchQuery,
  type FetchTarget,
  followerOf,
  ofFollower,
  type PartitionSource,
  type ReadSnapshot,
} from './fetch-query.ts'
import { answerForFollower } from './leading/follower-answer.ts'
import { errorCodeOf } from './log-failure.ts'
import { PartitionUnavailable } from './partition-unavailable.ts'
import type { Replica } from './replica.ts'

/** The answer for one partition; offsets are -1 where an error leaves them unknown. */
export interface FetchedPartition {
  readonly errorCode: number
  readonly highWatermark: number
  readonly lastStableOffset: number
  readonly logStartOffset: number
  /** Whole batches; the first may begin below the fetch offset. */
  readonly records: Buffer
  /** null unless read_committed. */
  readonly abortedTransactions: readonly { readonly producerId: bigint; readonly firstOffset: number }[] | null
  /** The fetcher's log went another way: the largest epoch not above its own, and where it ends here. */
  readonly divergingEpoch: { readonly epoch: number; readonly endOffset: number } | undefined
}

interface ReadLimits {
  readonly query: FetchQuery
  readonly bytesMax: number
  /** Return one batch even if it is larger than `bytesMax`. */
  readonly atLeastOneBatch: boolean
  /** The first read of the request: a follower's position counts. */
  readonly recordsProgress: boolean
}

const EMPTY = Buffer.alloc(0)

/** Never rejects: what is wrong with one partition is its answer. */
export async function readPartition(
  source: PartitionSource,
  target: FetchTarget,
  limits: ReadLimits,
): Promise<{ result: FetchedPartition; snapshot: ReadSnapshot | undefined }> {
  let partition: Replica | undefined
  try {
    const led = ofFollower(limits.query) ? source.lookup(target.topicId, target.partition) : undefined
    partition = led ?? replicaFor(source, target, limits.query)
    const epochError = partition.leaderEpochError(target.currentLeaderEpoch)
    if (epochError !== ErrorCode.NONE) return refused(epochError)
    const diverging = divergence(partition, target)
    if (!diverging) {
      assertInRange(partition, target.fetchOffset)
      if (limits.recordsProgress) led?.followerFetched({ ...followerOf(limits.query), fetchOffset: target.fetchOffset })
    }
    const snapshot = { ...snapshotOf(partition, target, limits.query), led }
    if (diverging) return { result: { ...answerOf(snapshot, limits.query), divergingEpoch: diverging }, snapshot }
    return { result: await read(snapshot, target, limits), snapshot }
  } catch (error) {
    if (error instanceof PartitionUnavailable) return refused(error.errorCode)
    if (partition?.unavailable) return refused(partition.unavailable.errorCode)
    const errorCode = errorCodeOf(error)
    if (partition && errorCode === ErrorCode.KAFKA_STORAGE_ERROR) source.storageFailed(partition, error)
    return refused(errorCode)
  }
}

async function read(snapshot: ReadSnapshot, target: FetchTarget, limits: ReadLimits): Promise<FetchedPartition> {
  const { partition, bound } = snapshot
  const { fetchOffset } = target
  const answer = answerOf(snapshot, limits.query)
  if (fetchOffset >= bound || (limits.bytesMax <= 0 && !limits.atLeastOneBatch)) return answer
  const withAborted = answer.abortedTransactions !== null
  const found = await readWithin(partition, limits, { offset: fetchOffset, maxOffset: bound, withAborted })
  if (!found) return answer
  // The log start may have moved since.
  if (found.kind === 'offset-out-of-range') throw outOfRange(partition, fetchOffset)
  const { records, aborted = [] } = found
  if (!ofFollower(limits.query)) return { ...answer, records, abortedTransactions: withAborted ? aborted : null }
  return { ...answer, records: answerForFollower(partition, records, { fetchOffset }) }
}

/** undefined if there is no memory for what would be read. */
async function readWithin(
  partition: Replica,
  { query, bytesMax, atLeastOneBatch }: ReadLimits,
  range: { readonly offset: number; readonly maxOffset: number; readonly withAborted: boolean },
) {
  // A follower refuses more than a segment at once, and fails for good.
  const segmentBytes = ofFollower(query) ? partition.settings.segmentBytes : Number.MAX_SAFE_INTEGER
  const maxBytes = Math.max(0, Math.min(bytesMax, segmentBytes))
  const settle = await query.memory?.reserve(Math.min(maxBytes, partition.log.sizeBytes))
  if (query.memory && !settle) return undefined
  let readBytes = 0
  try {
    const memory = query.memory ? { allocate: query.memory.allocate } : {}
    const found = await partition.log.read({ ...range, ...memory, maxBytes, minOneBatch: atLeastOneBatch })
    if (found.kind === 'batches') readBytes = found.records.length
    return found
  } finally {
    settle?.(readBytes)
  }
}

function assertInRange(partition: Replica, fetchOffset: number): void {
  const { logStartOffset, logEndOffset } = partition.log
  if (fetchOffset < logStartOffset || fetchOffset > logEndOffset) throw outOfRange(partition, fetchOffset)
}

const outOfRange = (partition: Replica, offset: number) =>
  new PartitionUnavailable(ErrorCode.OFFSET_OUT_OF_RANGE, `${partition.name} does not have offset ${offset}`)

/** Kafka's check of `LastFetchedEpoch` (KIP-595, join.md B.2-6). Throws PartitionUnavailable with OFFSET_OUT_OF_RANGE. */
function divergence(partition: Replica, target: FetchTarget): FetchedPartition['divergingEpoch'] {
  if (target.lastFetchedEpoch < 0) return undefined
  const { epoch, endOffset } = partition.log.endOffsetForEpoch(target.lastFetchedEpoch)
  if (epoch === -1 || endOffset === -1)
    throw new PartitionUnavailable(
      ErrorCode.OFFSET_OUT_OF_RANGE,
      `${partition.name} does not know epoch ${target.lastFetchedEpoch}`,
    )
  if (target.fetchOffset < partition.log.logStartOffset)
    throw new PartitionUnavailable(ErrorCode.OFFSET_OUT_OF_RANGE, `${partition.name} starts above the fetch offset`)
  return epoch < target.lastFetchedEpoch || endOffset < target.fetchOffset ? { epoch, endOffset } : undefined
}

function replicaFor(source: PartitionSource, { topicId, partition }: FetchTarget, query: FetchQuery): Replica {
  return query.fromAnyReplica ? source.lookupReplica(topicId, partition) : source.lookup(topicId, partition)
}

function snapshotOf(partition: Replica, target: FetchTarget, query: FetchQuery): Omit<ReadSnapshot, 'led'> {
  return {
    partition,
    fetchOffset: target.fetchOffset,
    leaderEpoch: partition.leaderEpoch,
    highWatermark: partition.highWatermark,
    logStartOffset: partition.log.logStartOffset,
    appendedBytes: partition.appendedBytes,
    bound: boundOf(partition, query),
  }
}

function answerOf(snapshot: ReadSnapshot, query: FetchQuery): FetchedPartition {
  assert(snapshot.highWatermark >= snapshot.logStartOffset, 'a log start above the high watermark fails followers')
  return {
    errorCode: ErrorCode.NONE,
    highWatermark: snapshot.highWatermark,
    lastStableOffset: snapshot.partition.lastStableOffset,
    logStartOffset: snapshot.logStartOffset,
    records: EMPTY,
    abortedTransactions: query.replicaId < 0 && query.isolation === 'read_committed' ? [] : null,
    divergingEpoch: undefined,
  }
}

/** The answer for a partition that is not read. */
export const refusedFetch = (errorCode: number): FetchedPartition => ({
  errorCode,
  highWatermark: -1,
  lastStableOffset: -1,
  logStartOffset: -1,
  records: EMPTY,
  abortedTransactions: null,
  divergingEpoch: undefined,
})

const refused = (errorCode: number) => ({ result: refusedFetch(errorCode), snapshot: undefined })
