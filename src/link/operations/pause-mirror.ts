/** Pause: the mirror stays where it is until it is resumed. Called by alter-mirrors. */

import { messageOf } from '../../core/errors.ts'
import type { MirrorId } from '../coordination/mirror-changes.ts'
import { mirrorQueue } from '../coordination/mirror-queue.ts'
import { assertTransition } from './assert-transition.ts'
import { mirrorPositions, type VerbResult } from './mirror-positions.ts'
import type { OperationContext } from './operation-context.ts'

/** Resolves when nothing is fetched any more, or a node that fetches it cannot be asked. Rejects with the table's refusal. */
export function pauseMirror(context: OperationContext, id: MirrorId): Promise<VerbResult> {
  const topic = id.mirrorTopic
  return context.operations.run(mirrorQueue(id), async () => {
    await context.changes.transition(id, { event: 'pause', reason: 'paused on request' })
    await context.reconcile()
    const { topicId } = context.changes.current(id)
    await context.peers.stopFetching({ ...id, topicId }).catch(error => {
      // They stop as soon as they hear of it.
      context.logger.warn('another node has not said that it stopped', { topic, error: messageOf(error) })
    })
    return mirrorPositions(context, id)
  })
}

export async function previewPause(context: OperationContext, id: MirrorId): Promise<VerbResult> {
  assertTransition(context, id, 'pause')
  return mirrorPositions(context, id)
}
