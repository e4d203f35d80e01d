/** Pause: the mirror stays where it is until it is resumed. Called by alter-mirrors. */
import type { MirrorId } from '../coordination/mirror-changes.ts'
import { assertTransition } from './assert-transition.ts'
import { mirrorPositions, type VerbResult } from './mirror-positions.ts'
import { mirrorQueue, type OperationContext } from './operation-context.ts'

/** Resolves when nothing is fetched any more. Rejects with the table's refusal. */
export function pauseMirror(context: OperationContext, id: MirrorId): Promise<VerbResult> {
  return context.operations.run(mirrorQueue(id), async () => {
    await context.changes.transition(id, { event: 'pause', reason: 'paused on request' })
    await context.reconcile()
    return mirrorPositions(context, id)
  })
}

export async function previewPause(context: OperationContext, id: MirrorId): Promise<VerbResult> {
  assertTransition(context, id, 'pause')
  return mirrorPositions(context, id)
}
