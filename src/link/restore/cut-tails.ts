/** Cuts the partitions of a topic that is restored to where its counterpart parted, after their tails were exported if that was asked for. Called by continue-restore; every step may be repeated. */
import { mapBounded } from '../coordination/bounded.ts'
import type { OperationContext } from '../operations/operation-context.ts'
import type { ExportedTail, MirrorLog, TailExports } from '../ports.ts'
import type { CutRecord, MirrorRecord } from '../state-records/mirror-record.ts'
import { beginSourceEpochs } from './begin-source-epochs.ts'
import { cutEverywhere } from './cut-everywhere.ts'
import { tailFrom } from './divergent-tail.ts'

/** Partitions that are cut at the same time. */
const parallel = 4

export async function cutTails(context: OperationContext, record: MirrorRecord): Promise<void> {
  await mapBounded(record.restore?.cuts ?? [], parallel, async cut => {
    const log = await context.destination.openMirrorLog(record.topicId, cut.partition)
    if (log.state().logEndOffset > cut.offset) {
      const tail = exportedTail(record, cut)
      if (tail && context.tailExports) await exportTail(context.tailExports, log, tail)
      await log.truncateTo(cut.offset)
      await log.flush()
    }
    await cutEverywhere(context.clock, cut.partition, log)
    await beginSourceEpochs(context, record, { ...cut, log })
  })
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
