/** The consumer group that a heartbeat is for: the one that is there, a new one, or a classic one that becomes a consumer group (KIP-848). */
import type { Uuid } from '../../core/uuid.ts'
import { ErrorCode } from '../../protocol/errors.ts'
import type { ClassicGroup } from '../groups/classic-group.ts'
import type { GroupMember } from '../groups/group-member.ts'
import { groupTombstone } from '../groups/group-records.ts'
import { CoordinatorError } from '../runtime/coordinator-error.ts'
import { ConsumerGroup, descriptionOf } from './consumer-group.ts'
import { newMember, sortedNames } from './consumer-member.ts'
import type { AlsoWritten, ConsumerMembership } from './consumer-membership.ts'
import { byTopicId, readAssignment, readSubscription } from './embedded-protocol.ts'
import { GroupDraft } from './group-draft.ts'
import {
  addEpoched,
  addPartition,
  contains,
  type EpochedPartitions,
  eachPartition,
  NO_PARTITIONS,
  type Partitions,
} from './partition-sets.ts'

export interface OpenedGroup {
  readonly draft: GroupDraft
  readonly also: AlsoWritten
  /** To be called when the draft is taken. */
  committed(): void
}

/** Throws CoordinatorError GROUP_ID_NOT_FOUND. */
export function openConsumerGroup(shard: ConsumerMembership, groupId: string, create: boolean): OpenedGroup {
  const present = shard.get(groupId)
  if (present) return { draft: new GroupDraft(present), also: {}, committed: () => {} }
  const classic = shard.context.classicGroups.get(groupId)
  if (shard.context.isTaken(groupId))
    throw new CoordinatorError(ErrorCode.GROUP_ID_NOT_FOUND, `Group ${groupId} is not a consumer group.`)
  if (!create) throw new CoordinatorError(ErrorCode.GROUP_ID_NOT_FOUND, `Group ${groupId} not found.`)
  const isFree = !classic || classic.state === 'Empty'
  const draft = isFree ? new GroupDraft(new ConsumerGroup(groupId)) : upgraded(shard, classic)
  const end = () => {
    if (!classic) return
    shard.context.classicGroups.delete(groupId)
    // Who waits has to join again, and becomes a member of the consumer group then.
    classic.end(ErrorCode.REBALANCE_IN_PROGRESS, shard.nowMs)
    for (const member of draft.group.members.values()) if (member.classic) shard.restartSession(groupId, member)
    if (!isFree) shard.context.logger.info('a classic group has become a consumer group', { group: groupId })
  }
  return { draft, also: classic ? { before: [groupTombstone(groupId)] } : {}, committed: end }
}

/** Everybody keeps what the classic group had given. */
function upgraded(shard: ConsumerMembership, classic: ClassicGroup): GroupDraft {
  const { consumer } = shard.context.settings
  const refuse = (reason: string) => {
    shard.context.logger.info('a classic group cannot become a consumer group', { group: classic.id, reason })
    return new CoordinatorError(ErrorCode.GROUP_ID_NOT_FOUND, `Group ${classic.id} is not a consumer group.`)
  }
  if (!consumer.mayUpgrade) throw refuse('group.consumer.migration.policy')
  if (!classic.isConsumerGroup) throw refuse('its members are no consumers')
  if (classic.members.size > consumer.membersMax) throw refuse('group.consumer.max.size')
  const draft = new GroupDraft(new ConsumerGroup(classic.id))
  const targets = new Map<string, Partitions>()
  const owned = new Map<string, Partitions>()
  for (const member of classic.members.values()) {
    const read = readMember(shard, classic, member)
    if (!read) throw refuse('what its members tell each other cannot be read')
    draft.apply({ kind: 'member', memberId: member.id, value: read.description })
    targets.set(member.id, read.assigned)
    owned.set(member.id, read.owned)
  }
  keepOwned(targets, owned)
  const { generation: epoch } = classic
  draft.apply({ kind: 'epoch', value: { epoch, hash: 0n } })
  for (const [memberId, value] of targets) draft.apply({ kind: 'target', memberId, value })
  draft.apply({ kind: 'target-epoch', value: { epoch, timestampMs: undefined } })
  for (const [memberId, target] of targets) {
    const value = {
      epoch,
      previousEpoch: epoch,
      state: 'stable' as const,
      assigned: epoched(target, epoch),
      revoking: new Map(),
    }
    draft.apply({ kind: 'progress', memberId, value })
  }
  return draft
}

function readMember(shard: ConsumerMembership, classic: ClassicGroup, member: GroupMember) {
  const image = shard.context.image()
  const known = member.protocols.find(({ name }) => name === classic.protocolName) ?? member.protocols[0]
  const subscription = known && readSubscription(known.metadata)
  const assigned = readAssignment(member.assignment, image)
  if (!subscription || !assigned) return undefined
  const description = descriptionOf({
    ...newMember(member.id),
    instanceId: member.groupInstanceId,
    rackId: subscription.rackId,
    clientId: member.clientId,
    clientHost: member.clientHost,
    rebalanceTimeoutMs: member.rebalanceTimeoutMs,
    topics: sortedNames(subscription.topics),
    classic: { sessionTimeoutMs: member.sessionTimeoutMs, protocols: member.protocols },
  })
  return { description, assigned, owned: byTopicId(subscription.owned, image) }
}

/**
 * A rebalance that began during another one has forgotten who has what. Who has no assignment has what it said when it joined, as far as
 * nobody else has it.
 */
function keepOwned(targets: Map<string, Partitions>, owned: ReadonlyMap<string, Partitions>): void {
  const taken = [...targets.values()]
  for (const [memberId, target] of targets) {
    if (target.size > 0) continue
    const kept = new Map<Uuid, Set<number>>()
    for (const [topicId, partition] of eachPartition(owned.get(memberId) ?? NO_PARTITIONS))
      if (!taken.some(partitions => contains(partitions, topicId, partition))) addPartition(kept, topicId, partition)
    targets.set(memberId, kept)
    taken.push(kept)
  }
}

function epoched(partitions: Partitions, epoch: number): EpochedPartitions {
  const made = new Map<Uuid, Map<number, number>>()
  for (const [topicId, partition] of eachPartition(partitions)) addEpoched(made, topicId, { partition, epoch })
  return made
}
