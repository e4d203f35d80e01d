/** How far consumer groups are behind: `lags`, each lag, `lag-summary`. Topics that the caller may not describe are left out. */
import { Type } from 'typebox'
import type { GroupLagView } from '../cluster-ports.ts'
import { admit, type RestApp, type RestContext } from '../context.ts'
import { restError } from '../errors.ts'
import { clientOf } from '../login.ts'
import { topicNeed } from '../ports.ts'
import { segment } from '../resource-urls.ts'
import { ConsumerGroupLagSummaryData, ConsumerLagData, ConsumerLagDataList } from '../schemas/consumer-groups.ts'
import { commonErrors, GroupParams, listOf, PathNumber } from '../schemas/envelope.ts'
import { existingGroup, groupNeed, groupPlace } from './consumer-groups.ts'

const ROOT = '/kafka/v3/clusters/:cluster_id/consumer-groups/:consumer_group_id'
const LagParams = Type.Object({ ...GroupParams.properties, topic_name: Type.String(), partition_id: PathNumber })

/** A lag whose log end is known: the others are not told, since v3 has no way to say it. */
type KnownLag = GroupLagView & { readonly logEndOffset: number }

export function consumerLagRoutes(app: RestApp, context: RestContext): void {
  listRoute(app, context)
  oneRoute(app, context)
  summaryRoute(app, context)
}

function listRoute(app: RestApp, context: RestContext): void {
  app.get(
    `${ROOT}/lags`,
    {
      schema: {
        summary: 'List lags of a consumer group: what it has committed, and how far the partitions have come',
        tags: ['consumer groups'],
        params: GroupParams,
        response: { 200: ConsumerLagDataList, ...commonErrors },
      },
    },
    async request => {
      const id = request.params.consumer_group_id
      const base = admit(context, request, groupNeed(id))
      const isVisible = (topic: string) =>
        context.access.firstDenied(clientOf(request), topicNeed('describe', topic)) === undefined
      const lags = await knownLags(context, id)
      const place = groupPlace(context, base, id)
      const data = lags.filter(({ topic }) => isVisible(topic)).map(lag => lagData(place, lag))
      return listOf('KafkaConsumerLagList', `${place.self}/lags`, data) satisfies ConsumerLagDataList
    },
  )
}

function oneRoute(app: RestApp, context: RestContext): void {
  app.get(
    `${ROOT}/lags/:topic_name/partitions/:partition_id`,
    {
      schema: {
        summary: 'Describe the lag of a consumer group in one partition',
        tags: ['consumer groups'],
        params: LagParams,
        response: { 200: ConsumerLagData, ...commonErrors },
      },
    },
    async request => {
      const { consumer_group_id: id, topic_name: topic, partition_id: partition } = request.params
      const base = admit(context, request, [...groupNeed(id), ...topicNeed('describe', topic)])
      const lags = await knownLags(context, id)
      const lag = lags.find(found => found.topic === topic && found.partition === Number(partition))
      if (!lag) throw restError('GROUP_NOT_FOUND', { what: `lag of consumer group "${id}" in "${topic}-${partition}"` })
      return lagData(groupPlace(context, base, id), lag)
    },
  )
}

function summaryRoute(app: RestApp, context: RestContext): void {
  app.get(
    `${ROOT}/lag-summary`,
    {
      schema: {
        summary: 'The largest and the total lag of a consumer group; 404 where it has committed nothing',
        tags: ['consumer groups'],
        params: GroupParams,
        response: { 200: ConsumerGroupLagSummaryData, ...commonErrors },
      },
    },
    async request => {
      const id = request.params.consumer_group_id
      const base = admit(context, request, groupNeed(id))
      const isVisible = (topic: string) =>
        context.access.firstDenied(clientOf(request), topicNeed('describe', topic)) === undefined
      const lags = (await knownLags(context, id)).filter(({ topic }) => isVisible(topic))
      const [first, ...others] = lags
      if (!first) throw restError('GROUP_NOT_FOUND', { what: `lag of consumer group "${id}"` })
      const largest = others.reduce((max, lag) => (lagOf(lag) > lagOf(max) ? lag : max), first)
      const { self, fields, nameOf } = groupPlace(context, base, id)
      const { topic, partition, member } = largest
      return {
        kind: 'KafkaConsumerGroupLagSummary',
        metadata: { self: `${self}/lag-summary`, resource_name: `${nameOf({})}/lag-summary` },
        ...fields,
        max_lag_consumer_id: member?.memberId ?? '',
        max_lag_instance_id: member?.instanceId ?? null,
        max_lag_client_id: member?.clientId ?? '',
        max_lag_topic_name: topic,
        max_lag_partition_id: partition,
        max_lag: lagOf(largest),
        total_lag: lags.reduce((sum, lag) => sum + lagOf(lag), 0),
        max_lag_consumer: { related: `${self}/consumers/${segment(member?.memberId ?? '')}` },
        max_lag_partition: { related: `${base}/topics/${segment(topic)}/partitions/${partition}` },
      } satisfies ConsumerGroupLagSummaryData
    },
  )
}

async function knownLags(context: RestContext, groupId: string): Promise<KnownLag[]> {
  const lags = await context.groups.lags(existingGroup(context, groupId))
  return lags.flatMap(lag => (lag.logEndOffset === null ? [] : [{ ...lag, logEndOffset: lag.logEndOffset }]))
}

/** Commit and log end are not read at one moment: a commit that is ahead is no negative lag. */
const lagOf = ({ currentOffset, logEndOffset }: KnownLag): number => Math.max(0, logEndOffset - currentOffset)

function lagData({ self, fields, nameOf }: ReturnType<typeof groupPlace>, lag: KnownLag): ConsumerLagData {
  const { topic, partition, member } = lag
  return {
    kind: 'KafkaConsumerLag',
    metadata: {
      self: `${self}/lags/${segment(topic)}/partitions/${partition}`,
      resource_name: nameOf({ lag: topic, partition }),
    },
    ...fields,
    topic_name: topic,
    partition_id: partition,
    current_offset: lag.currentOffset,
    log_end_offset: lag.logEndOffset,
    lag: lagOf(lag),
    consumer_id: member?.memberId ?? '',
    instance_id: member?.instanceId ?? null,
    client_id: member?.clientId ?? '',
  }
}
