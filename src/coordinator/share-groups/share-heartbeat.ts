/** ShareGroupHeartbeat: share consumers of KIP-932 join, stay and leave with it; the group coordinator calls it. */
import type { Uuid } from '../../core/uuid.ts'
import type { MetadataImage } from '../../metadata/metadata-image.ts'
import { ErrorCode } from '../../protocol/errors.ts'
import { sortedNames } from '../consumer-groups/consumer-member.ts'
import { metadataHashOf } from '../consumer-groups/metadata-hash.ts'
import { type Partitions, samePartitions, topicPartitions } from '../consumer-groups/partition-sets.ts'
import { CoordinatorError } from '../runtime/coordinator-error.ts'
import { beginInitialising, initialise, missingState, type WantedState } from './initialise-state.ts'
import { makeShareTarget } from './make-share-target.ts'
import { ShareDraft } from './share-draft.ts'
import type { ShareGroup } from './share-group.ts'
import { newShareMember, type ShareMember, sameShareDescription, sameTopics } from './share-member.ts'
import type { ShareMembership } from './share-membership.ts'

/** null: as it was told before. */
export interface ShareHeartbeat {
  readonly groupId: string
  /** Chosen by the client. */
  readonly memberId: string
  /** 0 joins, -1 leaves. */
  readonly memberEpoch: number
  readonly rackId: string | null
  readonly clientId: string
  readonly clientHost: string
  readonly subscribedTopicNames: readonly string[] | null
}

export interface ShareHeartbeatAnswer {
  readonly errorCode: number
  readonly errorMessage: string | null
  readonly memberId: string | null
  readonly memberEpoch: number
  readonly heartbeatIntervalMs: number
  /** null: as told before. */
  readonly assignment: { readonly topicPartitions: { topicId: Uuid; partitions: number[] }[] } | null
}

const LEAVE_EPOCH = -1

export const shareHeartbeatFailure = (errorCode: number, errorMessage: string | null): ShareHeartbeatAnswer => ({
  errorCode,
  errorMessage,
  memberId: null,
  memberEpoch: 0,
  heartbeatIntervalMs: 0,
  assignment: null,
})

/** Resolves when everything that it tells is durable, and the state of new partitions was made. Throws CoordinatorError. */
export async function shareHeartbeat(shard: ShareMembership, request: ShareHeartbeat): Promise<ShareHeartbeatAnswer> {
  checkRequest(request)
  const { answer, wanted } = request.memberEpoch === LEAVE_EPOCH ? leave(shard, request) : stay(shard, request)
  await shard.context.settled()
  const [failure] = wanted ? await initialise(shard, request.groupId, wanted) : []
  if (failure) throw new CoordinatorError(failure.errorCode)
  return answer
}

interface Heard {
  readonly answer: ShareHeartbeatAnswer
  readonly wanted?: WantedState | undefined
}

function stay(shard: ShareMembership, request: ShareHeartbeat): Heard {
  const { groupId, memberId, memberEpoch } = request
  const joins = memberEpoch === 0
  const draft = new ShareDraft(joins ? shard.presentOrNew(groupId) : shard.present(groupId))
  checkSize(shard, draft.group, memberId)
  const member =
    knownMember(draft.group, memberId) ?? (joins ? newShareMember(memberId) : unknownMember(groupId, memberId))
  checkEpoch(member, memberEpoch)
  const advanced = advance(shard, draft, { member, described: describedMember(member, request) })
  const wanted = missingState(shard, draft)
  if (wanted) beginInitialising(shard, draft, wanted)
  shard.commit(draft)
  shard.restartSession(groupId, memberId)
  const isFull = joins || request.subscribedTopicNames !== null
  const tells = isFull || !samePartitions(member.assigned, advanced.assigned)
  const answer = {
    errorCode: ErrorCode.NONE,
    errorMessage: null,
    memberId,
    memberEpoch: advanced.epoch,
    heartbeatIntervalMs: shard.settingsOf(groupId).heartbeatIntervalMs,
    assignment: tells ? { topicPartitions: topicPartitions(advanced.assigned) } : null,
  }
  return { answer, wanted }
}

/** The member after it: the group's epoch, its target, and all of the target at once. */
function advance(
  shard: ShareMembership,
  draft: ShareDraft,
  { member, described }: { member: ShareMember; described: ShareMember },
): ShareMember {
  const image = shard.context.image()
  const { nowMs } = shard
  if (!draft.group.members.has(member.id) || !sameShareDescription(member, described)) draft.describe(described)
  const isSettled = draft.group.targetEpoch >= draft.group.epoch
  const isNew =
    !sameTopics(member, described) || (isSettled && isUnassigned(draft.group, image)) || topicsChanged(draft, image)
  if (isNew) draft.bumpEpoch(image)
  const { epoch, targetEpoch, targetMs, id } = draft.group
  const isDue = targetMs === undefined || nowMs - targetMs >= shard.settingsOf(id).assignmentIntervalMs
  if (epoch > targetEpoch && isDue) makeShareTarget(draft, { image, nowMs })
  const { group } = draft
  if (described.epoch === group.targetEpoch && !isNew) return described
  const assigned = subscribedOf(group.targetOf(described.id), described, image)
  const hasMoved = described.epoch !== group.targetEpoch
  if (!hasMoved && samePartitions(assigned, described.assigned)) return described
  const epochs = hasMoved ? { epoch: group.targetEpoch, previousEpoch: described.epoch } : {}
  const advanced = { ...described, ...epochs, assigned }
  draft.setProgress(advanced)
  return advanced
}

/** Are there partitions with state that members subscribe to and nobody has, or some that are gone? */
function isUnassigned({ stateTopics, targets, subscribed }: ShareGroup, image: MetadataImage): boolean {
  for (const [topicId, states] of stateTopics.initialised) {
    const topic = image.topics.get(topicId)
    if (!topic || !subscribed.has(topic.name)) continue
    const wanted = [...states.partitions].filter(partition => partition < topic.partitions.length)
    const given = new Set([...targets.values()].flatMap(target => [...(target.get(topicId)?.keys() ?? [])]))
    if (given.size !== wanted.length || wanted.some(partition => !given.has(partition))) return true
  }
  return false
}

/** Has something happened to the topics that the group subscribes to? Compares only when any topic has changed. */
function topicsChanged({ group }: ShareDraft, image: MetadataImage): boolean {
  if (group.topicsSeen === image.topics) return false
  if (metadataHashOf(image, group.subscribed) !== group.metadataHash) return true
  group.topicsSeen = image.topics
  return false
}

/** A target may be older than the subscription. */
function subscribedOf(target: Partitions, { topics }: ShareMember, image: MetadataImage): Partitions {
  const names = new Set(topics)
  return new Map([...target].filter(([topicId]) => names.has(image.topics.get(topicId)?.name ?? '')))
}

const knownMember = (group: ShareGroup, memberId: string): ShareMember | undefined => group.members.get(memberId)

function unknownMember(groupId: string, memberId: string): never {
  throw new CoordinatorError(ErrorCode.UNKNOWN_MEMBER_ID, `${memberId} is no member of ${groupId}`)
}

const describedMember = (member: ShareMember, request: ShareHeartbeat): ShareMember => ({
  ...member,
  rackId: request.rackId ?? member.rackId,
  clientId: request.clientId,
  clientHost: request.clientHost,
  topics: request.subscribedTopicNames === null ? member.topics : sortedNames(request.subscribedTopicNames),
})

function checkSize(shard: ShareMembership, { id, members }: ShareGroup, memberId: string): void {
  const { membersMax } = shard.context.settings.share
  if (members.size >= membersMax && !members.has(memberId))
    throw new CoordinatorError(
      ErrorCode.GROUP_MAX_SIZE_REACHED,
      `share group ${id} has ${membersMax} members, which is the most`,
    )
}

/** An answer with the present epoch may have been lost: the epoch before is good, too. Whoever joins again is welcome. */
function checkEpoch({ epoch, previousEpoch }: ShareMember, said: number): void {
  if (said === 0 || said === epoch || (said < epoch && said === previousEpoch)) return
  throw new CoordinatorError(
    ErrorCode.FENCED_MEMBER_EPOCH,
    `the member is in epoch ${epoch}, not in ${said}: it has to join again, without partitions`,
  )
}

function leave(shard: ShareMembership, { groupId, memberId, memberEpoch }: ShareHeartbeat): Heard {
  const group = shard.present(groupId)
  if (!knownMember(group, memberId)) unknownMember(groupId, memberId)
  shard.fence(group, memberId)
  return { answer: { ...shareHeartbeatFailure(ErrorCode.NONE, null), memberId, memberEpoch } }
}

function checkRequest({ groupId, memberId, memberEpoch, rackId, subscribedTopicNames }: ShareHeartbeat): void {
  const refuse = (message: string) => {
    throw new CoordinatorError(ErrorCode.INVALID_REQUEST, message)
  }
  if (memberId.trim() === '') refuse('the member id is empty')
  if (groupId.trim() === '') refuse('the group id is empty')
  if (rackId?.trim() === '') refuse('the rack is empty')
  if (memberEpoch < LEAVE_EPOCH) refuse('the member epoch is below -1')
  if (memberEpoch === 0 && !subscribedTopicNames?.length) refuse('a member that joins has to subscribe to topics')
}
