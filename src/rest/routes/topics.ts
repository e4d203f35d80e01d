/** The plain v3 topic resources: list, create, describe, delete, partitions and configs. */

import { Type } from 'typebox'
import { admit, type RestApp, type RestContext } from '../context.ts'
import { restError } from '../errors.ts'
import { describeCluster, type TopicView } from '../ports.ts'
import {
  CreateTopicBody,
  PartitionDataList,
  TopicConfigDataList,
  TopicData,
  TopicDataList,
} from '../schemas/clusters.ts'
import { ClusterParams, commonErrors, listOf, TopicParams } from '../schemas/envelope.ts'

const ROOT = '/kafka/v3/clusters/:cluster_id/topics'
const onTopic = (operation: 'describe' | 'create' | 'delete' | 'describe_configs', name: string) =>
  [{ operation, resource: 'topic', name }] as const

export function topicRoutes(app: RestApp, context: RestContext): void {
  readRoutes(app, context)
  changeRoutes(app, context)
  partRoutes(app, context)
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
      const data = context.cluster.topics().map(topic => topicData(context, base, topic))
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
        response: { 200: TopicData, ...commonErrors },
      },
    },
    request => {
      const name = request.params.topic_name
      const base = admit(context, request, onTopic('describe', name))
      return topicData(context, base, existing(context, name))
    },
  )
}

function changeRoutes(app: RestApp, context: RestContext): void {
  app.post(
    ROOT,
    {
      schema: {
        summary: 'Create a topic',
        tags: ['topics'],
        params: ClusterParams,
        body: CreateTopicBody,
        response: { 201: TopicData, ...commonErrors },
      },
    },
    async (request, reply) => {
      const { body } = request
      const base = admit(context, request, onTopic('create', body.topic_name))
      await context.cluster.createTopic({
        name: body.topic_name,
        partitions: body.partitions_count,
        replicationFactor: body.replication_factor,
        configs: new Map((body.configs ?? []).map(entry => [entry.name, entry.value])),
      })
      return reply.status(201).send(topicData(context, base, existing(context, body.topic_name)))
    },
  )

  app.delete(
    `${ROOT}/:topic_name`,
    {
      schema: {
        summary: 'Delete a topic; of a mirror this ends the mirror',
        tags: ['topics'],
        params: TopicParams,
        response: { 204: Type.Null(), ...commonErrors },
      },
    },
    async (request, reply) => {
      const name = request.params.topic_name
      admit(context, request, onTopic('delete', name))
      existing(context, name)
      await context.cluster.deleteTopic(name)
      return reply.status(204).send(null)
    },
  )
}

function partRoutes(app: RestApp, context: RestContext): void {
  app.get(
    `${ROOT}/:topic_name/partitions`,
    {
      schema: {
        summary: 'List partitions of a topic',
        tags: ['topics'],
        params: TopicParams,
        response: { 200: PartitionDataList, ...commonErrors },
      },
    },
    request => {
      const name = request.params.topic_name
      const base = admit(context, request, onTopic('describe', name))
      const self = `${base}/topics/${name}/partitions`
      const data = existing(context, name).partitions.map(part => ({
        kind: 'KafkaPartition' as const,
        metadata: { self: `${self}/${part.partition}`, resource_name: null },
        cluster_id: context.cluster.clusterId,
        topic_name: name,
        partition_id: part.partition,
        leader: part.leader < 0 ? null : { related: `${self}/${part.partition}/replicas/${part.leader}` },
        leader_id: part.leader,
        replicas: [...part.replicas],
        isr: [...part.isr],
      }))
      return listOf('KafkaPartitionList', self, data) satisfies PartitionDataList
    },
  )

  app.get(
    `${ROOT}/:topic_name/configs`,
    {
      schema: {
        summary: 'List configs of a topic',
        tags: ['topics'],
        params: TopicParams,
        response: { 200: TopicConfigDataList, ...commonErrors },
      },
    },
    request => {
      const name = request.params.topic_name
      const base = admit(context, request, onTopic('describe_configs', name))
      existing(context, name)
      const self = `${base}/topics/${name}/configs`
      const data = context.cluster.topicConfigs(name).map(config => ({
        kind: 'KafkaTopicConfig' as const,
        metadata: { self: `${self}/${config.name}`, resource_name: null },
        cluster_id: context.cluster.clusterId,
        topic_name: name,
        name: config.name,
        value: config.isSensitive ? null : config.value,
        is_default: config.isDefault,
        is_read_only: config.isReadOnly,
        is_sensitive: config.isSensitive,
        source: config.source,
      }))
      return listOf('KafkaTopicConfigList', self, data) satisfies TopicConfigDataList
    },
  )
}

function existing(context: RestContext, name: string): TopicView {
  const topic = context.cluster.topic(name)
  if (!topic) throw restError('TOPIC_NOT_FOUND', { topic: name })
  return topic
}

function topicData(context: RestContext, base: string, topic: TopicView): TopicData {
  const self = `${base}/topics/${topic.name}`
  return {
    kind: 'KafkaTopic',
    metadata: { self, resource_name: null },
    cluster_id: context.cluster.clusterId,
    topic_name: topic.name,
    topic_id: topic.topicId,
    is_internal: topic.internal,
    replication_factor: topic.replicationFactor,
    partitions_count: topic.partitions.length,
    partitions: { related: `${self}/partitions` },
    configs: { related: `${self}/configs` },
  }
}
