/** Configs of topics: list, describe, set, reset, change several; and those that a topic would have (T1 of rest-and-cli §1.3). */
import { Type } from 'typebox'
import type { ConfigChange, ConfigView } from '../cluster-ports.ts'
import { admit, type RestApp, type RestContext } from '../context.ts'
import { restError } from '../errors.ts'
import { describeCluster, topicNeed } from '../ports.ts'
import { resourceName, segment } from '../resource-urls.ts'
import { AlterConfigsBody, SetConfigBody, TopicConfigData, TopicConfigDataList } from '../schemas/configs.ts'
import { ClusterParams, commonErrors, Flag, listOf, TopicParams } from '../schemas/envelope.ts'
import { existingTopic } from './topics.ts'

const TOPICS = '/kafka/v3/clusters/:cluster_id/topics'
const ROOT = `${TOPICS}/:topic_name/configs`
const ConfigParams = Type.Object({ ...TopicParams.properties, name: Type.String() })

export function topicConfigRoutes(app: RestApp, context: RestContext): void {
  listRoutes(app, context)
  defaultsRoute(app, context)
  batchRoute(app, context)
  singleRoutes(app, context)
}

/** What every answer about a config says, whatever it is a config of. */
export const configData = (config: ConfigView) => ({
  name: config.name,
  value: config.isSensitive ? null : config.value,
  is_default: config.isDefault,
  is_read_only: config.isReadOnly,
  is_sensitive: config.isSensitive,
  source: config.source,
  synonyms: config.synonyms.map(({ name, value, source }) => ({
    name,
    value: config.isSensitive ? null : value,
    source,
  })),
})

function listRoutes(app: RestApp, context: RestContext): void {
  app.get(
    ROOT,
    {
      schema: {
        summary: 'List configs of a topic',
        tags: ['topics'],
        params: TopicParams,
        response: { 200: TopicConfigDataList, ...commonErrors },
      },
    },
    request => {
      const topic = request.params.topic_name
      const base = admit(context, request, topicNeed('describe_configs', topic))
      existingTopic(context, topic)
      const data = context.cluster.topicConfigs(topic).map(config => topicConfigData(context, { base, topic, config }))
      return listOf('KafkaTopicConfigList', `${base}/topics/${segment(topic)}/configs`, data) satisfies List
    },
  )

  app.get(
    `${TOPICS}/-/configs`,
    {
      schema: {
        summary: 'List configs of all topics that the caller may know',
        tags: ['topics'],
        params: ClusterParams,
        response: { 200: TopicConfigDataList, ...commonErrors },
      },
    },
    request => {
      const base = admit(context, request, [describeCluster])
      const names = context.cluster.topics().map(({ name }) => name)
      admit(
        context,
        request,
        names.flatMap(name => topicNeed('describe_configs', name)),
      )
      const data = names.flatMap(topic =>
        context.cluster.topicConfigs(topic).map(config => topicConfigData(context, { base, topic, config })),
      )
      return listOf('KafkaTopicConfigList', `${base}/topics/-/configs`, data) satisfies List
    },
  )
}

type List = TopicConfigDataList

function defaultsRoute(app: RestApp, context: RestContext): void {
  app.get(
    `${TOPICS}/:topic_name/default-configs`,
    {
      schema: {
        summary: 'List the configs that a topic of that name would be created with; it need not exist',
        tags: ['topics'],
        params: TopicParams,
        response: { 200: TopicConfigDataList, ...commonErrors },
      },
    },
    request => {
      const topic = request.params.topic_name
      const base = admit(context, request, topicNeed('describe_configs', topic))
      const self = `${base}/topics/${segment(topic)}/default-configs`
      const data = context.cluster.defaultTopicConfigs(topic).map(config => {
        const shown = topicConfigData(context, { base, topic, config })
        return { ...shown, metadata: { ...shown.metadata, self: `${self}/${segment(config.name)}` } }
      })
      return listOf('KafkaTopicConfigList', self, data) satisfies List
    },
  )
}

function batchRoute(app: RestApp, context: RestContext): void {
  app.post(
    `${ROOT}::alter`,
    {
      schema: {
        summary: 'Change configs of a topic, all or none',
        tags: ['topics'],
        params: TopicParams,
        querystring: Type.Object({ validate_only: Flag }),
        body: AlterConfigsBody,
        response: { 204: Type.Null(), ...commonErrors },
      },
    },
    async (request, reply) => {
      const { body, query } = request
      const topic = request.params.topic_name
      admit(context, request, topicNeed('alter_configs', topic))
      existingTopic(context, topic)
      const changes = body.data.map(({ name, value, operation }) =>
        changeOf({ name, value: value ?? null, operation: operation ?? 'SET' }),
      )
      const validateOnly = query.validate_only === 'true' || body.validate_only === true
      await context.cluster.alterTopicConfigs(topic, changes, { validateOnly })
      return reply.status(204).send(null)
    },
  )
}

function singleRoutes(app: RestApp, context: RestContext): void {
  app.get(
    `${ROOT}/:name`,
    {
      schema: {
        summary: 'Describe one config of a topic',
        tags: ['topics'],
        params: ConfigParams,
        response: { 200: TopicConfigData, ...commonErrors },
      },
    },
    request => {
      const { topic_name: topic, name } = request.params
      const base = admit(context, request, topicNeed('describe_configs', topic))
      existingTopic(context, topic)
      return topicConfigData(context, { base, topic, config: existingConfig(context, topic, name) })
    },
  )

  app.put(
    `${ROOT}/:name`,
    {
      schema: {
        summary: 'Set one config of a topic',
        tags: ['topics'],
        params: ConfigParams,
        body: SetConfigBody,
        response: { 204: Type.Null(), ...commonErrors },
      },
    },
    async (request, reply) => {
      const { topic_name: topic, name } = request.params
      admit(context, request, topicNeed('alter_configs', topic))
      existingTopic(context, topic)
      existingConfig(context, topic, name)
      const change = changeOf({ name, operation: 'SET', value: request.body.value ?? null })
      await context.cluster.alterTopicConfigs(topic, [change], { validateOnly: false })
      return reply.status(204).send(null)
    },
  )

  app.delete(
    `${ROOT}/:name`,
    {
      schema: {
        summary: 'Reset one config of a topic to its default',
        tags: ['topics'],
        params: ConfigParams,
        response: { 204: Type.Null(), ...commonErrors },
      },
    },
    async (request, reply) => {
      const { topic_name: topic, name } = request.params
      admit(context, request, topicNeed('alter_configs', topic))
      existingTopic(context, topic)
      existingConfig(context, topic, name)
      const change: ConfigChange = { name, operation: 'DELETE', value: null }
      await context.cluster.alterTopicConfigs(topic, [change], { validateOnly: false })
      return reply.status(204).send(null)
    },
  )
}

function changeOf(change: ConfigChange): ConfigChange {
  if (change.operation === 'SET' && change.value === null)
    throw restError('BODY_INVALID', { problem: `config "${change.name}" needs a value; operation DELETE resets it` })
  return change
}

function existingConfig(context: RestContext, topic: string, name: string): ConfigView {
  const config = context.cluster.topicConfigs(topic).find(found => found.name === name)
  if (!config) throw restError('CONFIG_NOT_FOUND', { name, of: 'topics' })
  return config
}

function topicConfigData(
  context: RestContext,
  { base, topic, config }: { base: string; topic: string; config: ConfigView },
): TopicConfigData {
  const { clusterId } = context.cluster
  return {
    kind: 'KafkaTopicConfig',
    metadata: {
      self: `${base}/topics/${segment(topic)}/configs/${segment(config.name)}`,
      resource_name: resourceName(clusterId, { topic, config: config.name }),
    },
    cluster_id: clusterId,
    topic_name: topic,
    ...configData(config),
  }
}
