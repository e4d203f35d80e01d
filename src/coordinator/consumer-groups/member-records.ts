/** Members of consumer groups between their form here and that of their records; group-change.ts calls it. */
import type { Uuid } from '../../core/uuid.ts'
import type {
  ConsumerGroupMemberMetadataValue,
  ConsumerGroupMemberMetadataValueInput,
} from '../../protocol/coordinator-records/group-05-consumer-group-member-metadata.ts'
import type {
  ConsumerGroupCurrentMemberAssignmentValue,
  ConsumerGroupCurrentMemberAssignmentValueInput,
} from '../../protocol/coordinator-records/group-08-consumer-group-current-member-assignment.ts'
import {
  type ClassicSide,
  type MemberDescription,
  type MemberProgress,
  type MemberState,
  sortedNames,
} from './consumer-member.ts'
import { addEpoched, type EpochedPartitions } from './partition-sets.ts'

/** States by their number in records; others are of later versions. */
const states: readonly MemberState[] = ['stable', 'unrevoked', 'unreleased']
const UNKNOWN_STATE = 127

export const memberToRecord = (member: MemberDescription): ConsumerGroupMemberMetadataValueInput => ({
  instanceId: member.instanceId,
  rackId: member.rackId,
  clientId: member.clientId,
  clientHost: member.clientHost,
  subscribedTopicNames: [...member.topics],
  subscribedTopicRegex: member.regex,
  rebalanceTimeoutMs: member.rebalanceTimeoutMs,
  serverAssignor: member.assignor,
  classicMemberMetadata: member.classic && {
    sessionTimeoutMs: member.classic.sessionTimeoutMs,
    supportedProtocols: member.classic.protocols.map(({ name, metadata }) => ({ name, metadata })),
  },
})

/** Buffers are copied: those of the record belong to its batch. */
export const memberFromRecord = (value: ConsumerGroupMemberMetadataValue): MemberDescription => ({
  instanceId: value.instanceId,
  rackId: value.rackId,
  clientId: value.clientId,
  clientHost: value.clientHost,
  rebalanceTimeoutMs: value.rebalanceTimeoutMs,
  topics: sortedNames(value.subscribedTopicNames),
  regex: value.subscribedTopicRegex ?? '',
  assignor: value.serverAssignor,
  classic: classicOf(value.classicMemberMetadata),
})

/** Records of before the migration do not have it, which reads as one without protocols. */
const classicOf = (classic: ConsumerGroupMemberMetadataValue['classicMemberMetadata']): ClassicSide | null =>
  classic === null || classic.supportedProtocols.length === 0
    ? null
    : {
        sessionTimeoutMs: classic.sessionTimeoutMs,
        protocols: classic.supportedProtocols.map(({ name, metadata }) => ({ name, metadata: Buffer.from(metadata) })),
      }

export const progressToRecord = (progress: MemberProgress): ConsumerGroupCurrentMemberAssignmentValueInput => ({
  memberEpoch: progress.epoch,
  previousMemberEpoch: progress.previousEpoch,
  state: progress.state === 'unknown' ? UNKNOWN_STATE : states.indexOf(progress.state),
  assignedPartitions: epochedTopics(progress.assigned),
  partitionsPendingRevocation: epochedTopics(progress.revoking),
})

export const progressFromRecord = (value: ConsumerGroupCurrentMemberAssignmentValue): MemberProgress => ({
  epoch: value.memberEpoch,
  previousEpoch: value.previousMemberEpoch,
  state: states[value.state] ?? 'unknown',
  assigned: epochedOf(value.assignedPartitions, value.memberEpoch),
  revoking: epochedOf(value.partitionsPendingRevocation, value.memberEpoch),
})

const epochedTopics = (partitions: EpochedPartitions) =>
  [...partitions].map(([topicId, epochs]) => {
    const sorted = [...epochs].sort(([a], [b]) => a - b)
    return {
      topicId,
      partitions: sorted.map(([partition]) => partition),
      assignmentEpochs: sorted.map(([, epoch]) => epoch),
    }
  })

/** Before Kafka 4.3 records did not say when a partition was assigned. */
function epochedOf(
  topics: ConsumerGroupCurrentMemberAssignmentValue['assignedPartitions'],
  memberEpoch: number,
): EpochedPartitions {
  const read = new Map<Uuid, Map<number, number>>()
  for (const { topicId, partitions, assignmentEpochs } of topics)
    partitions.forEach((partition, index) => {
      addEpoched(read, topicId, { partition, epoch: assignmentEpochs?.[index] ?? memberEpoch })
    })
  return read
}
