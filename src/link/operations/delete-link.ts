/** Deletes a cluster link: at once if nothing is mirrored any more, else, with force, after every mirror was failed over. */
import { aclText } from '../acls/acl-names.ts'
import { mapBounded } from '../coordination/bounded.ts'
import type { MirrorId } from '../coordination/mirror-changes.ts'
import type { DeleteLinkReport } from '../engine-api.ts'
import { linkError } from '../errors.ts'
import type { StateRecord } from '../ports.ts'
import type { LinkRecord } from '../state-records/link-record.ts'
import { tombstone } from '../state-records/record-codec.ts'
import { groupOffsetsKey, linkKey, mirrorKey, ownedAclKey } from '../state-records/state-key.ts'
import { finishMirrorCreation } from './create-mirror.ts'
import { failOverMirror } from './failover-mirror.ts'
import { linkQueue, type OperationContext, requireLink, topicNameQueue } from './operation-context.ts'

/** Mirrors failed over at the same time. */
const parallel = 8

export async function deleteLink(
  context: OperationContext,
  name: string,
  options: { force: boolean; validateOnly: boolean },
): Promise<DeleteLinkReport> {
  await context.journal.certain()
  const link = requireLink(context, name)
  const open = openTopics(context, link)
  if (open.length > 0 && !options.force && link.deletingSinceMs === undefined)
    throw linkError('LINK_HAS_MIRRORS', { link: name, topics: open })
  const kept = context.desired.mirrorsOf(link.linkId).length
  const warnings = kept > 0 ? [`The history of ${kept} mirror topic(s) is forgotten; the topics stay.`] : []
  const acls = context.desired.ownedAcls(link.linkId).length
  if (acls > 0) warnings.push(`${acls} ACL(s) that the link created stay, and are not followed any more.`)
  if (options.validateOnly) return { failedOver: open, warnings }
  if (open.length > 0 && link.deletingSinceMs === undefined) await recordIntent(context, link)
  await finishLinkDeletion(context, link.linkId)
  await context.reconcile()
  return { failedOver: open, warnings }
}

/** Everything from the durable intent on; repeated after a crash until the link is gone. */
export async function finishLinkDeletion(context: OperationContext, linkId: LinkRecord['linkId']): Promise<void> {
  await context.journal.certain()
  for (const creation of context.desired
    .creations()
    .filter(creation => creation.linkId === linkId)
    .toArray())
    await context.operations.run(topicNameQueue(creation.mirrorTopic), () => finishMirrorCreation(context, creation))
  const running = context.desired.mirrorsOf(linkId).filter(mirror => mirror.state !== 'STOPPED')
  await mapBounded(running, parallel, ({ mirrorTopic }) => ensureStopped(context, { linkId, mirrorTopic }))
  await context.operations.run(linkQueue(linkId), async () => {
    const link = context.desired.link(linkId)
    if (!link) return
    const open = openTopics(context, link)
    if (open.length > 0) throw linkError('LINK_HAS_MIRRORS', { link: link.name, topics: open })
    await context.linkChanges.remove(linkId, () => deletionRecords(context, link))
    context.logger.info('link deleted', { link: link.name })
  })
}

/** Somebody else may have stopped it, or deleted the topic, in the meantime: that is as good. */
async function ensureStopped(context: OperationContext, id: MirrorId): Promise<void> {
  try {
    await failOverMirror(context, id, { alone: true })
  } catch (error) {
    const record = context.desired.mirror(id.linkId, id.mirrorTopic)
    if (record !== undefined && record.state !== 'STOPPED') throw error
  }
}

/** Names of topics that are mirrors still, or about to become ones. */
function openTopics(context: OperationContext, { linkId }: LinkRecord): string[] {
  const mirrors = context.desired.mirrorsOf(linkId).filter(mirror => mirror.state !== 'STOPPED')
  const creations = context.desired.creations().filter(creation => creation.linkId === linkId)
  return [...mirrors.map(mirror => mirror.mirrorTopic), ...creations.map(creation => creation.mirrorTopic)].sort()
}

async function recordIntent(context: OperationContext, link: LinkRecord): Promise<void> {
  await context.operations.run(linkQueue(link.linkId), async () => {
    const deletingSinceMs = context.clock.nowMs()
    const updated = await context.linkChanges.update(link.linkId, current => ({ ...current, deletingSinceMs }))
    if (!updated) throw linkError('LINK_NOT_FOUND', { link: link.name })
  })
}

/** Source epochs stay: they describe the topics, which stay too, and are needed if another link mirrors them again. */
function deletionRecords(context: OperationContext, { linkId }: LinkRecord): StateRecord[] {
  const mirrors = context.desired.mirrorsOf(linkId).map(({ mirrorTopic }) => tombstone(mirrorKey(linkId, mirrorTopic)))
  const groups = context.desired.groupsWrittenBy(linkId).map(group => tombstone(groupOffsetsKey(linkId, group)))
  const acls = context.desired.ownedAcls(linkId).map(acl => tombstone(ownedAclKey(linkId, aclText(acl))))
  return [...mirrors, ...groups, ...acls, tombstone(linkKey(linkId))]
}
