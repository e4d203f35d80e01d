/** Carries out what a leader's answer means for one followed partition, by the rules of Kafka's replica fetcher; the fetcher of a leader calls it. */
import { offsetFromWire } from '../../core/offset.ts'
import type { PartitionLog } from '../../log/partition-log.ts'
import { BatchCursor } from '../../protocol/batches/batch-cursor.ts'
import { readBatchHeader } from '../../protocol/batches/batch-header.ts'
import { verifyBatch, verifyBatchAt } from '../../protocol/batches/verify-batch.ts'
import { ErrorCode, errorName } from '../../protocol/errors.ts'
import { PartitionUnavailable } from '../partition-unavailable.ts'
import type { AskedPartition, PartitionAnswer } from './follow-request.ts'

export interface LeaderQuestions {
  /** Of the leader's log; `latest` is its end, not its high watermark. */
  offset(asked: AskedPartition, which: 'earliest' | 'latest'): Promise<number>
}

/** Kafka's undefined epoch and offset. */
const UNKNOWN = -1

/**
 * Appends, cuts or restarts the log. Resolves to the number of bytes appended. Rejects with PartitionUnavailable where the leader
 * refuses or the epoch has changed meanwhile, with BatchError for damaged records, LogError, or what a question rejects with.
 */
export async function takeAnswer(
  asked: AskedPartition,
  answer: PartitionAnswer,
  questions: LeaderQuestions,
): Promise<number> {
  const { partition, from } = asked
  if (answer.errorCode === ErrorCode.OFFSET_OUT_OF_RANGE) {
    await moveIntoRange(asked, questions)
    return 0
  }
  if (answer.errorCode !== ErrorCode.NONE)
    throw new PartitionUnavailable(answer.errorCode, `the leader answers ${errorName(answer.errorCode)}`)
  const { epoch, endOffset } = answer.divergingEpoch
  if (epoch !== UNKNOWN || endOffset !== -1n) {
    await partition.truncateTo(divergence(partition.log, { epoch, endOffset: offsetFromWire(endOffset) }), from)
    return 0
  }
  const records = answer.records ?? EMPTY
  const bytes = verifiedBytes(records)
  if (bytes > 0) await partition.append(records.subarray(0, bytes), from)
  const highWatermark = offsetFromWire(answer.highWatermark)
  await partition.heard({ highWatermark, logStartOffset: offsetFromWire(answer.logStartOffset) }, from)
  return bytes
}

const EMPTY = Buffer.alloc(0)

/** Length of the whole batches; one that is cut off at the end is left for the next fetch. Throws BatchError. */
function verifiedBytes(records: Buffer): number {
  const cursor = new BatchCursor()
  let at = 0
  for (;;) {
    const state = cursor.moveTo(records, at)
    if (state === 'short' || state === 'partial') return at
    if (state === 'invalid') verifyBatch(records, readBatchHeader(records, at))
    verifyBatchAt(cursor)
    at += cursor.sizeBytes
  }
}

/**
 * Where to cut: the end of the largest epoch that both logs have, by what the leader said of its log. If only ours has a smaller one
 * instead, its end is a first step, and the next answer tells more.
 */
function divergence(log: PartitionLog, leader: { readonly epoch: number; readonly endOffset: number }): number {
  const { logEndOffset } = log
  if (leader.epoch === UNKNOWN) return Math.min(leader.endOffset, logEndOffset)
  const ours = log.endOffsetForEpoch(leader.epoch)
  if (ours.epoch === UNKNOWN || ours.endOffset === UNKNOWN) return Math.min(leader.endOffset, logEndOffset)
  if (ours.epoch !== leader.epoch) return Math.min(ours.endOffset, logEndOffset)
  return Math.min(ours.endOffset, leader.endOffset, logEndOffset)
}

/** Our log ends above the leader's: it is cut there. Or it ends below the leader's start: it begins anew there. */
async function moveIntoRange(asked: AskedPartition, questions: LeaderQuestions): Promise<void> {
  const { partition, from } = asked
  const end = await questions.offset(asked, 'latest')
  if (end < partition.log.logEndOffset) return await partition.truncateTo(end, from)
  const start = await questions.offset(asked, 'earliest')
  if (start > partition.log.logEndOffset) await partition.startAt(start, from)
}
