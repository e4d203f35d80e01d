/** Finds where a mirror and its truncated source part: source epochs say where to look, CRCs decide. Called by the mirror partition. */
import type { EpochRange } from '../state-records/source-epochs-record.ts'
import { askBounds, type BothCopies, compareBatch, lastBatchBelow } from './compare-batches.ts'
import { divergenceOf } from './epoch-judgement.ts'
import { lastSharedBatch } from './last-shared-batch.ts'

export interface PartingPoint {
  /** Everything below is common; at or above the mirror's log start. */
  readonly offset: number
  /** The batch just below is the same, or there is none; false = the source has nothing left to compare. */
  readonly verified: boolean
}

/**
 * Undefined if mirror and source are the same after all; a text if the source ends below the mirror's log. Changes nothing. Rejects with SourceError.
 */
export async function findPartingPoint(
  copies: BothCopies,
  ranges: readonly EpochRange[],
): Promise<PartingPoint | undefined | string> {
  const { log } = copies
  const { logStartOffset, logEndOffset } = log.state()
  const bounds = await askBounds(copies)
  let offset = Math.min(await commonByEpochs(copies, ranges), bounds.latest)
  if (offset >= logEndOffset) {
    const last = await lastBatchBelow(log, logEndOffset)
    if (!last || (await compareBatch(copies, last, bounds)) !== 'different') return undefined
    offset = logEndOffset
  }
  if (offset < logStartOffset)
    return `the source ends at offset ${offset}, below the mirror's log start ${logStartOffset}`
  const common = await lastSharedBatch(copies, offset, bounds)
  // Not in the middle of a hole: the source may have a batch there that begins below.
  if (common) return { offset: common.batch.lastOffset + 1, verified: true }
  const kept = await lastBatchBelow(log, Math.min(offset, bounds.earliest))
  if (kept && kept.lastOffset < bounds.earliest) return { offset: kept.lastOffset + 1, verified: false }
  return { offset: logStartOffset, verified: true }
}

/** Where the epochs say that the histories part; the log end where they say nothing. */
async function commonByEpochs(copies: BothCopies, ranges: readonly EpochRange[]): Promise<number> {
  const { source, sourceTopic, partition, log, signal } = copies
  const state = log.state()
  for (const { epoch: requestedEpoch } of ranges.toReversed()) {
    const answer = await source.endOfEpoch(sourceTopic, partition, { epoch: requestedEpoch, signal })
    if (answer.epoch < 0 || answer.endOffset < 0) continue
    const upTo = ranges.filter(range => range.epoch <= requestedEpoch)
    const logEndOffset = ranges[upTo.length]?.firstOffset ?? state.logEndOffset
    const found = divergenceOf({ ...answer, requestedEpoch }, { ...state, ranges: upTo, logEndOffset })
    return found?.common ?? logEndOffset
  }
  return state.logEndOffset
}
