/** JoinGroup: a client becomes a member, or comes again for the next generation; the group coordinator calls it. */
import { randomUUID } from 'node:crypto'
import { ErrorCode } from '../../protocol/errors.ts'
import { coordinatorErrorCode } from '../runtime/coordinator-error.ts'
import { type ClassicGroup, joinAnswer } from './classic-group.ts'
import type { GroupMember, JoinAnswer, MemberDescription } from './group-member.ts'
import { emptyGroupRecord, groupRecord } from './group-records.ts'
import type { ServedShard } from './served-shard.ts'

export interface JoinRequest {
  readonly groupId: string
  /** Empty: not known yet. */
  readonly memberId: string
  readonly description: MemberDescription
  /** The client expects MEMBER_ID_REQUIRED with its new id first (KIP-394, version 4). */
  readonly acceptsMemberIdFirst: boolean
  /** The client understands `skipAssignment` (KIP-814, version 9). */
  readonly mayBeToldToSkip: boolean
  /** What the client says why it joins, for the log. */
  readonly reason: string | null
}

/** Ids given out and not used yet, per group: a client in a loop must not fill the memory. */
const PENDING_MEMBERS_MAX = 10_000

/** Protocols of one member whose metadata could fill a record each; one of them is stored in the end. */
const PROTOCOLS_MAX = 4

type AnswerJoin = (answer: JoinAnswer) => void

/** Resolves when the member has its place in a generation, or with why it has none. */
export const joinGroup = (shard: ServedShard, request: JoinRequest): Promise<JoinAnswer> =>
  new Promise(answer => begin(shard, request, answer))

function begin(shard: ServedShard, request: JoinRequest, answer: AnswerJoin): void {
  const { groupId, memberId } = request
  const known = shard.state.groups.get(groupId)
  if (!known && !shard.freeForeign(groupId)) return answer(joinAnswer(ErrorCode.INCONSISTENT_GROUP_PROTOCOL, ''))
  if (!known && memberId !== '') return answer(joinAnswer(ErrorCode.UNKNOWN_MEMBER_ID, memberId))
  const bytes = request.description.protocols.reduce((sum, { metadata }) => sum + metadata.length, 0)
  // What could never be stored in a record need not be kept in memory.
  if (bytes > shard.recordBytesMax * PROTOCOLS_MAX) return answer(joinAnswer(ErrorCode.UNKNOWN_SERVER_ERROR, memberId))
  const group = known ?? shard.createGroup(groupId)
  if (!accepts(shard, group, memberId)) {
    const member = group.members.get(memberId)
    if (member) shard.rebalancing.remove(group, member)
    else group.forgetPending(memberId)
    answer(joinAnswer(ErrorCode.GROUP_MAX_SIZE_REACHED, ''))
    // Perhaps it was the last that the others waited for.
    void shard.rebalancing.completeIfAllJoined(group)
  } else if (memberId === '') joinAsNew(shard, { group, request }, answer)
  else joinAgain(shard, { group, request }, answer)
  // The group exists from now on, and will after a restart.
  if (!known) shard.writeUnwatched([emptyGroupRecord(group)])
}

/**
 * While it rebalances, a group takes as many members as have joined already; those who come last are too many. Otherwise
 * members may stay, and others come while there is room.
 */
function accepts(shard: ServedShard, group: ClassicGroup, memberId: string): boolean {
  const { membersMax } = shard.rebalancing.settings
  switch (group.state) {
    case 'PreparingRebalance':
      return group.members.get(memberId)?.answerJoin !== undefined || group.waitingJoins < membersMax
    case 'CompletingRebalance':
    case 'Stable':
      return group.members.has(memberId) || group.members.size < membersMax
    default:
      return true
  }
}

interface Joining {
  readonly group: ClassicGroup
  readonly request: JoinRequest
}

function joinAsNew(shard: ServedShard, joining: Joining, answer: AnswerJoin): void {
  const { group, request } = joining
  const { description } = request
  const { groupInstanceId, clientId, protocolType, protocols } = description
  if (!group.supports(protocolType, protocols)) return answer(joinAnswer(ErrorCode.INCONSISTENT_GROUP_PROTOCOL, ''))
  const id = `${groupInstanceId ?? clientId}-${randomUUID()}`
  if (groupInstanceId !== null) {
    const present = group.staticMemberId(groupInstanceId)
    const replaced = present === undefined ? undefined : group.members.get(present)
    if (replaced) replaceStatic(shard, { ...joining, replaced, newId: id }, answer)
    else shard.rebalancing.add(group, { id, description }, answer)
  } else if (request.acceptsMemberIdFirst) {
    if (group.pendingMembers.size >= PENDING_MEMBERS_MAX)
      return answer(joinAnswer(ErrorCode.GROUP_MAX_SIZE_REACHED, ''))
    shard.rebalancing.expect(group, id, description.sessionTimeoutMs)
    answer(joinAnswer(ErrorCode.MEMBER_ID_REQUIRED, id))
  } else shard.rebalancing.add(group, { id, description }, answer)
}

function joinAgain(shard: ServedShard, { group, request }: Joining, answer: AnswerJoin): void {
  const { memberId, description } = request
  const { groupInstanceId, protocolType, protocols } = description
  if (!group.supports(protocolType, protocols))
    return answer(joinAnswer(ErrorCode.INCONSISTENT_GROUP_PROTOCOL, memberId))
  if (group.pendingMembers.has(memberId)) {
    // Ids are given out to dynamic members only.
    if (groupInstanceId !== null) return answer(joinAnswer(ErrorCode.UNKNOWN_SERVER_ERROR, memberId))
    return shard.rebalancing.add(group, { id: memberId, description }, answer)
  }
  let member: GroupMember
  try {
    member = group.checkMember(memberId, groupInstanceId)
  } catch (error) {
    return answer(joinAnswer(coordinatorErrorCode(error), memberId))
  }
  // Whoever says nothing new gets the present generation again: perhaps an answer was lost. A leader that comes again when all
  // is well wants another assignment.
  const isSettled = group.state === 'CompletingRebalance' || (group.state === 'Stable' && group.leaderId !== memberId)
  if (isSettled && member.knows(protocols)) return answer(group.joined(member))
  shard.rebalancing.update(group, { member, to: description, reason: request.reason }, answer)
}

/** A static member came back under its instance id: it takes over the place and assignment of its old member id (KIP-345). */
function replaceStatic(
  shard: ServedShard,
  joining: Joining & { readonly replaced: GroupMember; readonly newId: string },
  answer: AnswerJoin,
): void {
  const { group, request, replaced, newId } = joining
  const { rebalancing } = shard
  const leaderBefore = group.leaderId ?? ''
  fence(group, replaced)
  const member = group.replaceStatic(replaced, newId)
  rebalancing.restartSession(group, member)
  rebalancing.describe(group, { member, to: request.description })
  group.waitForJoin(member, answer)
  switch (group.state) {
    case 'Stable':
      if (group.selectProtocol() === group.protocolName)
        return keepGeneration(shard, { ...joining, member, leaderBefore })
      return void rebalancing.prepare(group, `static member ${newId} changes the protocol`)
    case 'CompletingRebalance':
      // The leader may be assigning to the old id.
      return void rebalancing.prepare(group, `static member ${newId} replaces ${replaced.id}`)
    default:
      return void rebalancing.completeIfAllJoined(group)
  }
}

/** Who still uses the old member id learns that it is not the only one. */
function fence(group: ClassicGroup, replaced: GroupMember): void {
  group.answerJoin(replaced, joinAnswer(ErrorCode.FENCED_INSTANCE_ID, replaced.id))
  const send = replaced.answerSync
  replaced.answerSync = undefined
  const nothing = { protocolType: null, protocolName: null, assignment: Buffer.alloc(0) }
  send?.({ errorCode: ErrorCode.FENCED_INSTANCE_ID, ...nothing })
}

/** Nobody else needs to notice the new member id; it is answered once it would be found after a restart. */
function keepGeneration(
  shard: ServedShard,
  { group, request, member, leaderBefore }: Joining & { readonly member: GroupMember; readonly leaderBefore: string },
): void {
  const { generation } = group
  const assignments = new Map([...group.members.values()].map(({ id, assignment }) => [id, assignment]))
  const done = () => {
    // A rebalance that began meanwhile answers the member itself.
    if (group.state !== 'Stable' || group.generation !== generation) return
    const joined = group.joined(member)
    const isLeader = group.leaderId === member.id
    const withoutSkip = { ...joined, leader: leaderBefore, members: [] }
    group.answerJoin(member, request.mayBeToldToSkip ? { ...joined, skipAssignment: isLeader } : withoutSkip)
  }
  shard.write([groupRecord(group, assignments)]).then(done, error => {
    group.answerJoin(member, joinAnswer(coordinatorErrorCode(error), ''))
    if (group.state === 'Stable') void shard.rebalancing.prepare(group, 'a static member could not be stored')
  })
}
