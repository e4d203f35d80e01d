/** What can change in a consumer group, and its records in `__consumer_offsets` as Kafka 4.3 writes them; drafts and replay go through it. */
import {
  ConsumerGroupMetadataKey,
  ConsumerGroupMetadataValue,
} from '../../protocol/coordinator-records/group-03-consumer-group-metadata.ts'
import { ConsumerGroupPartitionMetadataKey } from '../../protocol/coordinator-records/group-04-consumer-group-partition-metadata.ts'
import {
  ConsumerGroupMemberMetadataKey,
  ConsumerGroupMemberMetadataValue,
} from '../../protocol/coordinator-records/group-05-consumer-group-member-metadata.ts'
import {
  ConsumerGroupTargetAssignmentMetadataKey,
  ConsumerGroupTargetAssignmentMetadataValue,
} from '../../protocol/coordinator-records/group-06-consumer-group-target-assignment-metadata.ts'
import {
  ConsumerGroupTargetAssignmentMemberKey,
  ConsumerGroupTargetAssignmentMemberValue,
} from '../../protocol/coordinator-records/group-07-consumer-group-target-assignment-member.ts'
import {
  ConsumerGroupCurrentMemberAssignmentKey,
  ConsumerGroupCurrentMemberAssignmentValue,
} from '../../protocol/coordinator-records/group-08-consumer-group-current-member-assignment.ts'
import {
  ConsumerGroupRegularExpressionKey,
  ConsumerGroupRegularExpressionValue,
} from '../../protocol/coordinator-records/group-16-consumer-group-regular-expression.ts'
import { decodeRecordValue, encodeRecordKey, encodeRecordValue } from '../../protocol/coordinator-records/registry.ts'
import type { Message } from '../../protocol/schema/message.ts'
import { Reader } from '../../protocol/schema/reader.ts'
import type { StateRecord } from '../runtime/load-records.ts'
import type { ConsumerGroup, ResolvedRegex } from './consumer-group.ts'
import type { MemberDescription, MemberProgress } from './consumer-member.ts'
import { memberFromRecord, memberToRecord, progressFromRecord, progressToRecord } from './member-records.ts'
import { type Partitions, partitionsOf, topicPartitions } from './partition-sets.ts'

/** A `value` that is undefined ends the thing: a tombstone. */
export type GroupChange =
  | { readonly kind: 'epoch'; readonly value: { readonly epoch: number; readonly hash: bigint } | undefined }
  | { readonly kind: 'old-metadata'; readonly value: true | undefined }
  | { readonly kind: 'member'; readonly memberId: string; readonly value: MemberDescription | undefined }
  | {
      readonly kind: 'target-epoch'
      readonly value: { readonly epoch: number; readonly timestampMs: number | undefined } | undefined
    }
  | { readonly kind: 'target'; readonly memberId: string; readonly value: Partitions | undefined }
  | { readonly kind: 'progress'; readonly memberId: string; readonly value: MemberProgress | undefined }
  | { readonly kind: 'regex'; readonly regex: string; readonly value: ResolvedRegex | undefined }

export function applyChange(group: ConsumerGroup, change: GroupChange): void {
  switch (change.kind) {
    case 'epoch':
      group.epoch = change.value?.epoch ?? 0
      group.metadataHash = change.value?.hash ?? 0n
      return
    case 'old-metadata':
      group.hasOldMetadata = change.value === true
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
    case 'regex':
      return group.setRegex(change.regex, change.value)
  }
}

export function recordOf(groupId: string, change: GroupChange): StateRecord {
  switch (change.kind) {
    case 'epoch': {
      const { value } = change
      return record(encodeRecordKey(ConsumerGroupMetadataKey, { groupId }), value, () =>
        encodeRecordValue(ConsumerGroupMetadataValue, { epoch: value?.epoch ?? 0, metadataHash: value?.hash ?? 0n }, 0),
      )
    }
    case 'old-metadata':
      return { key: encodeRecordKey(ConsumerGroupPartitionMetadataKey, { groupId }), value: null }
    case 'member': {
      const { memberId, value } = change
      const key = encodeRecordKey(ConsumerGroupMemberMetadataKey, { groupId, memberId })
      return {
        key,
        value: value ? encodeRecordValue(ConsumerGroupMemberMetadataValue, memberToRecord(value), 0) : null,
      }
    }
    case 'target-epoch': {
      const { value } = change
      const body = { assignmentEpoch: value?.epoch ?? 0, assignmentTimestamp: BigInt(value?.timestampMs ?? 0) }
      return record(encodeRecordKey(ConsumerGroupTargetAssignmentMetadataKey, { groupId }), value, () =>
        encodeRecordValue(ConsumerGroupTargetAssignmentMetadataValue, body, 0),
      )
    }
    case 'target': {
      const { memberId, value } = change
      const key = encodeRecordKey(ConsumerGroupTargetAssignmentMemberKey, { groupId, memberId })
      const body = { topicPartitions: value ? topicPartitions(value) : [] }
      return { key, value: value ? encodeRecordValue(ConsumerGroupTargetAssignmentMemberValue, body, 0) : null }
    }
    case 'progress': {
      const { memberId, value } = change
      const key = encodeRecordKey(ConsumerGroupCurrentMemberAssignmentKey, { groupId, memberId })
      const bytes = value && encodeRecordValue(ConsumerGroupCurrentMemberAssignmentValue, progressToRecord(value), 0)
      return { key, value: bytes ?? null }
    }
    case 'regex': {
      const { regex: regularExpression, value } = change
      const key = encodeRecordKey(ConsumerGroupRegularExpressionKey, { groupId, regularExpression })
      if (!value) return { key, value: null }
      const body = { topics: [...value.topics], version: value.version, timestamp: BigInt(value.timestampMs) }
      return { key, value: encodeRecordValue(ConsumerGroupRegularExpressionValue, body, 0) }
    }
  }
}

const record = (key: Buffer, value: unknown, encode: () => Buffer): StateRecord => ({
  key,
  value: value === undefined ? null : encode(),
})

/** undefined: a record of something else. Throws DecodeError. */
export function changeOf(type: number, record: StateRecord): { groupId: string; change: GroupChange } | undefined {
  switch (type) {
    case ConsumerGroupMetadataKey.apiKey: {
      const value = readValue(ConsumerGroupMetadataValue, record)
      return {
        ...keyOf(ConsumerGroupMetadataKey, record),
        change: { kind: 'epoch', value: value && { epoch: value.epoch, hash: value.metadataHash } },
      }
    }
    case ConsumerGroupPartitionMetadataKey.apiKey:
      return {
        ...keyOf(ConsumerGroupPartitionMetadataKey, record),
        change: { kind: 'old-metadata', value: record.value === null ? undefined : true },
      }
    case ConsumerGroupMemberMetadataKey.apiKey: {
      const { groupId, memberId } = keyOf(ConsumerGroupMemberMetadataKey, record)
      const value = readValue(ConsumerGroupMemberMetadataValue, record)
      return { groupId, change: { kind: 'member', memberId, value: value && memberFromRecord(value) } }
    }
    case ConsumerGroupTargetAssignmentMetadataKey.apiKey: {
      const value = readValue(ConsumerGroupTargetAssignmentMetadataValue, record)
      const timestampMs = value && value.assignmentTimestamp > 0n ? Number(value.assignmentTimestamp) : undefined
      return {
        ...keyOf(ConsumerGroupTargetAssignmentMetadataKey, record),
        change: { kind: 'target-epoch', value: value && { epoch: value.assignmentEpoch, timestampMs } },
      }
    }
    case ConsumerGroupTargetAssignmentMemberKey.apiKey: {
      const { groupId, memberId } = keyOf(ConsumerGroupTargetAssignmentMemberKey, record)
      const value = readValue(ConsumerGroupTargetAssignmentMemberValue, record)
      return { groupId, change: { kind: 'target', memberId, value: value && partitionsOf(value.topicPartitions) } }
    }
    case ConsumerGroupCurrentMemberAssignmentKey.apiKey: {
      const { groupId, memberId } = keyOf(ConsumerGroupCurrentMemberAssignmentKey, record)
      const value = readValue(ConsumerGroupCurrentMemberAssignmentValue, record)
      return { groupId, change: { kind: 'progress', memberId, value: value && progressFromRecord(value) } }
    }
    case ConsumerGroupRegularExpressionKey.apiKey: {
      const { groupId, regularExpression: regex } = keyOf(ConsumerGroupRegularExpressionKey, record)
      const value = readValue(ConsumerGroupRegularExpressionValue, record)
      const resolved = value && {
        topics: value.topics,
        version: value.version,
        timestampMs: Number(value.timestamp),
      }
      return { groupId, change: { kind: 'regex', regex, value: resolved } }
    }
    default:
      return undefined
  }
}

function keyOf<T>(table: Message<T, never>, { key }: StateRecord): T {
  const reader = new Reader(key)
  reader.int16()
  const read = table.read(reader, 0)
  reader.expectEnd()
  return read
}

const readValue = <T>(table: Message<T, never>, { value }: StateRecord): T | undefined =>
  value === null ? undefined : decodeRecordValue(table, value).value
