/** Groups that a link keeps in step, and its tasks (our own additions, rest-and-cli §B): list, adopt, run now. */
import { Type } from 'typebox'
import type { GroupOffsetView } from '../../link/engine-api.ts'
import { admit, type RestApp, type RestContext, requireReady } from '../context.ts'
import { alterCluster, describeCluster } from '../ports.ts'
import { commonErrors, LinkParams, listOf } from '../schemas/envelope.ts'
import { AdoptGroupAnswer, LinkGroupDataList } from '../schemas/groups.ts'

const LINK = '/kafka/v3/clusters/:cluster_id/links/:link_name'

export function groupRoutes(app: RestApp, context: RestContext): void {
  app.get(
    `${LINK}/groups`,
    {
      schema: {
        summary: 'Offsets of groups as the last rounds of the sync found them, by group, topic and partition',
        tags: ['links'],
        params: LinkParams,
        response: { 200: LinkGroupDataList, ...commonErrors },
      },
    },
    request => {
      const base = admit(context, request, [describeCluster])
      requireReady(context)
      const link = request.params.link_name
      const self = `${base}/links/${link}/groups`
      const data = context.engine.listGroupOffsets(link).map(row => groupData(row, { link, self }))
      return listOf('KafkaLinkGroupDataList', self, data) satisfies LinkGroupDataList
    },
  )

  app.post(
    `${LINK}/groups/:group_id(^.+)::adopt`,
    {
      schema: {
        summary: 'Let the link overwrite offsets of a group that it did not write',
        tags: ['links'],
        params: Type.Object({ ...LinkParams.properties, group_id: Type.String() }),
        response: { 200: AdoptGroupAnswer, ...commonErrors },
      },
    },
    async request => {
      admit(context, request, [alterCluster])
      requireReady(context)
      const { link_name: link, group_id: group } = request.params
      const adopted = await context.engine.adoptGroup(link, group)
      return { group_id: group, adopted_offsets: adopted } satisfies AdoptGroupAnswer
    },
  )

  app.post(
    `${LINK}/tasks/:task_name(^.+)::run`,
    {
      schema: {
        summary: 'Run a sync task now',
        tags: ['links'],
        params: Type.Object({ ...LinkParams.properties, task_name: Type.String() }),
        response: { 204: Type.Null(), ...commonErrors },
      },
    },
    async (request, reply) => {
      admit(context, request, [alterCluster])
      requireReady(context)
      context.engine.runTask(request.params.link_name, request.params.task_name)
      return reply.status(204).send(null)
    },
  )
}

const groupData = (row: GroupOffsetView, { link, self }: { link: string; self: string }) => ({
  kind: 'KafkaLinkGroupData' as const,
  metadata: { self, resource_name: null },
  link_name: link,
  group_id: row.group,
  source_group_id: row.sourceGroup,
  topic_type: row.topicType,
  topic_name: row.topic,
  partition: row.partition,
  source_offset: row.sourceOffset,
  synced_offset: row.syncedOffset,
  synced_time_ms: row.syncedTimeMs,
  clamped: row.clamped,
  state: row.state,
  reason: row.reason,
})
