/** The plain v3 resources below topics: partitions, their replicas, reassignments (of which there are none here). */
import { type TObject, Type } from 'typebox'
import type { TopicPartitionView } from '../cluster-ports.ts'
import { admit, type RestApp, type RestContext } from '../context.ts'
import { restError } from '../errors.ts'
import { describeCluster, topicNeed } from '../ports.ts'
import { resourceName, segment } from '../resource-urls.ts'
import { ClusterParams, commonErrors, listOf, PathNumber, TopicParams } from '../schemas/envelope.ts'
import {
  PartitionData,
  PartitionDataList,
  ReassignmentDataList,
  ReplicaData,
  ReplicaDataList,
} from '../schemas/topics.ts'
import { existingTopic } from './topics.ts'

const TOPICS = '/kafka/v3/clusters/:cluster_id/topics'
const ROOT = `${TOPICS}/:topic_name/partitions`
const PartitionParams = Type.Object({ ...TopicParams.properties, partition_id: PathNumber })
const ReplicaParams = Type.Object({ ...PartitionParams.properties, broker_id: PathNumber })

export function partitionRoutes(app: RestApp, context: RestContext): void {
  readRoutes(app, context)
  replicaRoutes(app, context)
  reassignmentRoutes(app, context)
}

function readRoutes(app: RestApp, context: RestContext): void {
  app.get(
    ROOT,
    {
      schema: {
        summary: 'List partitions of a topic',
        tags: ['topics'],
        params: TopicParams,
        response: { 200: PartitionDataList, ...commonErrors },
      },
    },
    request => {
      const topic = request.params.topic_name
      const base = admit(context, request, topicNeed('describe', topic))
      const data = existingTopic(context, topic).partitions.map(part => partitionData(context, { base, topic, part }))
      return listOf('KafkaPartitionList', partitionsOf(base, topic), data) satisfies PartitionDataList
    },
  )

  app.get(
    `${ROOT}/:partition_id`,
    {
      schema: {
        summary: 'Describe a partition',
        tags: ['topics'],
        params: PartitionParams,
        response: { 200: PartitionData, ...commonErrors },
      },
    },
    request => {
      const { topic_name: topic, partition_id: partition } = request.params
      const base = admit(context, request, topicNeed('describe', topic))
      return partitionData(context, { base, topic, part: existingPartition(context, topic, partition) })
    },
  )
}

function replicaRoutes(app: RestApp, context: RestContext): void {
  app.get(
    `${ROOT}/:partition_id/replicas`,
    {
      schema: {
        summary: 'List replicas of a partition',
        tags: ['topics'],
        params: PartitionParams,
        response: { 200: ReplicaDataList, ...commonErrors },
      },
    },
    request => {
      const { topic_name: topic, partition_id: partition } = request.params
      const base = admit(context, request, topicNeed('describe', topic))
      const part = existingPartition(context, topic, partition)
      const self = `${partitionsOf(base, topic)}/${part.partition}/replicas`
      const data = part.replicas.map(broker => replicaData(context, { base, topic, part, broker }))
      return listOf('KafkaReplicaList', self, data) satisfies ReplicaDataList
    },
  )

  app.get(
    `${ROOT}/:partition_id/replicas/:broker_id`,
    {
      schema: {
        summary: 'Describe a replica of a partition',
        tags: ['topics'],
        params: ReplicaParams,
        response: { 200: ReplicaData, ...commonErrors },
      },
    },
    request => {
      const { topic_name: topic, partition_id: partition, broker_id: broker } = request.params
      const base = admit(context, request, topicNeed('describe', topic))
      const part = existingPartition(context, topic, partition)
      if (!part.replicas.includes(Number(broker)))
        throw restError('TOPIC_NOT_FOUND', { place: `a replica of "${topic}-${partition}" on broker ${broker}` })
      return replicaData(context, { base, topic, part, broker: Number(broker) })
    },
  )

  app.get(
    '/kafka/v3/clusters/:cluster_id/brokers/:broker_id/partition-replicas',
    {
      schema: {
        summary: 'List replicas on a broker',
        tags: ['cluster'],
        params: Type.Object({ cluster_id: Type.String(), broker_id: PathNumber }),
        response: { 200: ReplicaDataList, ...commonErrors },
      },
    },
    request => {
      const base = admit(context, request, [describeCluster])
      const broker = Number(request.params.broker_id)
      if (!context.cluster.brokers().some(({ id }) => id === broker)) throw restError('BROKER_NOT_FOUND', { broker })
      const data = context.cluster
        .topics()
        .flatMap(({ name: topic, partitions }) =>
          partitions
            .filter(part => part.replicas.includes(broker))
            .map(part => replicaData(context, { base, topic, part, broker })),
        )
      return listOf('KafkaReplicaList', `${base}/brokers/${broker}/partition-replicas`, data) satisfies ReplicaDataList
    },
  )
}

/** A standalone node has nowhere to move a partition to: the lists that clients follow links to are empty. */
function reassignmentRoutes(app: RestApp, context: RestContext): void {
  const route = (path: string, params: TObject, summary: string) =>
    app.get(
      path,
      { schema: { summary, tags: ['topics'], params, response: { 200: ReassignmentDataList, ...commonErrors } } },
      request => {
        const base = admit(context, request, [describeCluster])
        const { topic_name: topic } = request.params as { topic_name?: string }
        if (topic !== undefined) existingTopic(context, topic)
        const self = `${base}/topics/${topic === undefined ? '-' : segment(topic)}/partitions/-/reassignment`
        return listOf('KafkaReassignmentList', self, []) satisfies ReassignmentDataList
      },
    )
  route(`${TOPICS}/-/partitions/-/reassignment`, ClusterParams, 'List reassignments of partitions')
  route(`${ROOT}/-/reassignment`, TopicParams, 'List reassignments of partitions of a topic')

  app.get(
    `${ROOT}/:partition_id/reassignment`,
    {
      schema: {
        summary: 'Describe the reassignment of a partition',
        tags: ['topics'],
        params: PartitionParams,
        response: commonErrors,
      },
    },
    request => {
      admit(context, request, [describeCluster])
      const { topic_name: topic, partition_id: partition } = request.params
      existingPartition(context, topic, partition)
      throw restError('REASSIGNMENT_NOT_FOUND', { partition: `${topic}-${partition}` })
    },
  )
}

const partitionsOf = (base: string, topic: string): string => `${base}/topics/${segment(topic)}/partitions`

function existingPartition(context: RestContext, topic: string, partition: string): TopicPartitionView {
  const part = existingTopic(context, topic).partitions.find(found => found.partition === Number(partition))
  if (!part) throw restError('TOPIC_NOT_FOUND', { place: `partition ${partition} of topic "${topic}"` })
  return part
}

interface Place {
  readonly base: string
  readonly topic: string
  readonly part: TopicPartitionView
}

function partitionData(context: RestContext, { base, topic, part }: Place): PartitionData {
  const { clusterId } = context.cluster
  const { partition, leader, replicas, isr } = part
  const self = `${partitionsOf(base, topic)}/${partition}`
  return {
    kind: 'KafkaPartition',
    metadata: { self, resource_name: resourceName(clusterId, { topic, partition }) },
    cluster_id: clusterId,
    topic_name: topic,
    partition_id: partition,
    leader: leader < 0 ? null : { related: `${self}/replicas/${leader}` },
    replicas: { related: `${self}/replicas` },
    reassignment: { related: `${self}/reassignment` },
    leader_id: leader,
    replica_ids: [...replicas],
    isr_ids: [...isr],
  }
}

function replicaData(context: RestContext, { base, topic, part, broker }: Place & { broker: number }): ReplicaData {
  const { clusterId } = context.cluster
  const { partition, leader, isr } = part
  return {
    kind: 'KafkaReplica',
    metadata: {
      self: `${partitionsOf(base, topic)}/${partition}/replicas/${broker}`,
      resource_name: resourceName(clusterId, { topic, partition, replica: broker }),
    },
    cluster_id: clusterId,
    topic_name: topic,
    partition_id: partition,
    broker_id: broker,
    is_leader: broker === leader,
    is_in_sync: isr.includes(broker),
    broker: { related: `${base}/brokers/${broker}` },
  }
}
