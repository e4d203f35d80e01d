/** The last batch that two logs have in common, found by comparisons: few of them, however long the logs are and whatever compaction left of either. Asked where a truncated source and its mirror part, and where a restore cuts. */
import type { BatchHeader } from '../../protocol/batches/batch-header.ts'
import {
  type BothCopies,
  compareAndLook,
  firstBatchFrom,
  lastBatchBelow,
  type SourceBounds,
} from './compare-batches.ts'

export interface SharedBatch {
  readonly batch: BatchHeader
  /** No batch of ours lies between it and the limit. */
  readonly isTop: boolean
}

/**
 * Of our batches that end below `limit`. Only one that is the same proves anything about what is below it; one of which nothing is
 * left to compare, because either side was compacted or deletes what is old, proves nothing. undefined = none is the same.
 *
 * Two logs are the same up to some point and nowhere behind it, so one looks further and further back, in doubling steps, until
 * something is the same, and then halves what is in between. Rejects with SourceError.
 */
export async function lastSharedBatch(
  copies: BothCopies,
  limit: number,
  bounds: SourceBounds,
): Promise<SharedBatch | undefined> {
  const top = await lastBatchBelow(copies.log, limit)
  if (!top) return undefined
  const { logStartOffset } = copies.log.state()
  // Below it nothing is left at the source.
  const floor = Math.max(logStartOffset, bounds.earliest)
  const search = { copies, bounds }
  let end = limit
  let same: BatchHeader | undefined
  for (let back = 1; same === undefined; back *= 2) {
    if (end <= floor) return undefined
    const from = Math.max(floor, end - back)
    const found = await telling(search, from, end)
    if (found.isSame) same = found.batch
    else end = found.from
  }
  for (let from = same.lastOffset + 1; from < end; from = same.lastOffset + 1) {
    const found = await telling(search, Math.floor((from + end) / 2), end)
    if (found.isSame) same = found.batch
    else end = Math.max(from, found.from)
  }
  return { batch: same, isTop: same.baseOffset === top.baseOffset }
}

interface Search {
  readonly copies: BothCopies
  readonly bounds: SourceBounds
}

type Told =
  | { readonly isSame: true; readonly batch: BatchHeader }
  /** Nothing that lies at or above it, and below the end, is the same. */
  | { readonly isSame: false; readonly from: number }

/**
 * What the first batch from an offset on tells of which both logs have something left: from hole to hole, each step goes over what
 * one of the two does not have.
 */
async function telling({ copies, bounds }: Search, from: number, end: number): Promise<Told> {
  let lowest = from
  for (let next = from; next < end; ) {
    const batch = await firstBatchFrom(copies.log, next)
    if (next === from && batch) lowest = Math.min(from, batch.baseOffset)
    if (!batch || batch.baseOffset >= end) break
    const isWhole = batch.lastOffset < end
    const found = isWhole ? await compareAndLook(copies, batch, bounds) : { verdict: 'different' as const, next: end }
    if (found.verdict === 'equal') return { isSame: true, batch }
    if (found.verdict === 'different') break
    next = found.next
  }
  return { isSame: false, from: lowest }
}
