/** Where the log of a former source and that of the mirror that took over from it part: a recorded stop says where to look, CRCs decide. Changes nothing; called by plan-restore. */
import { batchesIn } from '../../protocol/batches/batch-iteration.ts'
import { askBounds, type BothCopies, lastBatchBelow, type SourceBounds } from '../mirror/compare-batches.ts'
import { lastSharedBatch } from '../mirror/last-shared-batch.ts'

export interface CutPoint {
  /** Everything below is common; the log has to end here. */
  readonly offset: number
  /** Leader epoch of the last common batch at the other cluster; undefined = nothing of it is left there. */
  readonly sourceEpoch: number | undefined
  /** What an operator should know. */
  readonly warnings: readonly string[]
}

/**
 * `limit`: what was recorded as the end of what both have. Resolves to a sentence where nothing proves that they have anything
 * in common. Rejects with SourceError.
 */
export async function findCutPoint(copies: BothCopies, limit: number): Promise<CutPoint | string> {
  const { logStartOffset, logEndOffset } = copies.log.state()
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
  const compactedTo = offset < logEndOffset ? await copies.log.compactedTo() : 0
  if (compactedTo > offset) {
    warnings.push(`it was compacted up to offset ${compactedTo} here: all of it is cut off and mirrored anew`)
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

/** The exception to what comparisons have to prove is what retention deleted at the other cluster, where nothing above it differs. */
async function lastCommon(copies: BothCopies, upTo: number, bounds: SourceBounds): Promise<CommonEnd | 'none'> {
  const { logStartOffset } = copies.log.state()
  const top = await lastBatchBelow(copies.log, upTo)
  if (!top) return { end: logStartOffset, isTop: true, isBelieved: false }
  if (top.lastOffset < bounds.earliest) return { end: top.lastOffset + 1, isTop: true, isBelieved: true }
  const found = await lastSharedBatch(copies, upTo, bounds)
  return found ? { end: found.batch.lastOffset + 1, isTop: found.isTop, isBelieved: false } : 'none'
}

/** Leader epoch that the source has for the batch that ends there; undefined = it has none any more. */
export async function sourceEpochBelow(
  { source, sourceTopic, partition, signal }: Pick<BothCopies, 'source' | 'sourceTopic' | 'partition' | 'signal'>,
  offset: number,
  { earliest, latest }: SourceBounds,
): Promise<number | undefined> {
  if (offset <= earliest || offset > latest) return undefined
  const bytes = await source.readBatches(sourceTopic, partition, { offset: offset - 1, maxBytes: 1, signal })
  const [batch] = batchesIn(bytes)
  return batch && batch.baseOffset < offset && batch.leaderEpoch >= 0 ? batch.leaderEpoch : undefined
}
