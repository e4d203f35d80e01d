/** Makes the target of a share group: who is to have which partition; a heartbeat calls it when the group's epoch is ahead of it. */
import type { Uuid } from '../../core/uuid.ts'
import { type MetadataImage, topicByName } from '../../metadata/metadata-image.ts'
import { NO_PARTITIONS, samePartitions } from '../consumer-groups/partition-sets.ts'
import type { ShareDraft } from './share-draft.ts'
import { assignSimply } from './simple-assignor.ts'

/** Only partitions that the share coordinator has state of are given out. Only what differs from the target before is changed. */
export function makeShareTarget(draft: ShareDraft, { image, nowMs }: { image: MetadataImage; nowMs: number }): void {
  const { group } = draft
  const members = [...group.members.values()].map(({ id, topics }) => ({
    id,
    topics: new Set(topics.flatMap(name => topicByName(image, name)?.id ?? [])),
    before: group.targetOf(id),
  }))
  const { initialised } = group.stateTopics
  const assignable = (topicId: Uuid) => {
    const count = image.topics.get(topicId)?.partitions.length ?? 0
    return [...(initialised.get(topicId)?.partitions ?? [])]
      .filter(partition => partition < count)
      .sort((a, b) => a - b)
  }
  const made = assignSimply(members, assignable)
  for (const { id } of members) {
    const before = group.targets.get(id)
    const target = made.get(id) ?? NO_PARTITIONS
    if (!before || !samePartitions(before, target)) draft.apply({ kind: 'target', memberId: id, value: target })
  }
  draft.apply({ kind: 'target-epoch', value: { epoch: group.epoch, timestampMs: nowMs } })
}
