/** Both halves of a bidirectional link were created before either could read of the other, so each has an id of its own: one takes that of the other. Called by the peer check. */
import type { Uuid } from '../../core/uuid.ts'
import { aclText } from '../acls/acl-names.ts'
import type { StateRecord } from '../ports.ts'
import {
  groupOffsetsStateRecord,
  linkStateRecord,
  ownedAclStateRecord,
  tombstone,
} from '../state-records/record-codec.ts'
import { groupOffsetsKey, linkKey, ownedAclKey } from '../state-records/state-key.ts'
import { linkQueue, type OperationContext } from './operation-context.ts'

/**
 * The link with everything that its syncs wrote has the peer's id from then on, in one durable write. Nothing happens once it has
 * mirrors, or is being deleted: those are known to others by the id. Resolves to whether it has the id.
 */
export async function adoptPeerId(context: OperationContext, linkId: Uuid, peerId: Uuid): Promise<boolean> {
  const { desired, linkChanges, operations, logger } = context
  return await operations.run(linkQueue(linkId), async () => {
    await context.journal.certain()
    const name = desired.link(linkId)?.name
    await linkChanges.remove(linkId, () => renamed(context, linkId, peerId))
    if (!desired.link(peerId)) return false
    logger.info('both halves of a link have one id now', { link: name, linkId: peerId })
    return true
  })
}

function renamed({ desired }: OperationContext, linkId: Uuid, peerId: Uuid): StateRecord[] {
  const link = desired.link(linkId)
  if (!link || link.deletingSinceMs !== undefined || desired.link(peerId) || desired.problemOf(linkId) !== undefined)
    return []
  if (desired.mirrorsOf(linkId).length > 0 || desired.creations().some(creation => creation.linkId === linkId))
    return []
  const groups = desired.groupsWrittenBy(linkId).flatMap(group => {
    const written = desired.groupOffsets(linkId, group)
    return [groupOffsetsStateRecord({ linkId: peerId, group, written }), tombstone(groupOffsetsKey(linkId, group))]
  })
  const acls = desired
    .ownedAcls(linkId)
    .flatMap(acl => [ownedAclStateRecord({ linkId: peerId, acl }), tombstone(ownedAclKey(linkId, aclText(acl)))])
  return [linkStateRecord({ ...link, linkId: peerId }), ...groups, ...acls, tombstone(linkKey(linkId))]
}
