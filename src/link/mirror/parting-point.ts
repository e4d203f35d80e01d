/** Finds where a mirror and its truncated source part: source epochs say where to look, CRCs decide. Called by the mirror partition. */
import type { EpochRange } from '../state-records/source-epochs-record.ts'
import { askBounds, type BothCopies, compareBatch, lastBatchBelow } from './compare-batches.ts'
import { divergenceOf } from './epoch-judgement.ts'

/** Batches compared before the search gives up. */
const comparisonsMax = 200

export interface PartingPoint {
  /** Everything below is common; at or above the mirror's log start. */
  readonly offset: number
  /** The batch just below is the same, or there is none; false = the source has nothing left to compare. */
  readonly verified: boolean
}

/**
 * Undefined if mirror and source are the same after all; a text if there is no common point in the mirror's log, or none was
 * found. Changes nothing. Rejects with SourceError.
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
  /** All that is between it and `offset` is gone at the source. */
  let unproven: PartingPoint | undefined
  for (let compared = 0; compared < comparisonsMax; compared++) {
    if (offset < logStartOffset)
      return `the source ends at offset ${offset}, below the mirror's log start ${logStartOffset}`
    const batch = await lastBatchBelow(log, offset)
    if (!batch) return { offset: logStartOffset, verified: true }
    const isWhole = batch.lastOffset < offset
    const verdict = isWhole ? await compareBatch(copies, batch, bounds) : 'different'
    // Not in the middle of a hole: the source may have a batch there that begins below.
    const point = { offset: batch.lastOffset + 1, verified: verdict === 'equal' }
    if (verdict === 'equal' || (verdict === 'gone' && batch.lastOffset < bounds.earliest)) return point
    // A hole of a compacted source had the same there, or what another leader wrote: only what is below can tell.
    unproven = verdict === 'gone' ? (unproven ?? point) : undefined
    if (batch.baseOffset <= logStartOffset) return { offset: logStartOffset, verified: true }
    offset = batch.baseOffset
  }
  return unproven ?? `the last ${comparisonsMax} batches below offset ${logEndOffset} all differ from the source's`
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
