/** ConsumerGroupDescribe: a consumer group as administrators see it; the group coordinator calls it. */
import type { Uuid } from '../../core/uuid.ts'
import type { MetadataImage } from '../../metadata/metadata-image.ts'
import type { ConsumerGroup } from './consumer-group.ts'
import type { ConsumerMember } from './consumer-member.ts'
import { type Partitions, topicPartitions } from './partition-sets.ts'

export interface DescribedAssignment {
  readonly topicPartitions: { readonly topicId: Uuid; readonly topicName: string; readonly partitions: number[] }[]
}

export interface DescribedConsumerMember {
  readonly memberId: string
  readonly instanceId: string | null
  readonly rackId: string | null
  readonly memberEpoch: number
  readonly clientId: string
  readonly clientHost: string
  readonly subscribedTopicNames: string[]
  readonly subscribedTopicRegex: string | null
  readonly assignment: DescribedAssignment
  readonly targetAssignment: DescribedAssignment
  /** 0 = of the classic protocol, 1 = of the consumer protocol. */
  readonly memberType: number
}

export interface DescribedConsumerGroup {
  readonly groupId: string
  readonly groupState: string
  readonly groupEpoch: number
  readonly assignmentEpoch: number
  readonly assignorName: string
  readonly members: readonly DescribedConsumerMember[]
}

export const describeConsumerGroup = (
  group: ConsumerGroup,
  { image, defaultAssignor }: { image: MetadataImage; defaultAssignor: string },
): DescribedConsumerGroup => ({
  groupId: group.id,
  groupState: group.state,
  groupEpoch: group.epoch,
  assignmentEpoch: group.targetEpoch,
  assignorName: group.preferredAssignor ?? defaultAssignor,
  members: [...group.members.values()].map(member => describedMember(group, member, image)),
})

const describedMember = (
  group: ConsumerGroup,
  member: ConsumerMember,
  image: MetadataImage,
): DescribedConsumerMember => ({
  memberId: member.id,
  instanceId: member.instanceId,
  rackId: member.rackId,
  memberEpoch: member.epoch,
  clientId: member.clientId,
  clientHost: member.clientHost,
  subscribedTopicNames: [...member.topics],
  subscribedTopicRegex: member.regex === '' ? null : member.regex,
  assignment: assignmentOf(member.assigned, image),
  targetAssignment: assignmentOf(group.targetOf(member.id), image),
  memberType: member.classic ? 0 : 1,
})

/** Topics that do not exist any more are left out. */
export const assignmentOf = (partitions: Partitions, image: MetadataImage): DescribedAssignment => ({
  topicPartitions: topicPartitions(partitions).flatMap(({ topicId, partitions }) => {
    const topicName = image.topics.get(topicId)?.name
    return topicName === undefined ? [] : [{ topicId, topicName, partitions }]
  }),
})
