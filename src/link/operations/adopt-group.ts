/** Adopt: a link may overwrite what it did not write in one group of this cluster. Called by the engine for an operator (semantics §5). */
import { linkError } from '../errors.ts'
import { consumerGroupKind, shareGroupKind } from '../groups/group-kinds.ts'
import { placeText } from '../groups/plan-group.ts'
import type { GroupOffset } from '../ports.ts'
import { groupOffsetsStateRecord } from '../state-records/record-codec.ts'
import { type OperationContext, requireLink } from './operation-context.ts'

/**
 * Takes what the group has now, in partitions of topics that the link syncs, for the link's own; durable when it resolves. Resolves to
 * how many offsets that concerns. Rejects with GROUP_NOT_ADOPTABLE if there are none, or they cannot be read.
 */
export async function adoptGroup(context: OperationContext, linkName: string, group: string): Promise<number> {
  const { linkId } = requireLink(context, linkName)
  const runtime = context.runtime(linkId)
  // Where no link runs, nothing of it is synced.
  const turns = runtime?.groupStates.turns ?? context.operations
  return await turns.run(group, async () => {
    await context.journal.certain()
    // Mirrors, and topics here that the peer mirrors: those are known by their rows.
    const rows = runtime?.groupStates.rowsOf(group) ?? []
    const topics = new Set([
      ...context.desired.mirrorsOf(linkId).map(({ mirrorTopic }) => mirrorTopic),
      ...rows.flatMap(([, { topicType, topic }]) => (topicType === 'REMOTE_MIRROR' ? [topic] : [])),
    ])
    const present = (await offsetsHere(context, group)).filter(({ topic }) => topics.has(topic))
    if (present.length === 0)
      throw linkError('GROUP_NOT_ADOPTABLE', {
        group,
        reason: `it has no offsets in topics that are synced by link '${linkName}'`,
      })
    const adopted = new Map(context.desired.groupOffsets(linkId, group).map(offset => [placeText(offset), offset]))
    for (const { topic, partition, offset } of present)
      adopted.set(placeText({ topic, partition }), { topic, partition, offset, previousOffset: -1 })
    await context.linkChanges.append(linkId, [
      groupOffsetsStateRecord({ linkId, group, written: [...adopted.values()] }),
    ])
    context.logger.info('a group is adopted', { group, offsets: present.length })
    for (const name of ['ConsumerOffsetSync', 'ShareGroupOffsetSync']) runtime?.task(name)?.start()
    return present.length
  })
}

/** A group is of one kind; of another one it has no offsets. */
async function offsetsHere({ destination }: OperationContext, group: string): Promise<readonly GroupOffset[]> {
  const kinds = [consumerGroupKind, shareGroupKind].filter(kind => kind.missingHere(destination) === undefined)
  const offsets: GroupOffset[] = []
  for (const kind of kinds) {
    const found = await kind.here(destination, group)
    if (found.kind !== 'offsets') throw linkError('GROUP_NOT_ADOPTABLE', { group, reason: found.message })
    offsets.push(...found.offsets)
  }
  return offsets
}
