/** Cuts the partitions of a topic that is restored to where its counterpart parted, after their tails were exported if that was asked for. Called by continue-restore; every step may be repeated. */
import { sleep } from '../../core/clock.ts'
import { mapBounded } from '../coordination/bounded.ts'
import type { OperationContext } from '../operations/operation-context.ts'
import type { ExportedTail, MirrorLog, TailExports } from '../ports.ts'
import type { CutRecord, MirrorRecord } from '../state-records/mirror-record.ts'
import { beginSourceEpochs } from './begin-source-epochs.ts'
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
    await beginSourceEpochs(context, record, { ...cut, log })
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
