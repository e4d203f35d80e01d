/** JoinGroup, SyncGroup, Heartbeat and LeaveGroup by what the group is: a classic one, or a consumer group that classic members share while it is migrated. */
import {
  heartbeatInConsumerGroup,
  joinConsumerGroup,
  leaveConsumerGroup,
  syncConsumerGroup,
} from '../consumer-groups/classic-members.ts'
import { coordinatorErrorCode } from '../runtime/coordinator-error.ts'
import { joinAnswer } from './classic-group.ts'
import type { JoinAnswer, SyncAnswer } from './group-member.ts'
import { type JoinRequest, joinGroup } from './join-group.ts'
import {
  heartbeat,
  type LeftMember,
  leaveGroup,
  type MemberIdentity,
  type MemberRequest,
  type SyncRequest,
  syncGroup,
} from './membership.ts'
import type { ServedShard } from './served-shard.ts'

/** A consumer group without members makes room for a classic one. */
export async function joinEither(shard: ServedShard, request: JoinRequest): Promise<JoinAnswer> {
  const group = shard.consumers.get(request.groupId)
  if (!group || group.isEmpty) return await joinGroup(shard, request)
  try {
    return await joinConsumerGroup(shard.consumers, group, request)
  } catch (error) {
    return joinAnswer(coordinatorErrorCode(error), request.memberId)
  }
}

/** Throws CoordinatorError. */
export function syncEither(shard: ServedShard, request: SyncRequest): Promise<SyncAnswer> {
  const group = shard.consumers.get(request.groupId)
  return group ? syncConsumerGroup(shard.consumers, group, request) : syncGroup(shard, request)
}

/** The code to answer. Throws CoordinatorError. */
export function heartbeatEither(shard: ServedShard, request: MemberRequest): number {
  const group = shard.consumers.get(request.groupId)
  return group ? heartbeatInConsumerGroup(shard.consumers, group, request) : heartbeat(shard, request)
}

/** Throws CoordinatorError. */
export function leaveEither(
  shard: ServedShard,
  groupId: string,
  members: readonly MemberIdentity[],
): Promise<LeftMember[]> {
  const group = shard.consumers.get(groupId)
  return group ? leaveConsumerGroup(shard.consumers, group, members) : leaveGroup(shard, groupId, members)
}
