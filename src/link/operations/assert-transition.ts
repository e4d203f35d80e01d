/** Would the table of states take this event now? Verbs ask before they do anything, dry runs ask only that. */
import type { MirrorId } from '../coordination/mirror-changes.ts'
import type { MirrorRecord } from '../state-records/mirror-record.ts'
import type { MirrorTopicEvent } from '../states/mirror-topic-state.ts'
import { transition } from '../states/transition.ts'
import type { OperationContext } from './operation-context.ts'

/** The record that would change. Throws MIRROR_NOT_FOUND or the table's refusal. */
export function assertTransition(context: OperationContext, id: MirrorId, event: MirrorTopicEvent): MirrorRecord {
  const record = context.changes.current(id)
  const linkName = context.desired.link(id.linkId)?.name ?? id.linkId
  transition(record, { event, linkName, reason: '', timeMs: 0 })
  return record
}
