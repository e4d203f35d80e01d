/** What can change in a share group, and its records in `__consumer_offsets` as Kafka 4.3 writes them; drafts and replay go through it. */
import {
  ShareGroupMemberMetadataKey,
  ShareGroupMemberMetadataValue,
} from '../../protocol/coordinator-records/group-10-share-group-member-metadata.ts'
import {
  ShareGroupMetadataKey,
  ShareGroupMetadataValue,
} from '../../protocol/coordinator-records/group-11-share-group-metadata.ts'
import {
  ShareGroupTargetAssignmentMetadataKey,
  ShareGroupTargetAssignmentMetadataValue,
} from '../../protocol/coordinator-records/group-12-share-group-target-assignment-metadata.ts'
import {
  ShareGroupTargetAssignmentMemberKey,
  ShareGroupTargetAssignmentMemberValue,
} from '../../protocol/coordinator-records/group-13-share-group-target-assignment-member.ts'
import {
  ShareGroupCurrentMemberAssignmentKey,
  ShareGroupCurrentMemberAssignmentValue,
} from '../../protocol/coordinator-records/group-14-share-group-current-member-assignment.ts'
import {
  ShareGroupStatePartitionMetadataKey,
  ShareGroupStatePartitionMetadataValue,
} from '../../protocol/coordinator-records/group-15-share-group-state-partition-metadata.ts'
import { decodeRecordValue, encodeRecordKey, encodeRecordValue } from '../../protocol/coordinator-records/registry.ts'
import { Reader } from '../../protocol/schema/reader.ts'
import { sortedNames } from '../consumer-groups/consumer-member.ts'
import { type Partitions, partitionsOf, topicPartitions } from '../consumer-groups/partition-sets.ts'
import type { StateRecord } from '../runtime/load-records.ts'
import type { ShareGroup } from './share-group.ts'
import type { ShareMemberDescription, ShareMemberProgress } from './share-member.ts'
import { NO_STATE, type StateTopics } from './state-topics.ts'
import { stateTopicsFromRecord, stateTopicsToRecord } from './state-topics-record.ts'

/** A `value` that is undefined ends the thing: a tombstone. */
export type ShareChange =
  | { readonly kind: 'epoch'; readonly value: { readonly epoch: number; readonly hash: bigint } | undefined }
  | { readonly kind: 'member'; readonly memberId: string; readonly value: ShareMemberDescription | undefined }
  | {
      readonly kind: 'target-epoch'
      readonly value: { readonly epoch: number; readonly timestampMs: number | undefined } | undefined
    }
  | { readonly kind: 'target'; readonly memberId: string; readonly value: Partitions | undefined }
  | { readonly kind: 'progress'; readonly memberId: string; readonly value: ShareMemberProgress | undefined }
  | { readonly kind: 'state-topics'; readonly value: StateTopics | undefined }

/** "Stable" in records: members of share groups are in no other state. */
const STABLE = 0

export function applyShareChange(group: ShareGroup, change: ShareChange): void {
  switch (change.kind) {
    case 'epoch':
      group.epoch = change.value?.epoch ?? 0
      group.metadataHash = change.value?.hash ?? 0n
      return
    case 'member':
      return group.describeMember(change.memberId, change.value)
    case 'target-epoch':
      group.targetEpoch = change.value?.epoch ?? 0
      group.targetMs = change.value?.timestampMs
      return
    case 'target':
      return group.setTarget(change.memberId, change.value)
    case 'progress':
      return group.setProgress(change.memberId, change.value)
    case 'state-topics':
      group.stateTopics = change.value ?? NO_STATE
  }
}

export const shareRecordOf = (groupId: string, change: ShareChange): StateRecord => ({
  key: keyOf(groupId, change),
  value: change.value === undefined ? null : bodyOf(change),
})

function keyOf(groupId: string, change: ShareChange): Buffer {
  switch (change.kind) {
    case 'epoch':
      return encodeRecordKey(ShareGroupMetadataKey, { groupId })
    case 'member':
      return encodeRecordKey(ShareGroupMemberMetadataKey, { groupId, memberId: change.memberId })
    case 'target-epoch':
      return encodeRecordKey(ShareGroupTargetAssignmentMetadataKey, { groupId })
    case 'target':
      return encodeRecordKey(ShareGroupTargetAssignmentMemberKey, { groupId, memberId: change.memberId })
    case 'progress':
      return encodeRecordKey(ShareGroupCurrentMemberAssignmentKey, { groupId, memberId: change.memberId })
    case 'state-topics':
      return encodeRecordKey(ShareGroupStatePartitionMetadataKey, { groupId })
  }
}

function bodyOf(change: ShareChange): Buffer | null {
  if (change.value === undefined) return null
  switch (change.kind) {
    case 'epoch': {
      const { epoch, hash } = change.value
      return encodeRecordValue(ShareGroupMetadataValue, { epoch, metadataHash: hash }, 0)
    }
    case 'member': {
      const { rackId, clientId, clientHost, topics } = change.value
      const value = { rackId, clientId, clientHost, subscribedTopicNames: [...topics] }
      return encodeRecordValue(ShareGroupMemberMetadataValue, value, 0)
    }
    case 'target-epoch': {
      const { epoch, timestampMs = 0 } = change.value
      const value = { assignmentEpoch: epoch, assignmentTimestamp: BigInt(timestampMs) }
      return encodeRecordValue(ShareGroupTargetAssignmentMetadataValue, value, 0)
    }
    case 'target': {
      const value = { topicPartitions: topicPartitions(change.value) }
      return encodeRecordValue(ShareGroupTargetAssignmentMemberValue, value, 0)
    }
    case 'progress': {
      const { epoch, previousEpoch, assigned } = change.value
      const value = {
        memberEpoch: epoch,
        previousMemberEpoch: previousEpoch,
        state: STABLE,
        assignedPartitions: topicPartitions(assigned),
      }
      return encodeRecordValue(ShareGroupCurrentMemberAssignmentValue, value, 0)
    }
    case 'state-topics':
      return encodeRecordValue(ShareGroupStatePartitionMetadataValue, stateTopicsToRecord(change.value), 0)
  }
}

/** undefined: the record is of no share group. Throws DecodeError. */
export function shareChangeOf(
  type: number,
  { key, value }: StateRecord,
): { readonly groupId: string; readonly change: ShareChange } | undefined {
  const body = new Reader(key.subarray(2))
  switch (type) {
    case ShareGroupMetadataKey.apiKey: {
      const read = value && decodeRecordValue(ShareGroupMetadataValue, value).value
      const change = read ? { epoch: read.epoch, hash: read.metadataHash } : undefined
      return { groupId: ShareGroupMetadataKey.read(body, 0).groupId, change: { kind: 'epoch', value: change } }
    }
    case ShareGroupMemberMetadataKey.apiKey: {
      const { groupId, memberId } = ShareGroupMemberMetadataKey.read(body, 0)
      return { groupId, change: { kind: 'member', memberId, value: value ? memberFrom(value) : undefined } }
    }
    case ShareGroupTargetAssignmentMetadataKey.apiKey: {
      const { groupId } = ShareGroupTargetAssignmentMetadataKey.read(body, 0)
      return { groupId, change: { kind: 'target-epoch', value: value ? targetEpochFrom(value) : undefined } }
    }
    case ShareGroupTargetAssignmentMemberKey.apiKey: {
      const { groupId, memberId } = ShareGroupTargetAssignmentMemberKey.read(body, 0)
      const read = value && decodeRecordValue(ShareGroupTargetAssignmentMemberValue, value).value
      return {
        groupId,
        change: { kind: 'target', memberId, value: read ? partitionsOf(read.topicPartitions) : undefined },
      }
    }
    case ShareGroupCurrentMemberAssignmentKey.apiKey: {
      const { groupId, memberId } = ShareGroupCurrentMemberAssignmentKey.read(body, 0)
      return { groupId, change: { kind: 'progress', memberId, value: value ? progressFrom(value) : undefined } }
    }
    case ShareGroupStatePartitionMetadataKey.apiKey: {
      const { groupId } = ShareGroupStatePartitionMetadataKey.read(body, 0)
      const read = value && decodeRecordValue(ShareGroupStatePartitionMetadataValue, value).value
      return { groupId, change: { kind: 'state-topics', value: read ? stateTopicsFromRecord(read) : undefined } }
    }
    default:
      return undefined
  }
}

function memberFrom(bytes: Buffer): ShareMemberDescription {
  const { value } = decodeRecordValue(ShareGroupMemberMetadataValue, bytes)
  const { rackId, clientId, clientHost, subscribedTopicNames } = value
  return { rackId, clientId, clientHost, topics: sortedNames(subscribedTopicNames) }
}

function targetEpochFrom(bytes: Buffer): { epoch: number; timestampMs: number | undefined } {
  const { value } = decodeRecordValue(ShareGroupTargetAssignmentMetadataValue, bytes)
  const { assignmentEpoch, assignmentTimestamp } = value
  return { epoch: assignmentEpoch, timestampMs: assignmentTimestamp === 0n ? undefined : Number(assignmentTimestamp) }
}

function progressFrom(bytes: Buffer): ShareMemberProgress {
  const { value } = decodeRecordValue(ShareGroupCurrentMemberAssignmentValue, bytes)
  const { memberEpoch, previousMemberEpoch, assignedPartitions } = value
  return { epoch: memberEpoch, previousEpoch: previousMemberEpoch, assigned: partitionsOf(assignedPartitions) }
}
