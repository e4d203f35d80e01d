/** Link operations L1 to L4 of rest-and-cli §1.2. */
import { Type } from 'typebox'
import { uuidToHex } from '../../core/uuid.ts'
import type { CreateLinkRequest, LinkView } from '../../link/engine-api.ts'
import { admit, type RestApp, type RestContext, requireReady } from '../context.ts'
import { alterCluster, describeCluster } from '../ports.ts'
import { ClusterParams, commonErrors, Flag, LinkParams, listOf } from '../schemas/envelope.ts'
import { CreateLinkBody, LinkData, LinkDataList, LinkReport } from '../schemas/links.ts'

const ROOT = '/kafka/v3/clusters/:cluster_id/links'

export function linkRoutes(app: RestApp, context: RestContext): void {
  readRoutes(app, context)
  changeRoutes(app, context)
}

function readRoutes(app: RestApp, context: RestContext): void {
  app.get(
    ROOT,
    {
      schema: {
        summary: 'List links',
        tags: ['links'],
        params: ClusterParams,
        querystring: Type.Object({ include_tasks: Flag }),
        response: { 200: LinkDataList, ...commonErrors },
      },
    },
    request => {
      const base = admit(context, request, [describeCluster])
      requireReady(context)
      const withTasks = request.query.include_tasks === 'true'
      const data = context.engine.listLinks().map(link => linkData(link, { base, withTasks }))
      return listOf('KafkaLinkDataList', `${base}/links`, data) satisfies LinkDataList
    },
  )

  app.get(
    `${ROOT}/:link_name`,
    {
      schema: {
        summary: 'Describe a link',
        tags: ['links'],
        params: LinkParams,
        querystring: Type.Object({ include_tasks: Flag }),
        response: { 200: LinkData, ...commonErrors },
      },
    },
    request => {
      const base = admit(context, request, [describeCluster])
      requireReady(context)
      const link = context.engine.describeLink(request.params.link_name)
      return linkData(link, { base, withTasks: request.query.include_tasks === 'true' })
    },
  )
}

function changeRoutes(app: RestApp, context: RestContext): void {
  app.post(
    ROOT,
    {
      schema: {
        summary: 'Create a link',
        tags: ['links'],
        params: ClusterParams,
        querystring: Type.Object({
          link_name: Type.String({ minLength: 1 }),
          validate_only: Flag,
          validate_link: Flag,
          report: Flag,
        }),
        body: CreateLinkBody,
        response: { 200: LinkReport, 204: Type.Null(), ...commonErrors },
      },
    },
    async (request, reply) => {
      admit(context, request, [alterCluster])
      requireReady(context)
      const { query } = request
      const result = await context.engine.createLink(createRequest(query.link_name, request.body), {
        validateOnly: query.validate_only === 'true',
        validateLink: query.validate_link !== 'false',
      })
      if (query.report !== 'true') return reply.status(204).send(null)
      return reply.send({ warnings: [...result.warnings], cluster_link_id: result.linkId } satisfies LinkReport)
    },
  )

  app.delete(
    `${ROOT}/:link_name`,
    {
      schema: {
        summary: 'Delete a link; refused while a mirror is not STOPPED unless force fails them over first',
        tags: ['links'],
        params: LinkParams,
        querystring: Type.Object({ force: Flag, validate_only: Flag, report: Flag }),
        response: { 200: Type.Union([LinkReport, Type.String()]), ...commonErrors },
      },
    },
    async (request, reply) => {
      admit(context, request, [alterCluster])
      requireReady(context)
      const report = await context.engine.deleteLink(request.params.link_name, {
        force: request.query.force === 'true',
        validateOnly: request.query.validate_only === 'true',
      })
      if (request.query.report !== 'true') return reply.status(200).type('application/json').serializer(String).send('')
      return reply.send({ warnings: [...report.warnings], failed_over: [...report.failedOver] } satisfies LinkReport)
    },
  )
}

/** The engine's request for a body. */
export function createRequest(name: string, body: CreateLinkBody): CreateLinkRequest {
  return {
    name,
    sourceClusterId: body.source_cluster_id ?? undefined,
    destinationClusterId: body.destination_cluster_id ?? undefined,
    remoteClusterId: body.remote_cluster_id ?? undefined,
    clusterLinkId: body.cluster_link_id ?? undefined,
    configs: new Map((body.configs ?? []).map(entry => [entry.name, entry.value ?? ''])),
  }
}

function linkData(link: LinkView, view: { base: string; withTasks: boolean }): LinkData {
  return {
    kind: 'KafkaLinkData',
    metadata: { self: `${view.base}/links/${link.name}`, resource_name: null },
    source_cluster_id: link.sourceClusterId,
    destination_cluster_id: link.destinationClusterId,
    remote_cluster_id: link.remoteClusterId,
    link_name: link.name,
    link_id: uuidToHex(link.linkId),
    cluster_link_id: link.linkId,
    topic_names: [...link.topicNames],
    link_state: link.state,
    link_error: link.error,
    link_error_message: link.errorMessage,
    link_error_time_ms: link.errorSinceMs,
    ...(view.withTasks ? { tasks: taskData(link) } : {}),
    max_lag: link.lagMax,
    max_lag_ms: link.lagMsMax,
    mirrored_bytes: link.mirroredBytes,
    mirror_status_counts: link.mirrorCounts.map(({ status, count }) => ({ mirror_status: status, count })),
    troubled_mirror_count: link.troubledMirrors,
    category_counts: link.categoryCounts.map(({ category, count }) => ({ state_category: category, count })),
  }
}

function taskData(link: LinkView) {
  return link.tasks.map(task => ({
    task_name: task.name,
    state: task.state,
    errors: task.errors.map(({ code, message }) => ({ error_code: code, error_message: message })),
    last_success_ms: task.lastSuccessMs,
    reason: task.reason ?? null,
  }))
}
