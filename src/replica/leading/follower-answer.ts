/**
 * Rules that an answer to a follower must obey, or a Kafka broker gives up the partition until the next leader epoch, or keeps a wrong
 * index of aborted transactions; read-partition.ts holds each answer to them.
 */
import assert from 'node:assert/strict'
import { BatchCursor } from '../../protocol/batches/batch-cursor.ts'
import { readBatchHeader } from '../../protocol/batches/batch-header.ts'
import { decodeControlRecord } from '../../protocol/batches/control-batch.ts'
import { ErrorCode } from '../../protocol/errors.ts'
import { PartitionUnavailable } from '../partition-unavailable.ts'
import type { Replica } from '../replica.ts'

/** What a segment's index can express. */
const OFFSETS_SPAN_MAX = 0x7fff_ffff

/**
 * Whole ascending batches behind the fetch offset, stamped with epochs that have begun, of a span that one segment can hold.
 * Throws PartitionUnavailable with RECORD_LIST_TOO_LARGE for a batch that is larger than a segment may be: the follower says so
 * in its log and tries again, until `segment.bytes` is raised. Answers what may be given of it now.
 */
export function answerForFollower(partition: Replica, records: Buffer, from: { readonly fetchOffset: number }): Buffer {
  const { name, leaderEpoch, settings } = partition
  if (records.length > settings.segmentBytes)
    throw new PartitionUnavailable(
      ErrorCode.RECORD_LIST_TOO_LARGE,
      `${name}: a batch of ${records.length} bytes does not fit into segments of ${settings.segmentBytes}`,
    )
  const cursor = new BatchCursor()
  let next = from.fetchOffset
  let first: number | undefined
  let holdsMarkers = false
  for (let at = 0; at < records.length; at += cursor.sizeBytes) {
    assert(cursor.moveTo(records, at) === 'whole', `${name}: followers get whole batches`)
    assert(cursor.lastOffset >= next && (first === undefined || cursor.baseOffset >= next), `${name}: batches ascend`)
    assert(
      cursor.leaderEpoch >= 0 && cursor.leaderEpoch <= leaderEpoch,
      `${name}: epoch ${cursor.leaderEpoch} has not begun`,
    )
    first ??= cursor.baseOffset
    holdsMarkers ||= cursor.isControl
    next = cursor.lastOffset + 1
  }
  assert(next - (first ?? next) <= OFFSETS_SPAN_MAX, `${name}: an answer spans more than a segment can`)
  return holdsMarkers ? untilProducerReturns(records) : records
}

/**
 * As much of an answer as a Kafka broker indexes rightly. It enters all transactions of an answer before it indexes the aborted ones,
 * and notes for each that everything is decided below the first transaction of another producer. Where the same producer has
 * begun again in the same answer, that is not so, and readers at that broker would be shown the second transaction though it
 * was aborted. So an answer ends where a producer begins again behind its ABORT marker.
 */
export function untilProducerReturns(records: Buffer): Buffer {
  const cursor = new BatchCursor()
  let aborted: Set<bigint> | undefined
  for (let at = 0; cursor.moveTo(records, at) === 'whole'; at += cursor.sizeBytes) {
    if (!cursor.isTransactional || (!cursor.isControl && !aborted)) continue
    const header = readBatchHeader(records, at)
    if (!cursor.isControl && aborted?.has(header.producerId)) return records.subarray(0, at)
    if (cursor.isControl && decodeControlRecord(records, header)?.type === 'abort')
      aborted = (aborted ?? new Set()).add(header.producerId)
  }
  return records
}
