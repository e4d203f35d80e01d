/** Records of classic groups and offsets in `__consumer_offsets`, in the versions that Kafka 4.3 writes; GroupShard reads them, operations write them. */
import type { Uuid } from '../../core/uuid.ts'
import { OffsetCommitKey, OffsetCommitValue } from '../../protocol/coordinator-records/group-01-offset-commit.ts'
import {
  GroupMetadataKey,
  GroupMetadataValue,
  type GroupMetadataValue as GroupMetadataValueType,
} from '../../protocol/coordinator-records/group-02-group-metadata.ts'
import { decodeRecordValue, encodeRecordKey, encodeRecordValue } from '../../protocol/coordinator-records/registry.ts'
import type { StateRecord } from '../runtime/state-partitions.ts'
import { ClassicGroup } from './classic-group.ts'
import { GroupMember } from './group-member.ts'
import type { CommittedOffset, OffsetPlace } from './group-offsets.ts'

const OFFSET_VERSION = 4
/** The last version that knows a time at which the offset expires. */
const EXPIRING_OFFSET_VERSION = 1
const GROUP_VERSION = 3

export const offsetKey = (place: OffsetPlace): Buffer => encodeRecordKey(OffsetCommitKey, place)

export function offsetRecord(place: OffsetPlace, offset: CommittedOffset): StateRecord {
  const { expireTimestampMs, leaderEpoch, metadata, topicId } = offset
  const version = expireTimestampMs === undefined ? OFFSET_VERSION : EXPIRING_OFFSET_VERSION
  const value = {
    offset: offset.offset,
    leaderEpoch,
    metadata,
    commitTimestamp: BigInt(offset.commitTimestampMs),
    expireTimestamp: BigInt(expireTimestampMs ?? -1),
    topicId,
  }
  return { key: offsetKey(place), value: encodeRecordValue(OffsetCommitValue, value, version) }
}

export const offsetTombstone = (place: OffsetPlace): StateRecord => ({ key: offsetKey(place), value: null })

/** Throws DecodeError. */
export function readOffset(bytes: Buffer, recordOffset: number): CommittedOffset {
  const { value } = decodeRecordValue(OffsetCommitValue, bytes)
  return {
    offset: value.offset,
    leaderEpoch: value.leaderEpoch,
    metadata: value.metadata,
    commitTimestampMs: Number(value.commitTimestamp),
    expireTimestampMs: value.expireTimestamp === -1n ? undefined : Number(value.expireTimestamp),
    topicId: value.topicId as Uuid,
    recordOffset,
  }
}

/** The group as it is, with the assignments given. */
export function groupRecord(group: ClassicGroup, assignments: ReadonlyMap<string, Buffer>): StateRecord {
  const value = {
    protocolType: group.protocolType ?? '',
    generation: group.generation,
    protocol: group.protocolName ?? null,
    leader: group.leaderId ?? null,
    currentStateTimestamp: BigInt(group.stateChangedMs ?? -1),
    members: [...group.members.values()].map(member => ({
      memberId: member.id,
      groupInstanceId: member.groupInstanceId,
      clientId: member.clientId,
      clientHost: member.clientHost,
      rebalanceTimeout: member.rebalanceTimeoutMs,
      sessionTimeout: member.sessionTimeoutMs,
      subscription: member.metadata(group.protocolName),
      assignment: assignments.get(member.id) ?? Buffer.alloc(0),
    })),
  }
  return {
    key: encodeRecordKey(GroupMetadataKey, { group: group.id }),
    value: encodeRecordValue(GroupMetadataValue, value, GROUP_VERSION),
  }
}

/** What is written before anything is known of a new group. */
export function emptyGroupRecord(group: ClassicGroup): StateRecord {
  const value = {
    protocolType: '',
    generation: 0,
    protocol: null,
    leader: null,
    currentStateTimestamp: BigInt(group.stateChangedMs ?? -1),
    members: [],
  }
  return {
    key: encodeRecordKey(GroupMetadataKey, { group: group.id }),
    value: encodeRecordValue(GroupMetadataValue, value, GROUP_VERSION),
  }
}

export const groupTombstone = (group: string): StateRecord => ({
  key: encodeRecordKey(GroupMetadataKey, { group }),
  value: null,
})

/** Stable with its members, or Empty. Throws DecodeError. */
export function readGroup(id: string, bytes: Buffer): ClassicGroup {
  const { value } = decodeRecordValue(GroupMetadataValue, bytes)
  const { currentStateTimestamp, protocol } = value
  const group = new ClassicGroup(id, {
    state: value.members.length === 0 ? 'Empty' : 'Stable',
    stateChangedMs: currentStateTimestamp === -1n ? undefined : Number(currentStateTimestamp),
  })
  group.generation = value.generation
  group.protocolType = value.protocolType === '' ? undefined : value.protocolType
  group.protocolName = protocol ?? undefined
  group.leaderId = value.leader ?? undefined
  for (const member of value.members) group.add(readMember(value, member))
  group.noteSubscriptions()
  return group
}

function readMember(group: GroupMetadataValueType, member: GroupMetadataValueType['members'][number]): GroupMember {
  const { sessionTimeout, rebalanceTimeout } = member
  const read = new GroupMember(member.memberId, {
    groupInstanceId: member.groupInstanceId,
    clientId: member.clientId,
    clientHost: member.clientHost,
    sessionTimeoutMs: sessionTimeout,
    // Before version 1 there was one timeout for both.
    rebalanceTimeoutMs: rebalanceTimeout === -1 ? sessionTimeout : rebalanceTimeout,
    protocolType: group.protocolType,
    protocols: [{ name: group.protocol ?? '', metadata: Buffer.from(member.subscription) }],
  })
  read.assignment = Buffer.from(member.assignment)
  return read
}
