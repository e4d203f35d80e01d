/** Where the log of a former source and that of the mirror that took over from it part: a recorded stop says where to look, CRCs decide. Pure questions; called by plan-restore. */
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

/** How a batch compares, and where the search goes on. */
interface Probe {
  readonly batch: BatchHeader
  readonly isCommon: boolean
  readonly verdict: 'equal' | 'different' | 'gone'
  /** Nothing above it is different. */
  readonly isTop?: boolean
}

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
  const warnings: string[] = []
  if (last?.verdict === 'gone')
    warnings.push(`what is below offset ${upTo} could not be compared: the other cluster has deleted it`)
  // Behind the last common batch: in a hole behind it the other cluster may have a batch that begins below the limit.
  const behind = last ? last.batch.lastOffset + 1 : logStartOffset
  const offset = upTo === logEndOffset && last?.isTop !== false ? logEndOffset : behind
  // Compaction here removed older records of keys that are in what is cut off; the other cluster may have them still.
  if (cleanedOffset > offset && offset < logEndOffset) {
    warnings.push(`it was compacted up to offset ${cleanedOffset} here: all of it is cut off and mirrored anew`)
    return { offset: logStartOffset, sourceEpoch: undefined, warnings }
  }
  return { offset, sourceEpoch: await sourceEpochBelow(copies, offset, bounds), warnings }
}

/** The last batch below that is not different; undefined = there is no batch, `none` = all differ. */
async function lastCommon(copies: BothCopies, upTo: number, bounds: SourceBounds): Promise<Probe | undefined | 'none'> {
  const { logStartOffset } = copies.log.state()
  const first = await probeBelow(copies, upTo, bounds)
  if (!first) return undefined
  if (first.isCommon) return first
  // What is common comes first, so that halving finds its end: further and further back until something is common.
  let tooHigh = first.batch.baseOffset
  let common: Probe | undefined
  for (let back = 1; common === undefined; back *= 2) {
    if (tooHigh <= logStartOffset) return 'none'
    const probe = await probeBelow(copies, Math.max(logStartOffset + 1, tooHigh - back + 1), bounds)
    if (!probe) return 'none'
    if (probe.isCommon) common = probe
    else tooHigh = probe.batch.baseOffset
  }
  return { ...(await bisected(copies, { common, tooHigh }, bounds)), isTop: false }
}

/** The last common batch, given one and where those begin that are known to differ. */
async function bisected(
  copies: BothCopies,
  between: { readonly common: Probe; readonly tooHigh: number },
  bounds: SourceBounds,
): Promise<Probe> {
  let { common, tooHigh } = between
  for (;;) {
    const from: number = common.batch.lastOffset + 1
    if (from >= tooHigh) return common
    const middle = await probeBelow(copies, Math.floor((from + tooHigh) / 2) + 1, bounds)
    const probe: Probe | undefined =
      middle && middle.batch.baseOffset >= from ? middle : await probeFrom(copies, from, bounds)
    if (!probe || probe.batch.baseOffset >= tooHigh) return common
    if (probe.isCommon) common = probe
    else tooHigh = probe.batch.baseOffset
  }
}

async function probeBelow(copies: BothCopies, offset: number, bounds: SourceBounds): Promise<Probe | undefined> {
  const batch = await lastBatchBelow(copies.log, offset)
  return batch && (await judged(copies, batch, bounds))
}

async function probeFrom(copies: BothCopies, offset: number, bounds: SourceBounds): Promise<Probe | undefined> {
  if (offset >= copies.log.state().logEndOffset) return undefined
  const [batch] = batchesIn(await copies.log.readBatches({ offset, maxBytes: 1 }))
  return batch && (await judged(copies, batch, bounds))
}

async function judged(copies: BothCopies, batch: BatchHeader, bounds: SourceBounds): Promise<Probe> {
  const verdict = await compareBatch(copies, batch, bounds)
  return { batch, verdict, isCommon: verdict !== 'different' }
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
