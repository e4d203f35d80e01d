/** Mirror operations of rest-and-cli §1.3: list, create, describe, history and the verbs on batches of topics. */
import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import type { MirrorSelection, MirrorVerb } from '../../link/engine-api.ts'
import { admit, type RestApp, type RestContext, requireReady } from '../context.ts'
import { restError } from '../errors.ts'
import { alterCluster, describeCluster } from '../ports.ts'
import { commonErrors, Flag, LinkParams, listOf, MirrorParams } from '../schemas/envelope.ts'
import {
  AlterMirrorsAnswer,
  AlterMirrorsBody,
  CreateMirrorBody,
  MirrorData,
  MirrorDataList,
  MirrorStateChangeList,
} from '../schemas/mirrors.ts'
import { alterData, mirrorData } from './mirror-answers.ts'

const ROOT = '/kafka/v3/clusters/:cluster_id/links/:link_name/mirrors'

/** `kind` of the answer names the operation really done. */
const VERBS: Record<MirrorVerb, string> = {
  promote: 'KafkaPromoteMirror',
  failover: 'KafkaFailoverMirror',
  pause: 'KafkaPauseMirror',
  resume: 'KafkaResumeMirror',
  'reverse-and-start-mirror': 'KafkaReverseAndStartMirror',
  'reverse-and-pause-mirror': 'KafkaReverseAndPauseMirror',
  'truncate-and-restore': 'KafkaTruncateAndRestoreMirror',
}

/** These change the other cluster too. */
const ALTERS_CLUSTER: ReadonlySet<MirrorVerb> = new Set([
  'reverse-and-start-mirror',
  'reverse-and-pause-mirror',
  'truncate-and-restore',
])

export function mirrorRoutes(app: RestApp, context: RestContext): void {
  readRoutes(app, context)
  historyRoute(app, context)
  createRoute(app, context)
  for (const verb of Object.keys(VERBS) as MirrorVerb[]) verbRoute(app, context, verb)
}

function readRoutes(app: RestApp, context: RestContext): void {
  app.get(
    ROOT,
    {
      schema: {
        summary: 'List mirrors of a link, or of all links with "-"',
        tags: ['mirrors'],
        params: LinkParams,
        querystring: Type.Object({ mirror_status: Type.Optional(Type.String()) }),
        response: { 200: MirrorDataList, ...commonErrors },
      },
    },
    request => {
      const base = admit(context, request, [describeCluster])
      requireReady(context)
      const link = request.params.link_name
      const mirrors = context.engine.listMirrors({
        link: link === '-' ? undefined : link,
        status: request.query.mirror_status,
      })
      const data = mirrors.map(mirror => mirrorData(mirror, { base, withErrors: false }))
      return listOf('KafkaMirrorDataList', `${base}/links/${link}/mirrors`, data) satisfies MirrorDataList
    },
  )

  app.get(
    `${ROOT}/:mirror_topic_name`,
    {
      schema: {
        summary: 'Describe a mirror',
        tags: ['mirrors'],
        params: MirrorParams,
        querystring: Type.Object({ include_state_transition_errors: Flag }),
        response: { 200: MirrorData, ...commonErrors },
      },
    },
    request => {
      const base = admit(context, request, [describeCluster])
      requireReady(context)
      const { link_name: link, mirror_topic_name: topic } = request.params
      const withErrors = request.query.include_state_transition_errors === 'true'
      return mirrorData(context.engine.describeMirror(link, topic), { base, withErrors })
    },
  )
}

function historyRoute(app: RestApp, context: RestContext): void {
  app.get(
    `${ROOT}/:mirror_topic_name/history`,
    {
      schema: {
        summary: 'The last 100 state changes and incidents of a mirror with their reasons, the newest first',
        tags: ['mirrors'],
        params: MirrorParams,
        response: { 200: MirrorStateChangeList, ...commonErrors },
      },
    },
    request => {
      const base = admit(context, request, [describeCluster])
      requireReady(context)
      const { link_name: link, mirror_topic_name: topic } = request.params
      const self = `${base}/links/${link}/mirrors/${topic}/history`
      const data = context.engine
        .describeHistory(link, topic)
        .map(({ timeMs, state, previousState, event, reason }) => ({
          kind: 'KafkaMirrorStateChange' as const,
          metadata: { self, resource_name: null },
          link_name: link,
          mirror_topic_name: topic,
          time_ms: timeMs,
          mirror_status: state,
          previous_status: previousState,
          event,
          reason,
        }))
      return listOf('KafkaMirrorStateChangeList', self, data) satisfies MirrorStateChangeList
    },
  )
}

function createRoute(app: RestApp, context: RestContext): void {
  app.post(
    ROOT,
    {
      schema: {
        summary: 'Create a mirror topic',
        tags: ['mirrors'],
        params: LinkParams,
        querystring: Type.Object({ report: Flag }),
        body: CreateMirrorBody,
        response: { 200: Type.Object({ warnings: Type.Array(Type.String()) }), 204: Type.Null(), ...commonErrors },
      },
    },
    async (request, reply) => {
      const { body } = request
      const topic = body.mirror_topic_name ?? body.source_topic_name
      admit(context, request, [alterCluster, { operation: 'create', resource: 'topic', name: topic }])
      requireReady(context)
      const result = await context.engine.createMirror(request.params.link_name, {
        sourceTopicName: body.source_topic_name,
        mirrorTopicName: body.mirror_topic_name ?? undefined,
        replicationFactor: body.replication_factor ?? undefined,
        configs: new Map((body.configs ?? []).map(entry => [entry.name, entry.value ?? ''])),
      })
      return request.query.report === 'true'
        ? reply.send({ warnings: [...result.warnings] })
        : reply.status(204).send(null)
    },
  )
}

function verbRoute(app: RestApp, context: RestContext, verb: MirrorVerb): void {
  app.post(
    `${ROOT}::${verb}`,
    {
      schema: {
        summary: `${verb} of the named mirrors, or of those whose whole name matches a pattern; errors are per topic`,
        tags: ['mirrors'],
        params: LinkParams,
        querystring: Type.Object({ validate_only: Flag, include_partition_level_truncation_data: Flag }),
        body: AlterMirrorsBody,
        response: { 200: AlterMirrorsAnswer, ...commonErrors },
      },
    },
    async request => {
      const base = admit(context, request, [describeCluster])
      requireReady(context)
      const link = request.params.link_name
      const selection = selectionOf(request.body)
      if ('names' in selection) requireTopicRights(context, request, selection.names)
      if (!('names' in selection) || ALTERS_CLUSTER.has(verb)) admit(context, request, [alterCluster])
      const validateOnly = request.query.validate_only === 'true'
      const together = request.body.together === true
      const withPartitions = request.query.include_partition_level_truncation_data === 'true'
      const { keep_retention: keep, paused, export_divergent: exportDivergent } = request.body
      const rows = await context.engine.alterMirrors(link, verb, {
        ...{ selection, validateOnly, together },
        ...(typeof keep === 'boolean' ? { keepRetention: keep } : {}),
        ...(paused === true ? { paused } : {}),
        ...(exportDivergent === true ? { exportDivergent } : {}),
      })
      return {
        kind: VERBS[verb],
        metadata: { self: `${base}/links/${link}/mirrors`, resource_name: null },
        data: rows.map(row => alterData(row, { self: `${base}/links/${link}/mirrors`, withPartitions })),
      } satisfies AlterMirrorsAnswer
    },
  )
}

function requireTopicRights(context: RestContext, request: FastifyRequest, names: readonly string[]): void {
  const operations = ['alter', 'describe'] as const
  const needs = names.flatMap(name => operations.map(operation => ({ operation, resource: 'topic' as const, name })))
  admit(context, request, needs)
}

/** Throws SELECTION_INVALID. */
export function selectionOf(
  body: Pick<AlterMirrorsBody, 'mirror_topic_names' | 'mirror_topic_name_pattern'>,
): MirrorSelection {
  const names = body.mirror_topic_names ?? undefined
  const pattern = body.mirror_topic_name_pattern ?? undefined
  if (names !== undefined && pattern === undefined) return { names }
  if (pattern !== undefined && names === undefined) return { pattern }
  throw restError('SELECTION_INVALID', {})
}
