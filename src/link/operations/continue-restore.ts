/**
 * The walk of a restore from its durable beginning to a mirror that follows: nobody can write any more, the common points are found
 * and durable, the tails are cut. Continued by the reconciler after a crash; every step may be repeated.
 */
import { messageOf, OperationalError } from '../../core/errors.ts'
import type { MirrorId } from '../coordination/mirror-changes.ts'
import { linkError } from '../errors.ts'
import { isReturning } from '../fence/fenced-mirror.ts'
import { cutTails, exportPaths } from '../restore/cut-tails.ts'
import { finishGivingUp, giveUpRestore } from '../restore/give-up-restore.ts'
import { planRestore } from '../restore/plan-restore.ts'
import { settleGroups } from '../restore/settle-groups.ts'
import { finishGivingBack } from '../reversal/return-source.ts'
import type { CutRecord, MirrorRecord } from '../state-records/mirror-record.ts'
import type { OperationContext } from './operation-context.ts'

/** What was decided to be cut. */
export interface DecidedRestore {
  readonly cuts: readonly CutRecord[]
  readonly warnings: readonly string[]
}

export const isRestoring = ({ state, stopping }: MirrorRecord): boolean =>
  stopping === undefined && (state === 'PENDING_SETUP_FOR_RESTORE' || state === 'PENDING_RESTORE')

/** Called inside the mirror's queue. Rejects with the reason that stands in the way now; then it is tried again. */
export async function continueRestore(context: OperationContext, id: MirrorId): Promise<void> {
  const record = context.desired.mirror(id.linkId, id.mirrorTopic)
  if (!record || record.topicId !== (id.topicId ?? record.topicId) || !isRestoring(record)) return
  try {
    if (isReturning(record)) return await finishGivingBack(context, id)
    if (record.restore?.givenUp !== undefined) return await finishGivingUp(context, id)
    if (record.state === 'PENDING_SETUP_FOR_RESTORE') await decideRestore(context, id)
    await finishRestore(context, id)
  } catch (error) {
    await tellReason(context, id, messageOf(error))
    throw error
  }
}

/**
 * From the first durable record on nobody writes the topic: where its counterpart parts from it is found once more, and durable
 * when this resolves. Where it cannot be restored, it becomes what it was before, and this rejects with MIRROR_CANNOT_RESTORE.
 */
export async function decideRestore(context: OperationContext, id: MirrorId): Promise<DecidedRestore> {
  const { topicId, linkId, mirrorTopic } = context.changes.current(id)
  const link = context.desired.link(linkId)
  const topic = context.destination.topicById(topicId)
  if (!link || !topic) throw linkError('MIRROR_NOT_FOUND', { topic: mirrorTopic, link: link?.name ?? linkId })
  await context.destination.fence.enclose(topicId)
  for (let partition = 0; partition < topic.partitions; partition++) {
    const log = await context.destination.openMirrorLog(topicId, partition)
    // Whatever was on its way when the topic was fenced is written by then: changes of a log run one after the other.
    await log.raiseLogStart(0)
    await log.flush()
  }
  // The other side may want the same: each shows what it is about to do before it looks, so at least one sees the other.
  await context.published()
  try {
    const { cuts, warnings } = await planRestore(context, link, mirrorTopic)
    const records = sum(cuts)
    const reason = `${records} record(s) that the other cluster does not have are cut off`
    await context.changes.transition(id, { event: 'caughtUp', reason }, record => {
      const givenUp = record.restore?.givenUp ?? record.reversal?.givenUp
      if (givenUp !== undefined) throw new Error(`it was given up: ${givenUp}`)
      if (!record.restore) return record
      return { ...record, startOffsets: starts(record, cuts), restore: { ...record.restore, cuts } }
    })
    return { cuts, warnings }
  } catch (error) {
    const isFinal = error instanceof OperationalError && !error.row.retriable
    if (isFinal) await stayAsBefore(context, id, `not restored: ${error.message}`)
    throw error
  }
}

/** Whoever was about to be reversed stays closed. */
async function stayAsBefore(context: OperationContext, id: MirrorId, reason: string): Promise<void> {
  const { changes } = context
  if (changes.current(id).reversal) await changes.transition(id, { event: 'peerReverses', reason })
  else await giveUpRestore(context, id, reason)
}

/** One for each partition that there is by then. */
const starts = ({ startOffsets }: MirrorRecord, cuts: readonly CutRecord[]): number[] =>
  cuts.map(({ partition }) => startOffsets[partition] ?? 0)

async function finishRestore(context: OperationContext, id: MirrorId): Promise<void> {
  const record = context.changes.current(id)
  if (record.state !== 'PENDING_RESTORE' || !record.restore) return
  const { paused, cuts } = record.restore
  // Others may have come to lead it since it was decided.
  if (context.destination.fence.hasOtherLeaders) await context.destination.fence.enclose(record.topicId)
  await cutTails(context, record)
  const groups = await settleGroups(context, record)
  if (sum(cuts) > 0) context.incidents.count('fork')
  const places = cuts.map(({ partition, offset, messages }) => `${partition} to ${offset} (${messages})`)
  const paths = exportPaths(context, record)
  const exported = paths.length === 0 ? '' : `; exported to ${listed(paths)}`
  const reason = `restored, cut: ${listed(places)}${exported}${groups}`
  await context.changes.transition(id, { event: 'caughtUp', reason, paused }, next => ({ ...next, stopPoints: [] }))
  context.logger.info('a topic is a mirror again', { topic: id.mirrorTopic, recordsCut: sum(cuts) })
}

/** In a history nobody reads hundreds of them. */
function listed(texts: readonly string[]): string {
  const shown = texts.slice(0, 20).join(', ')
  return texts.length > 20 ? `${shown} and ${texts.length - 20} more` : shown
}

export const sum = (cuts: readonly CutRecord[]): number => cuts.reduce((total, { messages }) => total + messages, 0)

async function tellReason(context: OperationContext, id: MirrorId, reason: string): Promise<void> {
  const record = context.desired.mirror(id.linkId, id.mirrorTopic)
  if (!record || !isRestoring(record) || record.reason === reason) return
  await context.changes.update(id, current => (isRestoring(current) ? { ...current, reason } : current))
}
