/** ListGroups, DescribeGroups and DeleteGroups: groups as administrators see them; the group coordinator calls them. */
import { ErrorCode } from '../../protocol/errors.ts'
import type { ConsumerGroup } from '../consumer-groups/consumer-group.ts'
import type { ShareGroup } from '../share-groups/share-group.ts'
import { deleteShareGroup } from '../share-groups/share-offsets.ts'
import type { ClassicGroup } from './classic-group.ts'
import { removeOffsets } from './commit-offsets.ts'
import { groupTombstone } from './group-records.ts'
import type { ServedShard } from './served-shard.ts'
import { CONSUMER_PROTOCOL } from './subscribed-topics.ts'

export interface ListedGroup {
  readonly groupId: string
  readonly protocolType: string
  readonly groupState: string
  readonly groupType: string
}

/** Both without regard to case; an empty one lets everything through. */
export interface GroupFilter {
  readonly states: readonly string[]
  readonly types: readonly string[]
}

export function listGroups(shard: ServedShard, { states, types }: GroupFilter): ListedGroup[] {
  const { groups, consumers, shares, foreign } = shard.state
  const wantedStates = new Set(states.map(state => state.trim().toLowerCase()))
  const wantedTypes = new Set(types.map(type => type.toLowerCase()))
  const present = [
    ...[...groups.values()].map(classicEntry),
    ...consumers.all().map(consumerEntry),
    ...shares.all().map(shareEntry),
  ]
  return [...present, ...foreign.ids.flatMap(id => foreignEntry(shard, id))].filter(
    ({ groupState, groupType }) =>
      (wantedStates.size === 0 || wantedStates.has(groupState.toLowerCase())) &&
      (wantedTypes.size === 0 || wantedTypes.has(groupType)),
  )
}

const classicEntry = (group: ClassicGroup): ListedGroup => ({
  groupId: group.id,
  protocolType: group.protocolType ?? '',
  groupState: group.state,
  groupType: 'classic',
})

const consumerEntry = (group: ConsumerGroup): ListedGroup => ({
  groupId: group.id,
  protocolType: CONSUMER_PROTOCOL,
  groupState: group.state,
  groupType: 'consumer',
})

const shareEntry = (group: ShareGroup): ListedGroup => ({
  groupId: group.id,
  protocolType: 'share',
  groupState: group.state,
  groupType: 'share',
})

/** Whether its members live is not known here: nobody hears their heartbeats. */
function foreignEntry(shard: ServedShard, groupId: string): ListedGroup[] {
  const foreign = shard.foreign(groupId)
  if (!foreign) return []
  const { type, isEmpty } = foreign
  return [{ groupId, protocolType: type, groupState: isEmpty ? 'Empty' : 'Unknown', groupType: type }]
}

export interface DescribedMember {
  readonly memberId: string
  readonly groupInstanceId: string | null
  readonly clientId: string
  readonly clientHost: string
  readonly memberMetadata: Buffer
  readonly memberAssignment: Buffer
}

export interface DescribedGroup {
  readonly groupId: string
  readonly groupState: string
  readonly protocolType: string
  readonly protocolData: string
  readonly members: readonly DescribedMember[]
}

/** undefined if there is no classic group of that id. */
export function describeGroup(shard: ServedShard, groupId: string): DescribedGroup | undefined {
  const group = shard.state.groups.get(groupId)
  if (!group) return undefined
  // Before a generation has its assignment, what members said is not settled.
  const protocol = group.state === 'Stable' ? group.protocolName : undefined
  return {
    groupId,
    groupState: group.state,
    protocolType: group.protocolType ?? '',
    protocolData: protocol ?? '',
    members: [...group.members.values()].map(member => ({
      memberId: member.id,
      groupInstanceId: member.groupInstanceId,
      clientId: member.clientId,
      clientHost: member.clientHost,
      memberMetadata: protocol === undefined ? Buffer.alloc(0) : member.metadata(protocol),
      memberAssignment: member.assignment,
    })),
  }
}

/** The code to answer, once the group and its offsets are durably gone. Throws CoordinatorError. */
export async function deleteGroup(shard: ServedShard, groupId: string): Promise<number> {
  const { state } = shard
  const group = state.groups.get(groupId)
  const foreign = shard.foreign(groupId)
  const consumers = shard.consumers.get(groupId)
  const shares = shard.shares.get(groupId)
  if (shares) {
    await deleteShareGroup(shard.shares, shares)
    return ErrorCode.NONE
  }
  if (consumers && !consumers.isEmpty) return ErrorCode.NON_EMPTY_GROUP
  if (!group && !consumers && !foreign) return ErrorCode.GROUP_ID_NOT_FOUND
  if (group ? group.state !== 'Empty' : foreign?.isEmpty === false) return ErrorCode.NON_EMPTY_GROUP
  await removeGroup(shard, groupId)
  return ErrorCode.NONE
}

/** Forgets an empty group with its offsets; resolves when that is durable. */
export async function removeGroup(shard: ServedShard, groupId: string): Promise<void> {
  const { state, rebalancing } = shard
  const group = state.groups.get(groupId)
  const offsetsGone = removeOffsets(shard, state.offsets.placesOf(groupId))
  state.groups.delete(groupId)
  group?.end(ErrorCode.UNKNOWN_MEMBER_ID, rebalancing.nowMs)
  const consumersGone = shard.removeConsumerGroup(groupId)
  const groupGone = group ? shard.write([groupTombstone(groupId)]) : shard.removeForeign(groupId)
  await Promise.all([offsetsGone, consumersGone, groupGone])
}
