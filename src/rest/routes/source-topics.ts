/** Why topics of a link's source are, or are not, mirrored (our own additions, rest-and-cli §B). */
import { Type } from 'typebox'
import type { TopicExplanation } from '../../link/engine-api.ts'
import { admit, type RestApp, type RestContext, requireReady } from '../context.ts'
import { describeCluster } from '../ports.ts'
import { segment } from '../resource-urls.ts'
import { commonErrors, LinkParams, listOf, MirrorParams } from '../schemas/envelope.ts'
import { MirrorExplanation, SourceTopicDataList } from '../schemas/source-topics.ts'

const LINK = '/kafka/v3/clusters/:cluster_id/links/:link_name'

export function sourceTopicRoutes(app: RestApp, context: RestContext): void {
  listRoute(app, context)
  explainRoutes(app, context)
}

function listRoute(app: RestApp, context: RestContext): void {
  app.get(
    `${LINK}/source-topics`,
    {
      schema: {
        summary: "Topics of the link's source, with whether and why (not) each is mirrored, by name",
        tags: ['links'],
        params: LinkParams,
        response: { 200: SourceTopicDataList, ...commonErrors },
      },
    },
    async request => {
      const base = admit(context, request, [describeCluster])
      requireReady(context)
      const link = request.params.link_name
      const self = `${base}/links/${segment(link)}/source-topics`
      const data = (await context.engine.topics.list(link)).map(topic => ({
        kind: 'KafkaSourceTopicData' as const,
        metadata: { self, resource_name: null },
        link_name: link,
        source_topic_name: topic.sourceTopicName,
        mirror_topic_name: topic.mirrorTopicName,
        num_partitions: topic.numPartitions,
        mirrored: topic.mirrored,
        mirror_status: topic.mirrorStatus,
        reason: topic.reason,
        message: topic.message,
      }))
      return listOf('KafkaSourceTopicDataList', self, data) satisfies SourceTopicDataList
    },
  )
}

function explainRoutes(app: RestApp, context: RestContext): void {
  app.get(
    `${LINK}/explain`,
    {
      schema: {
        summary: 'Why a topic of the source is, or is not, mirrored: each condition with its answer',
        tags: ['links'],
        params: LinkParams,
        querystring: Type.Object({ topic: Type.String({ minLength: 1 }) }),
        response: { 200: MirrorExplanation, ...commonErrors },
      },
    },
    async request => {
      const base = admit(context, request, [describeCluster])
      requireReady(context)
      const { link_name: link } = request.params
      const { topic } = request.query
      const self = `${base}/links/${segment(link)}/explain?topic=${encodeURIComponent(topic)}`
      return explanationData(await context.engine.topics.explain(link, { sourceTopic: topic }), self)
    },
  )

  app.get(
    `${LINK}/mirrors/:mirror_topic_name/explain`,
    {
      schema: {
        summary: 'Why there is, or is not, a mirror of that name, and whether it follows its source',
        tags: ['mirrors'],
        params: MirrorParams,
        response: { 200: MirrorExplanation, ...commonErrors },
      },
    },
    async request => {
      const base = admit(context, request, [describeCluster])
      requireReady(context)
      const { link_name: link, mirror_topic_name: mirrorTopic } = request.params
      const self = `${base}/links/${segment(link)}/mirrors/${segment(mirrorTopic)}/explain`
      return explanationData(await context.engine.topics.explain(link, { mirrorTopic }), self)
    },
  )
}

function explanationData(explained: TopicExplanation, self: string): MirrorExplanation {
  return {
    kind: 'KafkaMirrorExplanation',
    metadata: { self, resource_name: null },
    link_name: explained.linkName,
    source_topic_name: explained.sourceTopicName,
    mirror_topic_name: explained.mirrorTopicName,
    mirrored: explained.mirrored,
    conclusion: explained.conclusion,
    conditions: explained.conditions.map(condition => ({ ...condition })),
  }
}
