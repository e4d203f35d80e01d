/** SyncGroup, Heartbeat and LeaveGroup: what members ask for between two JoinGroups; the group coordinator calls them. */
import { ErrorCode } from '../../protocol/errors.ts'
import { CoordinatorError, coordinatorErrorCode } from '../runtime/coordinator-error.ts'
import type { ClassicGroup } from './classic-group.ts'
import { NO_ASSIGNMENT, type SyncAnswer } from './group-member.ts'
import type { ServedShard } from './served-shard.ts'

export interface MemberIdentity {
  readonly memberId: string
  readonly groupInstanceId: string | null
}

export interface MemberRequest extends MemberIdentity {
  readonly groupId: string
  readonly generationId: number
}

export interface SyncRequest extends MemberRequest {
  /** null = not said (before version 5). */
  readonly protocolType: string | null
  readonly protocolName: string | null
  /** Member id → assignment; of the leader. */
  readonly assignments: ReadonlyMap<string, Buffer>
}

export const syncFailure = (errorCode: number): SyncAnswer => ({
  errorCode,
  protocolType: null,
  protocolName: null,
  assignment: NO_ASSIGNMENT,
})

/** Resolves to the member's assignment once the leader's is durable. Throws CoordinatorError. */
export async function syncGroup(shard: ServedShard, request: SyncRequest): Promise<SyncAnswer> {
  const group = existing(shard, request.groupId)
  const member = group.checkMember(request.memberId, request.groupInstanceId)
  if (request.generationId !== group.generation) throw new CoordinatorError(ErrorCode.ILLEGAL_GENERATION)
  if (differs(request.protocolType, group.protocolType) || differs(request.protocolName, group.protocolName))
    throw new CoordinatorError(ErrorCode.INCONSISTENT_GROUP_PROTOCOL)
  switch (group.state) {
    case 'PreparingRebalance':
      throw new CoordinatorError(ErrorCode.REBALANCE_IN_PROGRESS)
    case 'Stable': {
      shard.rebalancing.noteSync(group, member)
      const { protocolType = null, protocolName = null } = group
      return { errorCode: ErrorCode.NONE, protocolType, protocolName, assignment: member.assignment }
    }
    default:
      return await new Promise(resolve => {
        member.answerSync?.(syncFailure(ErrorCode.REBALANCE_IN_PROGRESS))
        member.answerSync = resolve
        shard.rebalancing.noteSync(group, member)
        if (group.leaderId === member.id) shard.rebalancing.store(group, request.assignments)
      })
  }
}

const differs = (said: string | null, present: string | undefined): boolean =>
  said !== null && present !== undefined && said !== present

/** The code to answer. Throws CoordinatorError. */
export function heartbeat(shard: ServedShard, request: MemberRequest): number {
  const group = shard.state.groups.get(request.groupId)
  if (!group) return ErrorCode.UNKNOWN_MEMBER_ID
  const member = group.checkMember(request.memberId, request.groupInstanceId)
  if (request.generationId !== group.generation) return ErrorCode.ILLEGAL_GENERATION
  shard.rebalancing.restartSession(group, member)
  return group.state === 'PreparingRebalance' ? ErrorCode.REBALANCE_IN_PROGRESS : ErrorCode.NONE
}

export interface LeftMember extends MemberIdentity {
  readonly errorCode: number
}

/** Resolves when the leaving would be found after a restart, where it leaves the group empty. Throws CoordinatorError. */
export async function leaveGroup(
  shard: ServedShard,
  groupId: string,
  members: readonly MemberIdentity[],
): Promise<LeftMember[]> {
  const group = existing(shard, groupId)
  const left = members.map(member => ({ ...member, errorCode: leave(shard, group, member) }))
  if (left.some(({ errorCode }) => errorCode === ErrorCode.NONE)) {
    const { rebalancing } = shard
    if (group.state === 'PreparingRebalance') await rebalancing.completeIfAllJoined(group)
    else if (group.state !== 'Empty') await rebalancing.prepare(group, 'members left')
  }
  return left
}

/** Administrators remove a static member by its instance id alone. */
function leave(shard: ServedShard, group: ClassicGroup, { memberId, groupInstanceId }: MemberIdentity): number {
  if (group.pendingMembers.has(memberId)) {
    group.forgetPending(memberId)
    return ErrorCode.NONE
  }
  const staticId = groupInstanceId === null ? undefined : group.staticMemberId(groupInstanceId)
  try {
    const member = group.checkMember(memberId === '' ? (staticId ?? '') : memberId, groupInstanceId)
    shard.rebalancing.remove(group, member)
    return ErrorCode.NONE
  } catch (error) {
    return coordinatorErrorCode(error)
  }
}

function existing(shard: ServedShard, groupId: string): ClassicGroup {
  const group = shard.state.groups.get(groupId)
  if (!group) throw new CoordinatorError(ErrorCode.UNKNOWN_MEMBER_ID, `there is no classic group ${groupId}`)
  return group
}
