/** JoinGroup, SyncGroup, Heartbeat and LeaveGroup of classic members in a consumer group that is being migrated; the group coordinator calls them. */
import { randomUuid } from '../../core/uuid.ts'
import { ErrorCode } from '../../protocol/errors.ts'
import { joinAnswer } from '../groups/classic-group.ts'
import type { JoinAnswer, MemberDescription as JoinDescription, SyncAnswer } from '../groups/group-member.ts'
import { CONSUMER_PROTOCOL } from '../groups/subscribed-topics.ts'
import { CoordinatorError, coordinatorErrorCode } from '../runtime/coordinator-error.ts'
import { advanceMember } from './advance-member.ts'
import type { ConsumerGroup } from './consumer-group.ts'
import { type ConsumerMember, newMember, sortedNames } from './consumer-member.ts'
import type { ConsumerMembership } from './consumer-membership.ts'
import { downgraded } from './downgrade.ts'
import { byTopicId, type ClassicSubscription, readSubscription, writeAssignment } from './embedded-protocol.ts'
import { GroupDraft } from './group-draft.ts'
import { contains, eachPartition } from './partition-sets.ts'
import { presentMember, takeOver } from './static-member.ts'

export interface ClassicJoin {
  readonly groupId: string
  readonly memberId: string
  readonly description: JoinDescription
  readonly acceptsMemberIdFirst: boolean
}

export interface ClassicMember {
  readonly memberId: string
  readonly groupInstanceId: string | null
}

/** Resolves to the member's epoch as its generation: there is no leader, and nobody to wait for. Throws CoordinatorError. */
export async function joinConsumerGroup(
  shard: ConsumerMembership,
  group: ConsumerGroup,
  request: ClassicJoin,
): Promise<JoinAnswer> {
  const { groupId, description } = request
  const { groupInstanceId: instanceId } = description
  const memberId = request.memberId === '' ? randomUuid() : request.memberId
  const { membersMax } = shard.context.settings.consumer
  if (group.members.size >= membersMax && !group.members.has(request.memberId))
    throw new CoordinatorError(ErrorCode.GROUP_MAX_SIZE_REACHED)
  const subscription = subscriptionOf(group, description)
  if (!subscription) throw new CoordinatorError(ErrorCode.INCONSISTENT_GROUP_PROTOCOL)
  if (request.acceptsMemberIdFirst && request.memberId === '' && instanceId === null)
    return joinAnswer(ErrorCode.MEMBER_ID_REQUIRED, memberId)
  const draft = new GroupDraft(group)
  const member = joining(draft, { memberId, instanceId, isUnknown: request.memberId === '' })
  const described = describedMember(member, description, subscription)
  const owned = byTopicId(subscription.owned, shard.context.image())
  const advanced = advanceMember(shard, draft, { member, described, owned })
  const replaced = instanceId === null ? undefined : group.staticMember(instanceId)
  const generationId = commitJoin(shard, draft, { advanced, replaced })
  await shard.context.settled()
  if (shard.get(groupId)?.members.get(advanced.id)) {
    shard.timers.cancel({ kind: 'join', groupId, memberId: advanced.id })
    shard.restartSession(groupId, advanced)
    shard.timers.start({ kind: 'sync', groupId, memberId: advanced.id }, description.rebalanceTimeoutMs)
  }
  return {
    ...joinAnswer(ErrorCode.NONE, advanced.id),
    generationId,
    protocolType: CONSUMER_PROTOCOL,
    protocolName: description.protocols[0]?.name ?? null,
  }
}

/** The generation of the answer. A static member that replaces the last one of the consumer protocol leaves a classic group. */
function commitJoin(
  shard: ConsumerMembership,
  draft: GroupDraft,
  { advanced, replaced }: { advanced: ConsumerMember; replaced: ConsumerMember | undefined },
): number {
  const { group } = draft
  const { consumer, membersMax } = shard.context.settings
  const allClassic = [...group.members.values()].every(({ classic }) => classic !== null)
  const mayDowngrade = consumer.mayDowngrade && group.members.size <= membersMax
  if (replaced && replaced.classic === null && allClassic && mayDowngrade) {
    const classic = downgraded(group, { image: shard.context.image(), nowMs: shard.nowMs })
    shard.becomeClassic(draft, { classic, rebalance: group.state !== 'Stable' })
    return classic.group.generation
  }
  shard.commit(draft)
  if (replaced && replaced.id !== advanced.id) shard.timers.cancelMember(group.id, replaced.id)
  return advanced.epoch
}

/** undefined: the other classic members do not know any of its protocols, or it is no consumer. */
function subscriptionOf(
  group: ConsumerGroup,
  { protocolType, protocols }: JoinDescription,
): ClassicSubscription | undefined {
  const others = [...group.members.values()].flatMap(({ classic }) => (classic ? [classic] : []))
  const isKnown = protocols.some(({ name }) =>
    others.every(classic => classic.protocols.some(protocol => protocol.name === name)),
  )
  const [first] = protocols
  return protocolType === CONSUMER_PROTOCOL && isKnown && first ? readSubscription(first.metadata) : undefined
}

function joining(
  draft: GroupDraft,
  { memberId, instanceId, isUnknown }: { memberId: string; instanceId: string | null; isUnknown: boolean },
): ConsumerMember {
  if (instanceId === null) return draft.group.members.get(memberId) ?? newMember(memberId)
  if (!isUnknown) return presentMember(draft.group, memberId, instanceId)
  const present = draft.group.staticMember(instanceId)
  return present ? takeOver(draft, present, memberId) : newMember(memberId)
}

const describedMember = (
  member: ConsumerMember,
  join: JoinDescription,
  subscription: ClassicSubscription,
): ConsumerMember => ({
  ...member,
  instanceId: join.groupInstanceId ?? member.instanceId,
  rackId: subscription.rackId ?? member.rackId,
  clientId: join.clientId,
  clientHost: join.clientHost,
  rebalanceTimeoutMs: join.rebalanceTimeoutMs,
  topics: sortedNames(subscription.topics),
  classic: { sessionTimeoutMs: join.sessionTimeoutMs, protocols: join.protocols },
})

/** Throws CoordinatorError. */
export async function syncConsumerGroup(
  shard: ConsumerMembership,
  group: ConsumerGroup,
  request: ClassicMember & {
    readonly generationId: number
    readonly protocolType: string | null
    readonly protocolName: string | null
  },
): Promise<SyncAnswer> {
  const { member, classic } = classicMember(group, request)
  const [protocol] = classic.protocols
  if (member.epoch !== request.generationId) throw new CoordinatorError(ErrorCode.ILLEGAL_GENERATION)
  const { protocolType, protocolName } = request
  const differs = (protocolType ?? CONSUMER_PROTOCOL) !== CONSUMER_PROTOCOL
  if (differs || (protocolName ?? protocol?.name) !== protocol?.name)
    throw new CoordinatorError(ErrorCode.INCONSISTENT_GROUP_PROTOCOL)
  const groupId = group.id
  // Who has to revoke has joined again already, and will once more when it has revoked.
  if (group.epoch > member.epoch && member.state !== 'unrevoked') throw rebalancing(shard, groupId, member)
  shard.timers.cancel({ kind: 'sync', groupId, memberId: member.id })
  shard.restartSession(groupId, member)
  await shard.context.settled()
  const assignment = writeAssignment(member.assigned, shard.context.image(), protocol?.metadata ?? Buffer.alloc(0))
  return { errorCode: ErrorCode.NONE, protocolType, protocolName, assignment }
}

/** The code to answer. Throws CoordinatorError. */
export function heartbeatInConsumerGroup(
  shard: ConsumerMembership,
  group: ConsumerGroup,
  request: ClassicMember & { readonly generationId: number },
): number {
  const { member } = classicMember(group, request)
  if (member.epoch !== request.generationId) throw new CoordinatorError(ErrorCode.ILLEGAL_GENERATION)
  shard.restartSession(group.id, member)
  const mustJoin =
    member.epoch < group.epoch ||
    member.state === 'unrevoked' ||
    (member.state === 'unreleased' && !waitsForOthers(group, member))
  return mustJoin ? rebalancing(shard, group.id, member).errorCode : ErrorCode.NONE
}

function waitsForOthers(group: ConsumerGroup, member: ConsumerMember): boolean {
  for (const [topicId, partition] of eachPartition(group.targetOf(member.id)))
    if (!contains(member.assigned, topicId, partition) && group.holderOf(topicId, partition) !== undefined) return true
  return false
}

function rebalancing(shard: ConsumerMembership, groupId: string, member: ConsumerMember): CoordinatorError {
  shard.timers.startOnce({ kind: 'join', groupId, memberId: member.id }, member.rebalanceTimeoutMs)
  return new CoordinatorError(ErrorCode.REBALANCE_IN_PROGRESS)
}

/** Resolves when the leaving is durable. Throws CoordinatorError. */
export async function leaveConsumerGroup(
  shard: ConsumerMembership,
  group: ConsumerGroup,
  leaving: readonly ClassicMember[],
): Promise<(ClassicMember & { readonly errorCode: number })[]> {
  const draft = new GroupDraft(group)
  const left = leaving.map(({ memberId, groupInstanceId }) => {
    try {
      // Administrators remove a static member by its instance id alone.
      const byInstance = groupInstanceId !== null && memberId === '' && draft.group.staticMember(groupInstanceId)
      const id = byInstance ? byInstance.id : memberId
      const { member } = classicMember(draft.group, { memberId: id, groupInstanceId })
      draft.removeMember(member)
      return { memberId: member.id, groupInstanceId, errorCode: ErrorCode.NONE }
    } catch (error) {
      return { memberId, groupInstanceId, errorCode: coordinatorErrorCode(error) }
    }
  })
  if (draft.records.length > 0) draft.bumpEpoch(shard.context.image())
  shard.commit(draft)
  for (const { memberId, errorCode } of left)
    if (errorCode === ErrorCode.NONE) shard.timers.cancelMember(group.id, memberId)
  await shard.context.settled()
  return left
}

/** Throws CoordinatorError UNKNOWN_MEMBER_ID, for members of the consumer protocol too. */
function classicMember(group: ConsumerGroup, { memberId, groupInstanceId }: ClassicMember) {
  const member = presentMember(group, memberId, groupInstanceId)
  if (!member.classic)
    throw new CoordinatorError(ErrorCode.UNKNOWN_MEMBER_ID, `Member ${memberId} does not use the classic protocol.`)
  return { member, classic: member.classic }
}
