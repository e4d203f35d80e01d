/** Second stage of the pipeline: may these bytes from the source be appended as they are? Pure; called by the mirror partition. */
import { BatchError } from '../../protocol/batches/batch-error.ts'
import { type BatchHeader, NO_LEADER_EPOCH } from '../../protocol/batches/batch-header.ts'
import { batchesIn } from '../../protocol/batches/batch-iteration.ts'
import { verifyBatch } from '../../protocol/batches/verify-batch.ts'
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
    for (const header of batchesIn(records)) {
      verifyBatch(records, header)
      const mayStartBelow = batches === 0 && context.logIsEmpty
      const refusal = orderRefusal(header, { nextOffset, mayStartBelow, epoch })
      if (refusal) return result(refusal)
      if (header.leaderEpoch !== NO_LEADER_EPOCH && header.leaderEpoch !== epoch) {
        newEpochs.push({ epoch: header.leaderEpoch, firstOffset: Math.max(header.baseOffset, nextOffset) })
        epoch = header.leaderEpoch
      }
      nextOffset = header.lastOffset + 1
      bytes = header.position + header.sizeBytes
      batches++
    }
  } catch (error) {
    if (error instanceof BatchError) return result(damage(error, nextOffset))
    throw error
  }
  return result()
}

function orderRefusal(
  header: BatchHeader,
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
