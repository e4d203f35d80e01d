/** Cuts a log at either end and makes it continue elsewhere; PartitionLog calls it while no append and no flush runs. */
import type { LogContents } from './log-contents.ts'
import { reloadProducerState } from './producer-replay.ts'
import { ProducerState } from './producer-state.ts'
import type { Segment } from './segment.ts'

/** Where a log ends that is cut at `offset`: there, or at the base of the batch that holds it. */
export async function truncationPoint({ segments }: LogContents, offset: number): Promise<number> {
  const held = await segments.all[segments.indexFor(offset)]?.find(offset)
  return Math.min(offset, held?.baseOffset ?? offset)
}

/**
 * Drops everything from `end`, a truncation point, on, durably. Segments go from the end, so that a crash on the way leaves a
 * shorter log without gaps.
 */
export async function truncateTo(contents: LogContents, end: number): Promise<void> {
  const { segments, epochs } = contents
  if (end >= contents.logEndOffset) {
    epochs.truncateFromEnd(end)
    return epochs.save()
  }
  contents.cuts++
  await removeSegmentsAbove(contents, end)
  const { nextOffset } = await segments.active.truncateTo(end)
  contents.logEndOffset = end
  contents.compactedTo = Math.min(contents.compactedTo, end)
  await reloadProducerState(contents, end)
  // A log that ends in a hole says so by the name of its last segment, or a restart would move the end back.
  if (nextOffset < end) await contents.rollPastHole(end)
  epochs.truncateFromEnd(end)
  await epochs.save()
  await contents.syncNames()
  contents.cuts++
}

/** Durably, before the segment below is cut: a crash must not bring them back behind a gap, with snapshots that vouch for it. */
export async function removeSegmentsAbove(contents: LogContents, offset: number): Promise<void> {
  const { segments, snapshots } = contents
  await snapshots.removeWhere(snapshot => snapshot > offset)
  await contents.removeSegments(segments.all.filter(segment => segment.baseOffset > offset).reverse())
  await contents.syncNames()
}

/** Drops everything; the log is then empty and begins at `offset`. The largest producer id stays known. */
export async function startFullyAt(contents: LogContents, offset: number): Promise<void> {
  const { segments, snapshots, producers, epochs } = contents
  contents.cuts++
  await snapshots.removeWhere(() => true)
  producers.clear()
  await insertEmptySegment(contents, offset)
  await contents.removeSegments(segments.all.filter(segment => segment.baseOffset !== offset).reverse())
  epochs.clear()
  await epochs.save()
  contents.logStartOffset = offset
  contents.logEndOffset = offset
  contents.compactedTo = 0
  await contents.syncNames()
  contents.cuts++
}

/** In an order in which every crash leaves a log: the old one, a prefix of it, or one that ends with the new segment. */
async function insertEmptySegment(contents: LogContents, offset: number): Promise<void> {
  const { segments } = contents
  if (segments.first.baseOffset <= offset) {
    await removeSegmentsAbove(contents, offset)
    await segments.active.truncateTo(offset)
  }
  const same = segments.all.find(segment => segment.baseOffset === offset)
  if (same) await contents.closeSegment(same)
  segments.insert(await contents.createSegment(offset))
  await contents.syncNames()
}

/** Raises the log start in memory, at most to the log end. `removeSegmentsBelow` follows once a checkpoint says so. */
export function raiseLogStart(contents: LogContents, offset: number): void {
  contents.logStartOffset = offset
  contents.producers.logStartRaised(offset)
  contents.epochs.truncateFromStart(offset)
}

/** The segments that hold nothing at or above `offset`; never the last one. */
export function segmentsBelow({ segments }: LogContents, offset: number): readonly Segment[] {
  return segments.all.filter((_, index) => {
    const next = segments.all[index + 1]
    return next !== undefined && next.baseOffset <= offset
  })
}

/** Removes the segments that hold nothing at or above `offset`, the oldest first. */
export async function removeSegmentsBelow(contents: LogContents, offset: number): Promise<void> {
  const condemned = segmentsBelow(contents, offset)
  const first = contents.segments.all[condemned.length]
  if (condemned.length === 0 || !first) return
  await keepProducersOf(contents, first.baseOffset)
  await contents.removeSegments(condemned)
  await contents.snapshots.removeWhere(snapshot => snapshot < first.baseOffset)
}

/** What the segments below say of producers, and of transactions that are still open, lives on in the snapshot at `offset`. */
async function keepProducersOf(contents: LogContents, offset: number): Promise<void> {
  const { snapshots } = contents
  if (!snapshots.has(offset)) {
    const producers = new ProducerState()
    await reloadProducerState(contents, offset, producers)
    snapshots.take(offset, producers.encode())
  }
  await snapshots.save(offset)
}

/** Moves the end of a log that is not empty forward to `offset`; what lies between is a hole. */
export async function extendTo(contents: LogContents, offset: number): Promise<void> {
  await contents.rollPastHole(offset)
  await contents.syncNames()
  contents.logEndOffset = offset
}
