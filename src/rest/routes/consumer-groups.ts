/** Consumer groups of this cluster as the plain v3 resources tell them: groups and their members; lags are in `consumer-lags.ts`. */
import { Type } from 'typebox'
import type { GroupMemberView, GroupView } from '../cluster-ports.ts'
import { admit, type RestApp, type RestContext } from '../context.ts'
import { restError } from '../errors.ts'
import { describeCluster, type Need } from '../ports.ts'
import { resourceName, segment } from '../resource-urls.ts'
import {
  ConsumerAssignmentData,
  ConsumerAssignmentDataList,
  ConsumerData,
  ConsumerDataList,
  ConsumerGroupData,
  ConsumerGroupDataList,
} from '../schemas/consumer-groups.ts'
import { ClusterParams, commonErrors, GroupParams, listOf, PathNumber } from '../schemas/envelope.ts'

const GROUPS = '/kafka/v3/clusters/:cluster_id/consumer-groups'
const ROOT = `${GROUPS}/:consumer_group_id`
const ConsumerParams = Type.Object({ ...GroupParams.properties, consumer_id: Type.String() })
const AssignmentParams = Type.Object({
  ...ConsumerParams.properties,
  topic_name: Type.String(),
  partition_id: PathNumber,
})

export const groupNeed = (group: string): [Need] => [{ operation: 'describe', resource: 'group', name: group }]

/** Kafka's words for states and types → those of v3. */
const upper = (word: string): string =>
  word
    .replace(/-/g, '_')
    .replace(/([a-z])([A-Z])/g, '$1_$2')
    .toUpperCase()

export function consumerGroupRoutes(app: RestApp, context: RestContext): void {
  readRoutes(app, context)
  consumerRoutes(app, context)
  assignmentRoutes(app, context)
}

/** The group. Throws GROUP_NOT_FOUND. */
export function existingGroup(context: RestContext, groupId: string): GroupView {
  const group = context.groups.describe(groupId)
  if (!group) throw restError('GROUP_NOT_FOUND', { what: `consumer group "${groupId}"` })
  return group
}

/** The base of everything that belongs to the group, and the fields that all of it has. */
export const groupPlace = (context: RestContext, base: string, groupId: string) => ({
  self: `${base}/consumer-groups/${segment(groupId)}`,
  fields: { cluster_id: context.cluster.clusterId, consumer_group_id: groupId },
  nameOf: (parts: Readonly<Record<string, string | number>>) =>
    resourceName(context.cluster.clusterId, { 'consumer-group': groupId, ...parts }),
})

function readRoutes(app: RestApp, context: RestContext): void {
  app.get(
    GROUPS,
    {
      schema: {
        summary: 'List consumer groups',
        tags: ['consumer groups'],
        params: ClusterParams,
        response: { 200: ConsumerGroupDataList, ...commonErrors },
      },
    },
    request => {
      const base = admit(context, request, [describeCluster])
      const data = context.groups.list().map(group => groupData(context, base, group))
      return listOf('KafkaConsumerGroupList', `${base}/consumer-groups`, data) satisfies ConsumerGroupDataList
    },
  )

  app.get(
    ROOT,
    {
      schema: {
        summary: 'Describe a consumer group',
        tags: ['consumer groups'],
        params: GroupParams,
        response: { 200: ConsumerGroupData, ...commonErrors },
      },
    },
    request => {
      const id = request.params.consumer_group_id
      const base = admit(context, request, groupNeed(id))
      return groupData(context, base, existingGroup(context, id))
    },
  )
}

function consumerRoutes(app: RestApp, context: RestContext): void {
  app.get(
    `${ROOT}/consumers`,
    {
      schema: {
        summary: 'List members of a consumer group',
        tags: ['consumer groups'],
        params: GroupParams,
        response: { 200: ConsumerDataList, ...commonErrors },
      },
    },
    request => {
      const id = request.params.consumer_group_id
      const base = admit(context, request, groupNeed(id))
      const place = groupPlace(context, base, id)
      const data = existingGroup(context, id).members.map(member => consumerData(place, member))
      return listOf('KafkaConsumerList', `${place.self}/consumers`, data) satisfies ConsumerDataList
    },
  )

  app.get(
    `${ROOT}/consumers/:consumer_id`,
    {
      schema: {
        summary: 'Describe a member of a consumer group',
        tags: ['consumer groups'],
        params: ConsumerParams,
        response: { 200: ConsumerData, ...commonErrors },
      },
    },
    request => {
      const { consumer_group_id: id, consumer_id: consumer } = request.params
      const base = admit(context, request, groupNeed(id))
      return consumerData(groupPlace(context, base, id), existingMember(context, id, consumer))
    },
  )
}

function assignmentRoutes(app: RestApp, context: RestContext): void {
  app.get(
    `${ROOT}/consumers/:consumer_id/assignments`,
    {
      schema: {
        summary: 'List what a member of a consumer group was assigned',
        tags: ['consumer groups'],
        params: ConsumerParams,
        response: { 200: ConsumerAssignmentDataList, ...commonErrors },
      },
    },
    request => {
      const { consumer_group_id: id, consumer_id: consumer } = request.params
      const base = admit(context, request, groupNeed(id))
      const place = groupPlace(context, base, id)
      const member = existingMember(context, id, consumer)
      const data = member.assignment.map(assigned => assignmentData({ ...place, base }, member, assigned))
      const self = `${place.self}/consumers/${segment(consumer)}/assignments`
      return listOf('KafkaConsumerAssignmentList', self, data) satisfies ConsumerAssignmentDataList
    },
  )

  app.get(
    `${ROOT}/consumers/:consumer_id/assignments/:topic_name/partitions/:partition_id`,
    {
      schema: {
        summary: 'Describe one assignment of a member of a consumer group',
        tags: ['consumer groups'],
        params: AssignmentParams,
        response: { 200: ConsumerAssignmentData, ...commonErrors },
      },
    },
    request => {
      const { consumer_group_id: id, consumer_id: consumer, topic_name: topic, partition_id } = request.params
      const base = admit(context, request, groupNeed(id))
      const member = existingMember(context, id, consumer)
      const partition = Number(partition_id)
      if (!member.assignment.some(assigned => assigned.topic === topic && assigned.partition === partition))
        throw restError('GROUP_NOT_FOUND', { what: `assignment of "${topic}-${partition}" to member "${consumer}"` })
      return assignmentData({ ...groupPlace(context, base, id), base }, member, { topic, partition })
    },
  )
}

type Place = ReturnType<typeof groupPlace>

function existingMember(context: RestContext, groupId: string, memberId: string): GroupMemberView {
  const member = existingGroup(context, groupId).members.find(found => found.memberId === memberId)
  if (!member) throw restError('GROUP_NOT_FOUND', { what: `member "${memberId}" of consumer group "${groupId}"` })
  return member
}

function groupData(context: RestContext, base: string, group: GroupView): ConsumerGroupData {
  const { self, fields, nameOf } = groupPlace(context, base, group.groupId)
  return {
    kind: 'KafkaConsumerGroup',
    metadata: { self, resource_name: nameOf({}) },
    ...fields,
    is_simple: group.isSimple,
    partition_assignor: group.assignor,
    state: upper(group.state),
    type: upper(group.type),
    is_mixed_consumer_group: false,
    coordinator: { related: `${base}/brokers/${context.groups.coordinatorId(group.groupId)}` },
    consumers: { related: `${self}/consumers` },
    lag_summary: { related: `${self}/lag-summary` },
  }
}

function consumerData({ self, fields, nameOf }: Place, member: GroupMemberView): ConsumerData {
  const own = `${self}/consumers/${segment(member.memberId)}`
  return {
    kind: 'KafkaConsumer',
    metadata: { self: own, resource_name: nameOf({ consumer: member.memberId }) },
    ...fields,
    consumer_id: member.memberId,
    instance_id: member.instanceId,
    client_id: member.clientId,
    assignments: { related: `${own}/assignments` },
  }
}

function assignmentData(
  { self, fields, nameOf, base }: Place & { base: string },
  { memberId }: GroupMemberView,
  { topic, partition }: GroupMemberView['assignment'][number],
): ConsumerAssignmentData {
  const where = `${segment(topic)}/partitions/${partition}`
  return {
    kind: 'KafkaConsumerAssignment',
    metadata: {
      self: `${self}/consumers/${segment(memberId)}/assignments/${where}`,
      resource_name: nameOf({ consumer: memberId, assignment: topic, partition }),
    },
    ...fields,
    consumer_id: memberId,
    topic_name: topic,
    partition_id: partition,
    partition: { related: `${base}/topics/${where}` },
    lag: { related: `${self}/lags/${where}` },
  }
}
