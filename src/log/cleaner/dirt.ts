/** How much of a log the cleaner may clean now, and whether it is due, by Kafka's rules; the cleaning of a log asks before each pass. */
import type { LogContents } from '../log-contents.ts'
import type { Segment } from '../segment.ts'

export interface Dirt {
  /** Below it an earlier pass has been. */
  readonly firstDirtyOffset: number
  /** Base of the first segment that may not be cleaned yet. */
  readonly firstUncleanableOffset: number
  readonly cleanBytes: number
  readonly dirtyBytes: number
  /** Dirty bytes of all that may be cleaned, 0 to 1. */
  readonly ratio: number
  /** How long the oldest dirty record has passed `max.compaction.lag.ms`, 0 = it has not. */
  readonly overdueMs: number
  /** The ratio passes `min.cleanable.dirty.ratio`, or the time has come. */
  readonly due: boolean
  /** Of the log when it was looked at: after another cut this says nothing. */
  readonly cuts: number
}

/** Undefined if there is nothing to clean. `checkpoint` is where the last pass ended. Nothing at or above `stableOffset` is touched. */
export async function dirtOf(
  contents: LogContents,
  { checkpoint, stableOffset }: { checkpoint: number | undefined; stableOffset: number },
): Promise<Dirt | undefined> {
  const { segments, config } = contents
  if (!config.compacts || segments.all.length === 1) return undefined
  const firstDirtyOffset = dirtyFrom(contents, checkpoint)
  const closed = segments.all.slice(0, -1)
  const dirty = closed.slice(
    Math.max(
      0,
      closed.findLastIndex(({ baseOffset }) => baseOffset <= firstDirtyOffset),
    ),
  )
  const lagBound = await firstWithinLag(contents, dirty)
  const bound = Math.max(firstDirtyOffset, Math.min(stableOffset, lagBound))
  // Whole segments only.
  const firstUncleanableOffset = segments.all[segments.indexFor(bound)]?.baseOffset ?? 0
  const cleanable = dirty.filter(({ baseOffset }) => baseOffset < firstUncleanableOffset)
  const dirtyBytes = sizeOf(cleanable)
  if (firstUncleanableOffset <= firstDirtyOffset || dirtyBytes === 0) return undefined
  const cleanBytes = sizeOf(closed.filter(({ baseOffset }) => baseOffset < firstDirtyOffset))
  const ratio = dirtyBytes / (cleanBytes + dirtyBytes)
  const overdueMs = await overdue(contents, dirty)
  const due = overdueMs > 0 || ratio > config.minCleanableDirtyRatio
  const { cuts } = contents
  return { firstDirtyOffset, firstUncleanableOffset, cleanBytes, dirtyBytes, ratio, overdueMs, due, cuts }
}

/** Where the last pass ended, or the log start where that cannot be. */
function dirtyFrom({ logStartOffset, logEndOffset }: LogContents, checkpoint: number | undefined): number {
  const isPossible = checkpoint !== undefined && checkpoint >= logStartOffset && checkpoint <= logEndOffset
  return isPossible ? checkpoint : logStartOffset
}

/** `min.compaction.lag.ms`: from the first dirty segment on that has a younger record nothing is cleaned. */
async function firstWithinLag({ segments, config, environment }: LogContents, dirty: readonly Segment[]) {
  const bound = segments.active.baseOffset
  if (config.minCompactionLagMs <= 0) return bound
  const before = environment.clock.nowMs() - config.minCompactionLagMs
  for (const segment of dirty) {
    const { timestamp } = await segment.largestTimestamp()
    if (Number(timestamp < 0n ? segment.createdMs : timestamp) > before) return segment.baseOffset
  }
  return bound
}

async function overdue({ config, environment }: LogContents, dirty: readonly Segment[]): Promise<number> {
  const before = environment.clock.nowMs() - config.maxCompactionLagMs
  if (before <= 0) return 0
  let earliest = Number.POSITIVE_INFINITY
  for (const segment of dirty) {
    const timestampMs = await segment.firstTimestamp()
    if (timestampMs !== undefined && timestampMs > 0) earliest = Math.min(earliest, timestampMs)
  }
  return Math.max(0, before - earliest)
}

const sizeOf = (segments: readonly Segment[]): number => segments.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)
