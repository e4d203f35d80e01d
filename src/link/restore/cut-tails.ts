/** Cuts the partitions of a topic that is restored to where its counterpart parted, after their tails were exported if that was asked for. Called by continue-restore; every step may be repeated. */
import { sleep } from '../../core/clock.ts'
import { mapBounded } from '../coordination/bounded.ts'
import type { OperationContext } from '../operations/operation-context.ts'
import type { ExportedTail, MirrorLog, TailExports } from '../ports.ts'
import type { CutRecord, MirrorRecord } from '../state-records/mirror-record.ts'
import { sourceEpochsStateRecord } from '../state-records/record-codec.ts'
import { tailFrom } from './divergent-tail.ts'

/** Partitions that are cut at the same time. */
const parallel = 4
/** What is on its way to other replicas has this time to arrive; then it is tried again. */
const replicationMs = 10_000
const lookMs = 50

export async function cutTails(context: OperationContext, record: MirrorRecord): Promise<void> {
  await mapBounded(record.restore?.cuts ?? [], parallel, async cut => {
    const log = await context.destination.openMirrorLog(record.topicId, cut.partition)
    if (log.state().logEndOffset > cut.offset) {
      const tail = exportedTail(record, cut)
      if (tail && context.tailExports) await exportTail(context.tailExports, log, tail)
      await log.truncateTo(cut.offset)
      await log.flush()
    }
    await cutEverywhere(context, cut.partition, log)
    await recordEpochs(context, record, { cut, log })
  })
}

/** Whoever may be elected from now on has nothing of what was cut off. */
async function cutEverywhere({ clock }: OperationContext, partition: number, log: MirrorLog): Promise<void> {
  const untilMs = clock.monotonicMs() + replicationMs
  for (;;) {
    const { logEndOffset, highWatermark, replicasEnd } = await log.refresh()
    if (replicasEnd === logEndOffset && highWatermark === logEndOffset) return
    if (clock.monotonicMs() >= untilMs)
      throw new Error(`partition ${partition}: its in-sync replicas are not known to end at ${logEndOffset}`)
    await sleep(clock, lookMs)
  }
}

/** Where what was cut off can be found. */
export function exportPaths({ tailExports }: OperationContext, record: MirrorRecord): string[] {
  const tails = (record.restore?.cuts ?? []).flatMap(cut => exportedTail(record, cut) ?? [])
  return tailExports ? tails.map(tail => tailExports.pathOf(tail)) : []
}

function exportedTail({ mirrorTopic: topic, restore }: MirrorRecord, cut: CutRecord): ExportedTail | undefined {
  if (!restore?.exportsTail || cut.endOffset <= cut.offset) return undefined
  return { topic, partition: cut.partition, baseOffset: cut.offset, timeMs: restore.sinceMs }
}

/** On disk when it resolves. */
async function exportTail(exports: TailExports, log: MirrorLog, tail: ExportedTail): Promise<void> {
  const file = await exports.create(tail)
  for await (const batches of tailFrom(log, tail.baseOffset)) await file.append(batches)
  await file.close()
}

/**
 * What was recorded of an earlier time as a mirror of that cluster does not count any more: what is below the cut may be this
 * cluster's own, with epochs of the other one's mirror. Where others may lead, everything up to the last batch counts as mirrored.
 */
async function recordEpochs(
  { desired, journal, destination }: OperationContext,
  { topicId, sourceClusterId }: MirrorRecord,
  { cut, log }: { readonly cut: CutRecord; readonly log: MirrorLog },
): Promise<void> {
  const { partition, sourceEpoch } = cut
  const { logStartOffset, lastEpoch } = await log.refresh()
  const ranges = sourceEpoch === undefined ? [] : [{ epoch: sourceEpoch, firstOffset: logStartOffset }]
  const known = desired.ledEpochs(topicId, partition, sourceClusterId)
  const ledEpochs =
    destination.fence.hasOtherLeaders && lastEpoch !== undefined
      ? [...known.filter(epoch => epoch < lastEpoch), lastEpoch]
      : known
  await journal.append([sourceEpochsStateRecord({ topicId, partition, sourceClusterId, ranges, ledEpochs })])
}
