/** ConsumerGroupHeartbeat: consumers of KIP-848 join, stay, report and leave with it; the group coordinator calls it. */
import { randomUuid, type Uuid } from '../../core/uuid.ts'
import { ErrorCode } from '../../protocol/errors.ts'
import { CoordinatorError } from '../runtime/coordinator-error.ts'
import { advanceMember } from './advance-member.ts'
import type { ConsumerGroup } from './consumer-group.ts'
import { type ConsumerMember, newMember, RELEASED_EPOCH, sortedNames } from './consumer-member.ts'
import type { ConsumerMembership } from './consumer-membership.ts'
import { GroupDraft } from './group-draft.ts'
import { openConsumerGroup } from './open-group.ts'
import {
  isSubset,
  NO_PARTITIONS,
  partitionsOf,
  samePartitions,
  type TopicPartitions,
  topicPartitions,
} from './partition-sets.ts'
import { presentMember, sinceEpochZero, takeOver } from './static-member.ts'
import { compileTopicRegex } from './topic-regex.ts'

/** null: as it was told before. */
export interface ConsumerHeartbeat {
  readonly groupId: string
  readonly memberId: string
  /** 0 joins, -1 leaves, -2 leaves for a while (static members). */
  readonly memberEpoch: number
  readonly instanceId: string | null
  readonly rackId: string | null
  /** -1: as before. */
  readonly rebalanceTimeoutMs: number
  readonly clientId: string
  readonly clientHost: string
  readonly subscribedTopicNames: readonly string[] | null
  readonly subscribedTopicRegex: string | null
  readonly serverAssignor: string | null
  readonly topicPartitions: readonly TopicPartitions[] | null
  /** The client chooses its member id (KIP-1082, version 1). */
  readonly choosesMemberId: boolean
  /** Topics that a regular expression of this client may match. */
  describable(names: readonly string[]): ReadonlySet<string>
}

export interface ConsumerHeartbeatAnswer {
  readonly errorCode: number
  readonly errorMessage: string | null
  readonly memberId: string | null
  readonly memberEpoch: number
  readonly heartbeatIntervalMs: number
  /** null: as told before. */
  readonly assignment: { readonly topicPartitions: { topicId: Uuid; partitions: number[] }[] } | null
}

export const heartbeatFailure = (errorCode: number, errorMessage: string | null): ConsumerHeartbeatAnswer => ({
  errorCode,
  errorMessage,
  memberId: null,
  memberEpoch: 0,
  heartbeatIntervalMs: 0,
  assignment: null,
})

const LEAVE_EPOCH = -1

/** Resolves when everything that it tells is durable. Throws CoordinatorError. */
export async function consumerHeartbeat(
  shard: ConsumerMembership,
  request: ConsumerHeartbeat,
): Promise<ConsumerHeartbeatAnswer> {
  checkRequest(request, shard.context.settings.consumer.assignors)
  const answer = request.memberEpoch < 0 ? leave(shard, request) : stay(shard, request)
  await shard.context.settled()
  return answer
}

function stay(shard: ConsumerMembership, request: ConsumerHeartbeat): ConsumerHeartbeatAnswer {
  const { groupId, memberEpoch } = request
  const joins = memberEpoch === 0
  const { draft, also, committed } = openConsumerGroup(shard, groupId, joins)
  checkSize(shard, draft.group, request.memberId)
  const member = joiningMember(draft, request)
  const owned = request.topicPartitions === null ? undefined : partitionsOf(request.topicPartitions)
  const described = describedMember(member, request)
  const advanced = advanceMember(shard, draft, { member, described, owned, describable: request.describable })
  shard.commit(draft, also)
  committed()
  shard.restartSession(groupId, advanced)
  if (advanced !== member) shard.watchRevocation(groupId, advanced, member)
  const saysAll = request.rebalanceTimeoutMs !== -1 && request.subscribedTopicNames !== null && owned !== undefined
  const isFull = joins || saysAll
  const tells = isFull || !samePartitions(member.assigned, advanced.assigned)
  return {
    errorCode: ErrorCode.NONE,
    errorMessage: null,
    memberId: advanced.id,
    memberEpoch: advanced.epoch,
    heartbeatIntervalMs: shard.settingsOf(groupId).heartbeatIntervalMs,
    assignment: tells ? { topicPartitions: topicPartitions(advanced.assigned) } : null,
  }
}

function checkSize(shard: ConsumerMembership, { members }: ConsumerGroup, memberId: string): void {
  const { membersMax } = shard.context.settings.consumer
  if (members.size >= membersMax && !members.has(memberId))
    throw new CoordinatorError(
      ErrorCode.GROUP_MAX_SIZE_REACHED,
      `The consumer group has reached its maximum capacity of ${membersMax} members.`,
    )
}

/** The member as the group knows it, or a new one; who takes over the place of a static member has it in the draft already. */
function joiningMember(draft: GroupDraft, request: ConsumerHeartbeat): ConsumerMember {
  const { instanceId, memberEpoch } = request
  const memberId = request.memberId === '' ? randomUuid() : request.memberId
  const { group } = draft
  if (instanceId !== null && memberEpoch === 0) {
    const present = group.staticMember(instanceId)
    if (!present) return newMember(memberId)
    if (present.classic === null && present.epoch !== RELEASED_EPOCH)
      throw new CoordinatorError(
        ErrorCode.UNRELEASED_INSTANCE_ID,
        `Static member ${memberId} with instance id ${instanceId} cannot join the group because the instance id is owned by ${present.id} member.`,
      )
    return takeOver(draft, present, memberId)
  }
  const isNew = instanceId === null && memberEpoch === 0 && !group.members.has(memberId)
  const member = isNew ? newMember(memberId) : presentMember(group, memberId, instanceId)
  checkEpoch(member, request)
  return member
}

/** An answer with the present epoch may have been lost: the epoch before is good, while the member has nothing that it should not have. */
function checkEpoch(member: ConsumerMember, { memberEpoch, topicPartitions: owned }: ConsumerHeartbeat): void {
  if (memberEpoch === member.epoch) return
  const isBehind =
    memberEpoch === member.previousEpoch && owned !== null && isSubset(partitionsOf(owned), member.assigned)
  if (memberEpoch < member.epoch && isBehind) return
  const relation = memberEpoch > member.epoch ? 'greater' : 'smaller'
  throw new CoordinatorError(
    ErrorCode.FENCED_MEMBER_EPOCH,
    `The consumer group member has a ${relation} member epoch (${memberEpoch}) than the one known by the group coordinator (${member.epoch}). The member must abandon all its partitions and rejoin.`,
  )
}

const describedMember = (member: ConsumerMember, request: ConsumerHeartbeat): ConsumerMember => ({
  ...member,
  instanceId: request.instanceId ?? member.instanceId,
  rackId: request.rackId ?? member.rackId,
  clientId: request.clientId,
  clientHost: request.clientHost,
  rebalanceTimeoutMs: request.rebalanceTimeoutMs === -1 ? member.rebalanceTimeoutMs : request.rebalanceTimeoutMs,
  topics: request.subscribedTopicNames === null ? member.topics : sortedNames(request.subscribedTopicNames),
  regex: request.subscribedTopicRegex ?? member.regex,
  assignor: request.serverAssignor ?? member.assignor,
  classic: null,
})

function leave(shard: ConsumerMembership, request: ConsumerHeartbeat): ConsumerHeartbeatAnswer {
  const { groupId, memberId, memberEpoch, instanceId } = request
  const group = shard.get(groupId)
  if (!group) throw new CoordinatorError(ErrorCode.GROUP_ID_NOT_FOUND, `Group ${groupId} not found.`)
  const member = presentMember(group, memberId, instanceId)
  if (memberEpoch === LEAVE_EPOCH) shard.fence(group, member)
  else {
    const draft = new GroupDraft(group)
    const assigned = sinceEpochZero(member.assigned)
    draft.setProgress({ ...member, epoch: RELEASED_EPOCH, assigned, revoking: NO_PARTITIONS })
    shard.commit(draft)
    shard.timers.cancel({ kind: 'revocation', groupId, memberId })
  }
  return { ...heartbeatFailure(ErrorCode.NONE, null), memberId, memberEpoch }
}

function checkRequest(request: ConsumerHeartbeat, assignors: readonly string[]): void {
  const { memberEpoch: epoch, memberId, instanceId } = request
  const refuse = (message: string, errorCode: number = ErrorCode.INVALID_REQUEST) => {
    throw new CoordinatorError(errorCode, message)
  }
  if (request.groupId.trim() === '') refuse("GroupId can't be empty.")
  if (instanceId?.trim() === '') refuse("InstanceId can't be empty.")
  if (request.rackId?.trim() === '') refuse("RackId can't be empty.")
  if (memberId.trim() === '' && (request.choosesMemberId || epoch !== 0)) refuse("MemberId can't be empty.")
  if (epoch < RELEASED_EPOCH) refuse(`MemberEpoch is invalid.`)
  if (epoch === RELEASED_EPOCH && instanceId === null) refuse("InstanceId can't be null.")
  if (epoch === 0) {
    if (request.rebalanceTimeoutMs === -1) refuse('RebalanceTimeoutMs must be provided in first request.')
    if (request.topicPartitions === null || request.topicPartitions.length > 0)
      refuse('TopicPartitions must be empty when (re-)joining.')
    if (request.subscribedTopicNames === null && !request.subscribedTopicRegex)
      refuse('Either SubscribedTopicNames or SubscribedTopicRegex must be non-null when (re-)joining.')
  }
  if (request.serverAssignor !== null && !assignors.includes(request.serverAssignor))
    refuse(
      `ServerAssignor ${request.serverAssignor} is not supported. Supported assignors: ${assignors.join(', ')}.`,
      ErrorCode.UNSUPPORTED_ASSIGNOR,
    )
  if (request.subscribedTopicRegex) compileTopicRegex(request.subscribedTopicRegex)
}
