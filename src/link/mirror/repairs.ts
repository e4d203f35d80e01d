/**
 * What is done to a mirror's log when its source lost data: retention overtook the mirror, or the source was truncated. The
 * report is durable first, so that nothing is lost silently; a crash in between leads here again. Called by the mirror partition.
 */
import { batchesIn } from '../../protocol/batches/batch-iteration.ts'
import type { MirrorLogState } from '../ports.ts'
import type { BothCopies } from './compare-batches.ts'
import type { EpochLedger } from './epoch-ledger.ts'
import { findPartingPoint } from './parting-point.ts'
import type { IncidentKind } from './partition-figures.ts'

export interface RepairParts {
  readonly copies: BothCopies
  readonly ledger: EpochLedger
  /** Counted and kept in the history. Resolves when that is durable. */
  readonly report: (kind: IncidentKind, message: string) => Promise<void>
}

/**
 * Offsets that the source deleted before they came become a hole, and what is below goes too if the log start follows. Resolves
 * to what was reported, if anything new was lost.
 */
export async function skipDeleted(
  { copies, report }: RepairParts,
  { earliest, followLogStart }: { earliest: number; followLogStart: boolean },
): Promise<{ lost: number; message: string } | undefined> {
  const { log } = copies
  const { logEndOffset } = log.state()
  const next = await firstBatchOffset(copies, earliest)
  if (next <= logEndOffset) {
    const where = `its log starts at offset ${earliest}, inside the batch that continues the mirror at ${logEndOffset}`
    await report('out_of_range', `retention at the source has reached the mirror's end: ${where}; nothing was lost`)
    return undefined
  }
  const lost = next - logEndOffset
  const message =
    `retention at the source overtook the mirror: offsets ${logEndOffset} to ${next - 1}` +
    ` (${lost}) were deleted before they could be mirrored`
  await report('out_of_range', message)
  // The log begins anew, as a follower's does at the source: transactions that are open here may have ended in the hole, and
  // nothing would ever end them.
  if (followLogStart) await log.raiseLogStart(logEndOffset)
  await log.startAt(next)
  return { lost, message }
}

/** The source's log may start inside a batch, which comes whole: behind older data there must be room for all of it. */
async function firstBatchOffset(copies: BothCopies, earliest: number): Promise<number> {
  const { source, sourceTopic, partition, log, signal } = copies
  const { logStartOffset, logEndOffset } = log.state()
  if (logStartOffset === logEndOffset) return earliest
  const bytes = await source.readBatches(sourceTopic, partition, { offset: earliest, maxBytes: 1, signal })
  const baseOffset = batchesIn(bytes).next().value?.baseOffset ?? earliest
  return baseOffset >= logEndOffset ? Math.min(earliest, baseOffset) : earliest
}

/**
 * Compaction here removed older records of the keys that are in what is cut off, and the source may have them still: then all
 * is mirrored anew.
 */
function untilComplete({ cleanedOffset = 0, logStartOffset }: MirrorLogState, offset: number) {
  if (cleanedOffset <= offset) return { offset, why: '' }
  const why = `: from offset ${offset} on the two differ, and the mirror was compacted up to ${cleanedOffset}`
  return { offset: logStartOffset, why }
}

/**
 * Cuts the mirror, and then its ranges of source epochs, to where it parts from its source. Undefined if they do not part after all;
 * `refused` if there is no such point, then nothing is cut.
 */
export async function cutToSource(
  { copies, ledger, report }: RepairParts,
  reason: string,
): Promise<undefined | { cut: string } | { refused: string }> {
  const { log } = copies
  const { logEndOffset } = log.state()
  const found = await findPartingPoint(copies, ledger.ranges(logEndOffset))
  if (found === undefined) return undefined
  if (typeof found === 'string') return { refused: `${reason}; nothing was cut, since ${found}` }
  const { verified } = found
  const { offset, why } = untilComplete(log.state(), found.offset)
  const cut =
    `${reason}; the mirror's offsets ${offset} to ${logEndOffset - 1} (${logEndOffset - offset}) were cut off${why}` +
    (verified ? '' : ', which could not be verified, since the source has deleted what is below')
  await report('truncation', cut)
  await log.truncateTo(offset)
  await log.flush()
  // Not before the cut is on disk: until then the epochs are what shows that the tail is not the source's.
  await ledger.cutTo(offset)
  return { cut }
}
