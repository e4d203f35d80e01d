/**
 * A restore of which nothing comes: the topic becomes what it was before, with everything in it. Called by decideRestore and by
 * failover, while nothing has been cut; the reconciler finishes it.
 */
import type { MirrorId } from '../coordination/mirror-changes.ts'
import type { OperationContext } from '../operations/operation-context.ts'

/** Called inside the mirror's queue. Where the write fence has to come off first, that is tried again until it has. */
export async function giveUpRestore(context: OperationContext, id: MirrorId, reason: string): Promise<void> {
  if ((await decideToGiveUp(context, id, reason)) === 'fenced') await finishGivingUp(context, id)
}

/**
 * Resolves when it is durable that nothing is cut. `fenced`: the fence has to come off before it is an ordinary topic, which
 * `finishGivingUp` does. `too-late`: cuts have been decided meanwhile, and nothing was changed.
 */
export async function decideToGiveUp(
  context: OperationContext,
  id: MirrorId,
  reason: string,
): Promise<'ordinary' | 'fenced' | 'too-late'> {
  const { changes, destination } = context
  if (!destination.fence.hasOtherLeaders || changes.current(id).restore === undefined) {
    await changes.transition(id, { event: 'failover', reason })
    return 'ordinary'
  }
  const { restore } = await changes.update(id, record =>
    record.state === 'PENDING_SETUP_FOR_RESTORE' && record.restore
      ? { ...record, reason, restore: { ...record.restore, givenUp: record.restore.givenUp ?? reason } }
      : record,
  )
  return restore?.givenUp === undefined ? 'too-late' : 'fenced'
}

/** Called inside the mirror's queue. Rejects with what is in the way; may be repeated. */
export async function finishGivingUp(context: OperationContext, id: MirrorId): Promise<void> {
  const { changes, desired, destination, logger } = context
  const record = desired.mirror(id.linkId, id.mirrorTopic)
  if (record?.restore?.givenUp === undefined) return
  const { topicId, trueConfigs: configs } = record
  const { plan, givenUp: reason } = record.restore
  await destination.fence.release({ topicId, verb: 'failover', plan, endOffsets: [], configs })
  await changes.transition(id, { event: 'failover', reason })
  logger.info('a restore was given up', { topic: id.mirrorTopic, reason })
}
