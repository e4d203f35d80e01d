/** Verify: comparisons of mirrors with their sources, begun, watched and cancelled (rest-and-cli §B, semantics §10). */
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { VerificationView, VerifiedPartitionView } from '../../link/engine-api.ts'
import { admit, isAllowed, type RestApp, type RestContext, requireReady } from '../context.ts'
import { EventStream } from '../event-stream.ts'
import { alterCluster, describeCluster } from '../ports.ts'
import { commonErrors, LinkParams, listOf } from '../schemas/envelope.ts'
import {
  VerificationData,
  VerificationDataList,
  VerificationParams,
  VerifyMirrorsBody,
} from '../schemas/verification.ts'
import { selectionOf } from './mirrors.ts'

const LINK = '/kafka/v3/clusters/:cluster_id/links/:link_name'
const PROGRESS_MS = 500

export function verificationRoutes(app: RestApp, context: RestContext): void {
  beginRoute(app, context)
  readRoutes(app, context)
  cancelRoute(app, context)
}

function beginRoute(app: RestApp, context: RestContext): void {
  app.post(
    `${LINK}/mirrors::verify`,
    {
      schema: {
        summary:
          'Compare mirrors with their sources, batch by batch. With Accept: text/event-stream progress and result come as events, and whoever goes away cancels it',
        tags: ['mirrors'],
        params: LinkParams,
        body: VerifyMirrorsBody,
        response: { 202: VerificationData, ...commonErrors },
      },
    },
    async (request, reply) => {
      const base = admit(context, request, [alterCluster])
      requireReady(context)
      const { link_name: link } = request.params
      const { body } = request
      const verification = context.engine.verifications.begin(link, {
        selection: selectionOf(body),
        partitions: body.partitions ?? undefined,
        fromOffset: body.from_offset ?? undefined,
        toOffset: body.to_offset ?? undefined,
        maxBytesPerSecond: body.max_bytes_per_second ?? undefined,
      })
      if (!(request.headers.accept ?? '').includes('text/event-stream'))
        return reply.status(202).send(verificationData(verification, base))
      void stream(context, { request, reply, base }, verification)
      return reply
    },
  )
}

/** Progress until the end, then the result. */
async function stream(
  context: RestContext,
  { request, reply, base }: { request: FastifyRequest; reply: FastifyReply; base: string },
  { id, linkName }: VerificationView,
): Promise<void> {
  const { verifications } = context.engine
  const events = new EventStream(request, reply, () => isAllowed(context, request, [alterCluster]))
  const tell = () => {
    const view = verifications.describe(linkName, id)
    events.send({ event: 'progress', data: progressData(verificationData(view, base)) })
  }
  events.closed.addEventListener('abort', () => void verifications.cancel(linkName, id).catch(() => {}))
  const timer = setInterval(() => {
    try {
      tell()
    } catch {
      events.end()
    }
  }, PROGRESS_MS)
  try {
    tell()
    await verifications.ended(linkName, id)
    events.send({ event: 'result', data: verificationData(verifications.describe(linkName, id), base) })
  } catch (error) {
    context.logger.warn('the progress of a verification cannot be told', { error })
  } finally {
    clearInterval(timer)
    events.end()
  }
}

function readRoutes(app: RestApp, context: RestContext): void {
  app.get(
    `${LINK}/verifications`,
    {
      schema: {
        summary: 'Verifications of a link that run, or ended lately, the newest first',
        tags: ['mirrors'],
        params: LinkParams,
        response: { 200: VerificationDataList, ...commonErrors },
      },
    },
    request => {
      const base = admit(context, request, [describeCluster])
      requireReady(context)
      const { link_name: link } = request.params
      const data = context.engine.verifications.list(link).map(view => verificationData(view, base))
      return listOf('KafkaMirrorVerificationList', `${base}/links/${link}/verifications`, data)
    },
  )
  app.get(
    `${LINK}/verifications/:verification_id`,
    {
      schema: {
        summary: 'How a verification stands',
        tags: ['mirrors'],
        params: VerificationParams,
        response: { 200: VerificationData, ...commonErrors },
      },
    },
    request => {
      const base = admit(context, request, [describeCluster])
      requireReady(context)
      const { link_name: link, verification_id: id } = request.params
      return verificationData(context.engine.verifications.describe(link, id), base)
    },
  )
}

function cancelRoute(app: RestApp, context: RestContext): void {
  app.delete(
    `${LINK}/verifications/:verification_id`,
    {
      schema: {
        summary: 'Cancel a verification; one that has ended stays as it is',
        tags: ['mirrors'],
        params: VerificationParams,
        response: { 200: VerificationData, ...commonErrors },
      },
    },
    async request => {
      const base = admit(context, request, [alterCluster])
      requireReady(context)
      const { link_name: link, verification_id: id } = request.params
      return verificationData(await context.engine.verifications.cancel(link, id), base)
    },
  )
}

function verificationData(view: VerificationView, base: string): VerificationData {
  const partitions = view.topics.flatMap(topic => topic.partitions)
  const sum = (of: (partition: VerifiedPartitionView) => number) => partitions.reduce((all, one) => all + of(one), 0)
  return {
    kind: 'KafkaMirrorVerification',
    metadata: { self: `${base}/links/${view.linkName}/verifications/${view.id}`, resource_name: null },
    link_name: view.linkName,
    verification_id: view.id,
    state: view.state,
    outcome: view.outcome,
    start_time_ms: view.startTimeMs,
    end_time_ms: view.endTimeMs,
    total_offsets: sum(({ fromOffset, toOffset }) => (toOffset ?? 0) - (fromOffset ?? 0)),
    done_offsets: sum(({ fromOffset, nextOffset }) => (nextOffset ?? 0) - (fromOffset ?? 0)),
    compared_bytes: sum(({ comparedBytes }) => comparedBytes),
    compared_batches: sum(({ comparedBatches }) => comparedBatches),
    compared_records: sum(({ comparedRecords }) => comparedRecords),
    topics: view.topics.map(topic => ({
      mirror_topic_name: topic.mirrorTopicName,
      source_topic_name: topic.sourceTopicName,
      error_code: topic.errorCode,
      error_message: topic.errorMessage,
      partitions: topic.partitions.map(partitionData),
    })),
  }
}

/** Figures of all, but by name only partitions that are at work or have something to tell. */
function progressData(data: VerificationData): VerificationData {
  const quiet: ReadonlySet<string> = new Set(['WAITING', 'EQUAL'])
  const topics = data.topics.map(topic => ({
    ...topic,
    partitions: topic.partitions.filter(({ state }) => !quiet.has(state)),
  }))
  return { ...data, topics: topics.filter(topic => topic.error_code !== null || topic.partitions.length > 0) }
}

const partitionData = (partition: VerifiedPartitionView) => ({
  partition: partition.partition,
  state: partition.state,
  method: partition.method,
  from_offset: partition.fromOffset,
  to_offset: partition.toOffset,
  next_offset: partition.nextOffset,
  compared_bytes: partition.comparedBytes,
  compared_batches: partition.comparedBatches,
  compared_records: partition.comparedRecords,
  records_only_at_source: partition.recordsOnlyAtSource,
  records_only_at_mirror: partition.recordsOnlyAtMirror,
  difference: partition.difference,
  not_compared: partition.notCompared.map(({ from, to, reason }) => ({ from_offset: from, to_offset: to, reason })),
  message: partition.message,
})
