/** Members under an instance id (KIP-345): one at a time, and a new member id takes the place of the old one; heartbeats and joins of consumer groups call it. */
import type { Uuid } from '../../core/uuid.ts'
import { ErrorCode } from '../../protocol/errors.ts'
import { CoordinatorError } from '../runtime/coordinator-error.ts'
import type { ConsumerGroup } from './consumer-group.ts'
import type { ConsumerMember } from './consumer-member.ts'
import type { GroupDraft } from './group-draft.ts'
import { addEpoched, type EpochedPartitions, eachPartition } from './partition-sets.ts'

/** Throws CoordinatorError UNKNOWN_MEMBER_ID, or FENCED_INSTANCE_ID where another member took the instance id over. */
export function presentMember(group: ConsumerGroup, memberId: string, instanceId: string | null): ConsumerMember {
  if (instanceId === null) {
    const member = group.members.get(memberId)
    if (!member)
      throw new CoordinatorError(
        ErrorCode.UNKNOWN_MEMBER_ID,
        `Member ${memberId} is not a member of group ${group.id}.`,
      )
    return member
  }
  const member = group.staticMember(instanceId)
  if (!member) throw new CoordinatorError(ErrorCode.UNKNOWN_MEMBER_ID, `Instance id ${instanceId} is unknown.`)
  if (member.id !== memberId)
    throw new CoordinatorError(
      ErrorCode.FENCED_INSTANCE_ID,
      `Static member ${memberId} with instance id ${instanceId} was fenced by member ${member.id}.`,
    )
  return member
}

/** The new member has the place, the target and the partitions of the old one, and begins with epoch 0. */
export function takeOver(draft: GroupDraft, replaced: ConsumerMember, memberId: string): ConsumerMember {
  const target = draft.group.targetOf(replaced.id)
  const assigned = sinceEpochZero(replaced.assigned)
  const member: ConsumerMember = { ...replaced, id: memberId, epoch: 0, previousEpoch: 0, assigned }
  for (const kind of ['progress', 'target', 'member'] as const)
    draft.apply({ kind, memberId: replaced.id, value: undefined })
  draft.describe(member)
  draft.apply({ kind: 'target', memberId, value: target })
  draft.setProgress(member)
  return member
}

/** What a member keeps while it is away can be committed by who comes back, under any epoch. */
export function sinceEpochZero(partitions: EpochedPartitions): EpochedPartitions {
  const made = new Map<Uuid, Map<number, number>>()
  for (const [topicId, partition] of eachPartition(partitions)) addEpoched(made, topicId, { partition, epoch: 0 })
  return made
}
