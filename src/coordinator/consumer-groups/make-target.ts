/** Makes the target of a consumer group: who is to have which partition; advance-member.ts calls it when the group's epoch is ahead of it. */
import type { Uuid } from '../../core/uuid.ts'
import { type MetadataImage, topicByName } from '../../metadata/metadata-image.ts'
import type { AssignedMember } from './assigned-member.ts'
import { assignors } from './assignors.ts'
import type { ConsumerGroup } from './consumer-group.ts'
import type { ConsumerMember } from './consumer-member.ts'
import type { GroupDraft } from './group-draft.ts'
import { NO_PARTITIONS, samePartitions } from './partition-sets.ts'
import { assignUniformly } from './uniform-assignor.ts'

/** Only what differs from the target before is changed. */
export function makeTarget(
  draft: GroupDraft,
  { image, nowMs, supported }: { image: MetadataImage; nowMs: number; supported: readonly string[] },
): void {
  const { group } = draft
  const preferred = group.preferredAssignor
  const name = preferred !== undefined && supported.includes(preferred) ? preferred : supported[0]
  const assign = assignors[name ?? ''] ?? assignUniformly
  const members = [...group.members.values()].map(member => assignedMember(group, member, image))
  const made = assign(members, topicId => image.topics.get(topicId)?.partitions.length ?? 0)
  const changed = members.filter(({ id }) => {
    const before = group.targets.get(id)
    return !before || !samePartitions(before, made.get(id) ?? NO_PARTITIONS)
  })
  for (const { id } of changed) draft.apply({ kind: 'target', memberId: id, value: made.get(id) ?? NO_PARTITIONS })
  draft.apply({ kind: 'target-epoch', value: { epoch: group.epoch, timestampMs: nowMs } })
}

function assignedMember(group: ConsumerGroup, member: ConsumerMember, image: MetadataImage): AssignedMember {
  const topics = new Set<Uuid>()
  for (const name of group.subscriptionOf(member)) {
    const topic = topicByName(image, name)
    if (topic) topics.add(topic.id)
  }
  return { id: member.id, instanceId: member.instanceId, topics, before: group.targetOf(member.id) }
}
