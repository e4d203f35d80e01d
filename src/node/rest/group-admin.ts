/** Consumer groups as REST tells them: what this node's group coordinator knows, and how far the partitions have come. */
import type { DescribedAssignment, DescribedConsumerGroup } from '../../coordinator/consumer-groups/describe-group.ts'
import type { GroupCoordinator } from '../../coordinator/groups/group-coordinator.ts'
import type { DescribedGroup, DescribedMember, ListedGroup } from '../../coordinator/groups/group-overview.ts'
import { CONSUMER_PROTOCOL } from '../../coordinator/groups/subscribed-topics.ts'
import type { DescribedShareGroup } from '../../coordinator/share-groups/describe-share-group.ts'
import type { Controller } from '../../metadata/controller-port.ts'
import { topicByName } from '../../metadata/metadata-image.ts'
import { ErrorCode } from '../../protocol/errors.ts'
import { ConsumerProtocolAssignment } from '../../protocol/messages/consumer-protocol-assignment.ts'
import { findOffset, offsetSpec } from '../../replica/find-offset.ts'
import { PartitionUnavailable } from '../../replica/partition-unavailable.ts'
import type { ReplicaSet } from '../../replica/replica-set.ts'
import type { GroupAdmin, GroupLagView, GroupMemberView, GroupView } from '../../rest/cluster-ports.ts'
import { kafkaRefusal } from './kafka-refusal.ts'

export interface LocalGroupsOptions {
  readonly brokerId: number
  readonly groups: Pick<
    GroupCoordinator,
    'listGroups' | 'describeGroup' | 'fetchOffsets' | 'partitionFor' | 'topic'
  > & {
    readonly consumers: Pick<GroupCoordinator['consumers'], 'find'>
    readonly shares: Pick<GroupCoordinator['shares'], 'find' | 'describeOffsets'>
  }
  readonly replicas: Pick<ReplicaSet, 'lookupByName'>
  readonly controller: Pick<Controller, 'image'>
}

export function localGroupAdmin(options: LocalGroupsOptions): GroupAdmin {
  const { brokerId, groups, controller } = options
  const listed = (): ListedGroup[] => {
    const { errorCode, groups: found } = groups.listGroups({ states: [], types: [] })
    if (errorCode !== ErrorCode.NONE) throw kafkaRefusal(errorCode, null)
    return found
  }
  const describe = (groupId: string): GroupView | undefined => {
    const { errorCode, group } = groups.describeGroup(groupId)
    if (group) return classicView(group)
    const consumers = groups.consumers.find(groupId)
    if (consumers) return consumerView(consumers)
    const shares = groups.shares.find(groupId)
    if (shares) return shareView(shares)
    if (isNoGroup(errorCode, controller, groups.topic)) return undefined
    if (errorCode !== ErrorCode.GROUP_ID_NOT_FOUND) throw kafkaRefusal(errorCode, null)
    const foreign = listed().find(found => found.groupId === groupId)
    return foreign && foreignView(foreign)
  }
  return {
    list: () =>
      listed()
        .map(group => describe(group.groupId) ?? foreignView(group))
        .sort((a, b) => (a.groupId < b.groupId ? -1 : 1)),
    describe,
    lags: group => lagsOf(options, group),
    coordinatorId: groupId => {
      const topic = topicByName(controller.image, groups.topic)
      return topic?.partitions[groups.partitionFor(groupId)]?.leader ?? brokerId
    },
  }
}

/** Before the first group there is no `__consumer_offsets`, so nobody coordinates, and there is no group either. */
const isNoGroup = (errorCode: number, { image }: Pick<Controller, 'image'>, topic: string): boolean =>
  (errorCode === ErrorCode.COORDINATOR_NOT_AVAILABLE || errorCode === ErrorCode.NOT_COORDINATOR) &&
  topicByName(image, topic) === undefined

const classicView = (group: DescribedGroup): GroupView => ({
  groupId: group.groupId,
  state: group.groupState,
  type: 'classic',
  isSimple: group.protocolType === '',
  assignor: group.protocolData,
  members: group.members.map(member => ({
    memberId: member.memberId,
    instanceId: member.groupInstanceId,
    clientId: member.clientId,
    assignment: group.protocolType === CONSUMER_PROTOCOL ? assignmentOf(member) : [],
  })),
})

const consumerView = (group: DescribedConsumerGroup): GroupView => ({
  groupId: group.groupId,
  state: group.groupState,
  type: 'consumer',
  isSimple: false,
  assignor: group.assignorName,
  members: group.members.map(member => ({
    memberId: member.memberId,
    instanceId: member.instanceId,
    clientId: member.clientId,
    assignment: placesOf(member.assignment),
  })),
})

const shareView = (group: DescribedShareGroup): GroupView => ({
  groupId: group.groupId,
  state: group.groupState,
  type: 'share',
  isSimple: false,
  assignor: group.assignorName,
  members: group.members.map(member => ({
    memberId: member.memberId,
    instanceId: null,
    clientId: member.clientId,
    assignment: placesOf(member.assignment),
  })),
})

const placesOf = ({ topicPartitions }: DescribedAssignment): GroupMemberView['assignment'] =>
  topicPartitions.flatMap(({ topicName: topic, partitions }) => partitions.map(partition => ({ topic, partition })))

/** Members of such groups are not known here. */
const foreignView = ({ groupId, groupState, groupType }: ListedGroup): GroupView => ({
  groupId,
  state: groupState,
  type: groupType,
  isSimple: false,
  assignor: '',
  members: [],
})

/** What the leader of a group hands out is its own: bytes that are something else say nothing. */
function assignmentOf({ memberAssignment: bytes }: DescribedMember): GroupMemberView['assignment'] {
  if (bytes.length < 2) return []
  const { min, max } = ConsumerProtocolAssignment.versions
  const version = Math.min(max, Math.max(min, bytes.readInt16BE(0)))
  try {
    const { assignedPartitions } = ConsumerProtocolAssignment.decode(bytes.subarray(2), version)
    return assignedPartitions.flatMap(({ topic, partitions }) => partitions.map(partition => ({ topic, partition })))
  } catch {
    return []
  }
}

/** Of a share group: from where it starts on. Several members may have a partition: one of them is told. */
async function lagsOf(options: LocalGroupsOptions, group: GroupView): Promise<GroupLagView[]> {
  const owners = new Map(
    group.members.flatMap(member =>
      member.assignment.map(({ topic, partition }) => [`${topic}-${partition}`, member] as const),
    ),
  )
  const positions = group.type === 'share' ? await startsOf(options, group) : await committedBy(options, group)
  const lags = positions.map(async ({ topic, partition, offset }) => ({
    topic,
    partition,
    currentOffset: offset,
    logEndOffset: await readableEnd(options, topic, partition),
    member: owners.get(`${topic}-${partition}`),
  }))
  return (await Promise.all(lags)).sort(
    (a, b) => (a.topic < b.topic ? -1 : a.topic > b.topic ? 1 : 0) || a.partition - b.partition,
  )
}

interface Position {
  readonly topic: string
  readonly partition: number
  readonly offset: number
}

async function committedBy({ groups, controller }: LocalGroupsOptions, { groupId }: GroupView): Promise<Position[]> {
  const { errorCode, topics } = await groups.fetchOffsets({
    groupId,
    requireStable: false,
    topics: null,
    topicIdOf: name => topicByName(controller.image, name)?.id,
  })
  if (errorCode !== ErrorCode.NONE) throw kafkaRefusal(errorCode, null)
  return topics.flatMap(({ name: topic, partitions }) =>
    partitions
      .filter(({ committedOffset }) => committedOffset >= 0n)
      .map(({ partitionIndex: partition, committedOffset }) => {
        return { topic, partition, offset: Number(committedOffset) }
      }),
  )
}

async function startsOf({ groups }: LocalGroupsOptions, { groupId }: GroupView): Promise<Position[]> {
  const { errorCode, topics } = await groups.shares.describeOffsets(groupId, null)
  if (errorCode !== ErrorCode.NONE) throw kafkaRefusal(errorCode, null)
  return topics.flatMap(({ topicName: topic, partitions }) =>
    partitions
      .filter(({ startOffset }) => startOffset >= 0)
      .map(({ partitionIndex: partition, startOffset: offset }) => ({ topic, partition, offset })),
  )
}

/** Where consumers come to the end; null = this node cannot tell. */
async function readableEnd({ replicas }: LocalGroupsOptions, topic: string, index: number): Promise<number | null> {
  try {
    const question = { timestamp: offsetSpec.latest, visibility: 'read_uncommitted', currentLeaderEpoch: -1 } as const
    return (await findOffset(replicas.lookupByName(topic, index), question)).offset
  } catch (error) {
    if (error instanceof PartitionUnavailable) return null
    throw error
  }
}
