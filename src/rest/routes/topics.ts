/** The plain v3 topic resources: list, create, describe, add partitions, delete. */
import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import type { CreatedTopicView, NewTopicRequest, TopicView } from '../cluster-ports.ts'
import { admit, type RestApp, type RestContext } from '../context.ts'
import { restError } from '../errors.ts'
import { clientOf } from '../login.ts'
import { describeCluster, type Operation, topicNeed } from '../ports.ts'
import { resourceName, segment } from '../resource-urls.ts'
import { ClusterParams, commonErrors, Flag, listOf, TopicParams } from '../schemas/envelope.ts'
import { TopicDeletionReport } from '../schemas/source-topics.ts'
import { ChangeTopicBody, CreateTopicBody, TopicData, TopicDataList } from '../schemas/topics.ts'

const ROOT = '/kafka/v3/clusters/:cluster_id/topics'

export function topicRoutes(app: RestApp, context: RestContext): void {
  readRoutes(app, context)
  createRoute(app, context)
  changeRoutes(app, context)
}

/** The topic of that name. Throws TOPIC_NOT_FOUND. */
export function existingTopic(context: RestContext, name: string): TopicView {
  const topic = context.cluster.topic(name)
  if (!topic) throw restError('TOPIC_NOT_FOUND', { place: `topic "${name}"` })
  return topic
}

function readRoutes(app: RestApp, context: RestContext): void {
  app.get(
    ROOT,
    {
      schema: {
        summary: 'List topics',
        tags: ['topics'],
        params: ClusterParams,
        response: { 200: TopicDataList, ...commonErrors },
      },
    },
    request => {
      const base = admit(context, request, [describeCluster])
      const data = context.cluster.topics().map(topic => topicData(context, base, viewOf(topic)))
      return listOf('KafkaTopicList', `${base}/topics`, data) satisfies TopicDataList
    },
  )

  app.get(
    `${ROOT}/:topic_name`,
    {
      schema: {
        summary: 'Describe a topic',
        tags: ['topics'],
        params: TopicParams,
        querystring: Type.Object({ include_authorized_operations: Flag }),
        response: { 200: TopicData, ...commonErrors },
      },
    },
    request => {
      const name = request.params.topic_name
      const base = admit(context, request, topicNeed('describe', name))
      const data = topicData(context, base, viewOf(existingTopic(context, name)))
      if (request.query.include_authorized_operations !== 'true') return data
      const isAllowed = (operation: Operation) =>
        context.access.firstDenied(clientOf(request), topicNeed(operation, name)) === undefined
      return { ...data, authorized_operations: TOPIC_OPERATIONS.filter(isAllowed).map(name => name.toUpperCase()) }
    },
  )
}

/** What an ACL on a topic can allow. */
const TOPIC_OPERATIONS: readonly Operation[] = [
  'read',
  'write',
  'create',
  'delete',
  'alter',
  'describe',
  'describe_configs',
  'alter_configs',
]

function createRoute(app: RestApp, context: RestContext): void {
  app.post(
    ROOT,
    {
      schema: {
        summary: 'Create a topic; with validate_only only check whether it could be',
        tags: ['topics'],
        params: ClusterParams,
        body: CreateTopicBody,
        response: { 200: TopicData, 201: TopicData, ...commonErrors },
      },
    },
    async (request, reply) => {
      const { body } = request
      const base = admit(context, request, topicNeed('create', body.topic_name))
      const validateOnly = body.validate_only === true
      const created = await context.cluster.createTopic(newTopic(body), { validateOnly })
      return reply
        .status(validateOnly ? 200 : 201)
        .send(topicData(context, base, { name: body.topic_name, internal: false, ...created }))
    },
  )
}

function newTopic(body: CreateTopicBody): NewTopicRequest {
  const assignments = Object.entries(body.replicas_assignments ?? {}).map(([partition, brokers]) => {
    if (!/^\d{1,9}$/.test(partition))
      throw restError('BODY_INVALID', { problem: `replicas_assignments: "${partition}" is not a partition` })
    return [Number(partition), brokers] as const
  })
  return {
    name: body.topic_name,
    partitions: body.partitions_count ?? undefined,
    replicationFactor: body.replication_factor ?? undefined,
    assignments: new Map(assignments),
    configs: new Map((body.configs ?? []).map(entry => [entry.name, entry.value ?? null])),
  }
}

function changeRoutes(app: RestApp, context: RestContext): void {
  app.patch(
    `${ROOT}/:topic_name`,
    {
      schema: {
        summary: 'Raise the number of partitions of a topic',
        tags: ['topics'],
        params: TopicParams,
        body: ChangeTopicBody,
        response: { 200: TopicData, ...commonErrors },
      },
    },
    async request => {
      const name = request.params.topic_name
      const base = admit(context, request, topicNeed('alter', name))
      existingTopic(context, name)
      await context.cluster.createPartitions(name, request.body.partitions_count)
      return topicData(context, base, viewOf(existingTopic(context, name)))
    },
  )

  app.delete(
    `${ROOT}/:topic_name`,
    {
      schema: {
        summary: 'Delete a topic; of a mirror this ends the mirror. The report says whether it comes back as one',
        tags: ['topics'],
        params: TopicParams,
        querystring: Type.Object({ report: Flag, validate_only: Flag }),
        response: { 200: TopicDeletionReport, 204: Type.Null(), ...commonErrors },
      },
    },
    async (request, reply) => {
      const name = request.params.topic_name
      admit(context, request, topicNeed('delete', name))
      existingTopic(context, name)
      const report = deletionReport(context, request, name)
      if (request.query.validate_only !== 'true') await context.cluster.deleteTopic(name)
      return request.query.report === 'true' ? reply.send(report) : reply.status(204).send(null)
    },
  )
}

/** Names of links are told only to those who may see links. */
function deletionReport(context: RestContext, request: FastifyRequest, topic: string): TopicDeletionReport {
  const maySee = context.access.firstDenied(clientOf(request), [describeCluster]) === undefined
  const returning = maySee && context.engine.ready ? context.engine.topics.returning(topic) : []
  return {
    warnings: returning.map(({ linkName, withinMs }) => {
      const seconds = Math.ceil(withinMs / 1000)
      return `Link '${linkName}' still includes the topic by its filters: it comes back as a mirror within ${seconds} s.`
    }),
    comes_back: returning.map(({ linkName, sourceTopicName, withinMs }) => {
      return { link_name: linkName, source_topic_name: sourceTopicName, within_ms: withinMs }
    }),
  }
}

type ShownTopic = Pick<TopicView, 'name' | 'internal'> & CreatedTopicView

const viewOf = (topic: TopicView): ShownTopic => ({ ...topic, partitionsCount: topic.partitions.length })

function topicData(context: RestContext, base: string, topic: ShownTopic): TopicData {
  const self = `${base}/topics/${segment(topic.name)}`
  const { clusterId } = context.cluster
  return {
    kind: 'KafkaTopic',
    metadata: { self, resource_name: resourceName(clusterId, { topic: topic.name }) },
    cluster_id: clusterId,
    topic_name: topic.name,
    topic_id: topic.topicId,
    is_internal: topic.internal,
    replication_factor: topic.replicationFactor,
    partitions_count: topic.partitionsCount,
    partitions: { related: `${self}/partitions` },
    configs: { related: `${self}/configs` },
    partition_reassignments: { related: `${self}/partitions/-/reassignment` },
  }
}
