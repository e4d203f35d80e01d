/** Where the log of a former source and that of the mirror that took over from it part: a recorded stop says where to look, CRCs decide. Changes nothing; called by plan-restore. */
import type { BatchHeader } from '../../protocol/batches/batch-header.ts'
import { batchesIn } from '../../protocol/batches/batch-iteration.ts'
import {
  askBounds,
  type BothCopies,
  compareBatch,
  lastBatchBelow,
  type SourceBounds,
} from '../mirror/compare-batches.ts'

export interface CutPoint {
  /** Everything below is common; the log has to end here. */
  readonly offset: number
  /** Leader epoch of the last common batch at the other cluster; undefined = nothing of it is left there. */
  readonly sourceEpoch: number | undefined
  /** What an operator should know. */
  readonly warnings: readonly string[]
}

/** Batches behind the last one that is known to be common that are looked at one by one. */
const followedMax = 100

/**
 * `limit`: what was recorded as the end of what both have. Resolves to a sentence where nothing proves that they have anything
 * in common. Rejects with SourceError.
 */
export async function findCutPoint(copies: BothCopies, limit: number): Promise<CutPoint | string> {
  const { logStartOffset, logEndOffset, cleanedOffset = 0 } = copies.log.state()
  const bounds = await askBounds(copies)
  const upTo = Math.min(limit, logEndOffset, bounds.latest)
  if (upTo < logStartOffset)
    return `the log begins at offset ${logStartOffset} here, and what both clusters have ends at ${upTo}`
  const last = await lastCommon(copies, upTo, bounds)
  if (last === 'none') return `no batch below offset ${upTo} is the same at both clusters`
  const warnings = last.isBelieved
    ? [`what is below offset ${upTo} could not be compared: the other cluster has deleted it`]
    : []
  const offset = last.isTop && upTo === logEndOffset ? logEndOffset : last.end
  // Compaction here removed older records of keys that are in what is cut off; the other cluster may have them still.
  if (cleanedOffset > offset && offset < logEndOffset) {
    warnings.push(`it was compacted up to offset ${cleanedOffset} here: all of it is cut off and mirrored anew`)
    return { offset: logStartOffset, sourceEpoch: undefined, warnings }
  }
  return { offset, sourceEpoch: await sourceEpochBelow(copies, offset, bounds), warnings }
}

interface CommonEnd {
  /** Behind the last common batch: in a hole behind it the other cluster may have a batch that begins below the limit. */
  readonly end: number
  /** Nothing up to the limit is different. */
  readonly isTop: boolean
  /** Nothing of it is left at the other cluster to compare. */
  readonly isBelieved: boolean
}

/**
 * Only a batch that is the same proves anything about what is below it. One of which nothing is left to compare, because either side
 * was compacted, proves nothing; the exception is what retention deleted at the other cluster, where nothing above it differs.
 */
async function lastCommon(copies: BothCopies, upTo: number, bounds: SourceBounds): Promise<CommonEnd | 'none'> {
  const { logStartOffset } = copies.log.state()
  const top = await lastBatchBelow(copies.log, upTo)
  if (!top) return { end: logStartOffset, isTop: true, isBelieved: false }
  const isDeleted = top.lastOffset < bounds.earliest
  if (isDeleted || (await isSame(copies, top, bounds)))
    return { end: top.lastOffset + 1, isTop: true, isBelieved: isDeleted }
  // Further and further back until something is the same, and then halving what is in between.
  let tooHigh = top.baseOffset
  let same: BatchHeader | undefined
  for (let back = 1; same === undefined; back *= 2) {
    if (tooHigh <= logStartOffset) return 'none'
    const below = await lastBatchBelow(copies.log, Math.max(logStartOffset + 1, tooHigh - back + 1))
    const batch = below ?? (await firstBatchFrom(copies, logStartOffset))
    if (!batch || batch.baseOffset >= tooHigh) return 'none'
    if (await isSame(copies, batch, bounds)) same = batch
    else tooHigh = batch.baseOffset
  }
  const halved = await lastSame(copies, { same, tooHigh }, bounds)
  const last = await followed(copies, { same: halved, upTo }, bounds)
  return { end: last.lastOffset + 1, isTop: false, isBelieved: false }
}

/** The last batch that is the same, given one and where those begin that are not; a lower one where some cannot be compared. */
async function lastSame(
  copies: BothCopies,
  between: { readonly same: BatchHeader; readonly tooHigh: number },
  bounds: SourceBounds,
): Promise<BatchHeader> {
  let { same, tooHigh } = between
  for (;;) {
    const from = same.lastOffset + 1
    if (from >= tooHigh) return same
    const middle = await lastBatchBelow(copies.log, Math.floor((from + tooHigh) / 2) + 1)
    const batch = middle && middle.baseOffset >= from ? middle : await firstBatchFrom(copies, from)
    if (!batch || batch.baseOffset >= tooHigh) return same
    if (await isSame(copies, batch, bounds)) same = batch
    else tooHigh = batch.baseOffset
  }
}

/** Goes on over batches that cannot be compared, as long as others behind them are the same. */
async function followed(
  copies: BothCopies,
  { same, upTo }: { readonly same: BatchHeader; readonly upTo: number },
  bounds: SourceBounds,
): Promise<BatchHeader> {
  let last = same
  let next = same
  for (let count = 0; count < followedMax; count++) {
    const batch = await firstBatchFrom(copies, next.lastOffset + 1)
    if (!batch || batch.lastOffset >= upTo) return last
    const verdict = await compareBatch(copies, batch, bounds)
    if (verdict === 'different') return last
    if (verdict === 'equal') last = batch
    next = batch
  }
  return last
}

const isSame = async (copies: BothCopies, batch: BatchHeader, bounds: SourceBounds): Promise<boolean> =>
  (await compareBatch(copies, batch, bounds)) === 'equal'

async function firstBatchFrom({ log }: BothCopies, offset: number): Promise<BatchHeader | undefined> {
  if (offset >= log.state().logEndOffset) return undefined
  const [batch] = batchesIn(await log.readBatches({ offset, maxBytes: 1 }))
  return batch
}

async function sourceEpochBelow(
  { source, sourceTopic, partition, signal }: BothCopies,
  offset: number,
  { earliest, latest }: SourceBounds,
): Promise<number | undefined> {
  if (offset <= earliest || offset > latest) return undefined
  const bytes = await source.readBatches(sourceTopic, partition, { offset: offset - 1, maxBytes: 1, signal })
  const [batch] = batchesIn(bytes)
  return batch && batch.baseOffset < offset && batch.leaderEpoch >= 0 ? batch.leaderEpoch : undefined
}
