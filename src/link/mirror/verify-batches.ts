/** Second stage of the pipeline: may these bytes from the source be appended as they are? Pure; called by the mirror partition. */
import { BatchCursor } from '../../protocol/batches/batch-cursor.ts'
import { BatchError } from '../../protocol/batches/batch-error.ts'
import { NO_LEADER_EPOCH, readBatchHeader } from '../../protocol/batches/batch-header.ts'
import { nextBatchPosition } from '../../protocol/batches/batch-iteration.ts'
import { verifyBatch, verifyBatchAt } from '../../protocol/batches/verify-batch.ts'
import type { EpochRange } from '../state-records/source-epochs-record.ts'
import type { MirrorTopicError } from '../states/mirror-topic-error.ts'

export interface VerifyContext {
  /** The mirror's log end: every batch starts here or later. */
  readonly wantedOffset: number
  /** The first batch of a log without any may start below it: the source's log starts inside that batch. */
  readonly logIsEmpty: boolean
  /** Source epoch of the last mirrored batch; undefined = none. */
  readonly lastSourceEpoch: number | undefined
}

export interface BatchRefusal {
  readonly error: MirrorTopicError
  /** Names offset and epoch. */
  readonly reason: string
}

/** What may be appended, and what stopped the walk if something did. */
export interface VerifiedBatches {
  /** Length of the prefix that passed; whole batches. */
  readonly bytes: number
  readonly batches: number
  /** Log end after appending the prefix. */
  readonly nextOffset: number
  /** Source epochs that begin in the prefix. */
  readonly newEpochs: readonly EpochRange[]
  /** The first batch after the prefix and why it is refused. */
  readonly refusal: BatchRefusal | undefined
}

/**
 * Checks length, magic 2, CRC, base offset at or above the wanted one, ascending offsets, source epochs that do not
 * decrease. Holes pass. An incomplete batch at the end is left for the next fetch.
 */
export function verifyBatches(records: Buffer, context: VerifyContext): VerifiedBatches {
  const newEpochs: EpochRange[] = []
  let { wantedOffset: nextOffset, lastSourceEpoch: epoch } = context
  let bytes = 0
  let batches = 0
  const result = (refusal?: BatchRefusal): VerifiedBatches => ({ bytes, batches, nextOffset, newEpochs, refusal })
  try {
    const cursor = new BatchCursor()
    while (moveTo(cursor, records, bytes)) {
      verifyBatchAt(cursor)
      const mayStartBelow = batches === 0 && context.logIsEmpty
      const refusal = orderRefusal(cursor, { nextOffset, mayStartBelow, epoch })
      if (refusal) return result(refusal)
      const { leaderEpoch } = cursor
      if (leaderEpoch !== NO_LEADER_EPOCH && leaderEpoch !== epoch) {
        newEpochs.push({ epoch: leaderEpoch, firstOffset: Math.max(cursor.baseOffset, nextOffset) })
        epoch = leaderEpoch
      }
      nextOffset = cursor.lastOffset + 1
      bytes += cursor.sizeBytes
      batches++
    }
  } catch (error) {
    if (error instanceof BatchError) return result(damage(error, nextOffset))
    throw error
  }
  return result()
}

/** False at the end, also before a batch that is not complete. Throws BatchError with what is wrong with a batch. */
function moveTo(cursor: BatchCursor, records: Buffer, position: number): boolean {
  const state = cursor.moveTo(records, position)
  if (state === 'whole') return true
  // Old formats show before the batch is complete.
  if (nextBatchPosition(records, position) === -1) return false
  verifyBatch(records, readBatchHeader(records, position))
  throw new BatchError('invalid-header', `the batch at byte ${position} is ${state}`)
}

function orderRefusal(
  header: { readonly baseOffset: number; readonly lastOffset: number; readonly leaderEpoch: number },
  expected: { nextOffset: number; mayStartBelow: boolean; epoch: number | undefined },
): BatchRefusal | undefined {
  const { baseOffset, lastOffset, leaderEpoch } = header
  const { nextOffset, epoch } = expected
  const startsBelow = baseOffset < nextOffset
  if (startsBelow && !(expected.mayStartBelow && lastOffset >= nextOffset)) {
    const reason =
      `the source sent a batch of offsets ${baseOffset} to ${lastOffset} where ${nextOffset} was wanted: ` +
      'its batches are cut differently from those that were mirrored before'
    return { error: 'UNALIGNED_BATCH', reason }
  }
  if (epoch !== undefined && leaderEpoch < epoch) {
    const reason = `the batch at offset ${baseOffset} has source epoch ${leaderEpoch} after epoch ${epoch}`
    return { error: 'NON_MONOTONIC_SOURCE_EPOCH', reason }
  }
  return undefined
}

function damage(error: BatchError, nextOffset: number): BatchRefusal {
  if (error.kind === 'unsupported-magic')
    return { error: 'UNSUPPORTED_MESSAGE_FORMAT', reason: `after offset ${nextOffset - 1}: ${error.message}` }
  return { error: 'CORRUPT_BATCH', reason: `after offset ${nextOffset - 1} (${error.kind}): ${error.message}` }
}
