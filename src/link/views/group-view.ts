/** Offsets of groups as REST shows them; called by the engine. */
import type { GroupOffsetView } from '../engine-api.ts'
import { type OperationContext, requireLink } from '../operations/operation-context.ts'

/** By group, topic and partition. Throws LINK_NOT_FOUND. */
export function groupOffsetViews(context: OperationContext, link: string): GroupOffsetView[] {
  const { linkId } = requireLink(context, link)
  const rows = context.runtime(linkId)?.groupStates.all() ?? []
  return rows.map(({ syncedOffset = null, syncedTimeMs = null, reason = null, ...row }) => {
    return { ...row, syncedOffset, syncedTimeMs, reason }
  })
}
