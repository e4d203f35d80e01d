/** `GET …/events`: what happens to links and mirrors as server-sent events, resumable, bounded (rest-and-cli §B). */
import { Type } from 'typebox'
import { type LinkEngineEvent as EngineEvent, everythingKept, type NumberedEvent } from '../../link/engine-api.ts'
import { admit, isAllowed, type RestApp, type RestContext, requireReady } from '../context.ts'
import { restError } from '../errors.ts'
import { EventStream, type ServerSentEvent } from '../event-stream.ts'
import { describeCluster } from '../ports.ts'
import { ClusterParams, commonErrors, Flag } from '../schemas/envelope.ts'
import { LinkEngineEvent } from '../schemas/events.ts'

/** Clients that may listen at the same time. */
const CLIENTS_MAX = 100

export function eventRoutes(app: RestApp, context: RestContext): void {
  let clients = 0
  app.get(
    '/kafka/v3/clusters/:cluster_id/events',
    {
      schema: {
        summary:
          'Server-sent events: states of mirrors, errors of tasks, states of links, samples of lags. Last-Event-ID resumes while its event is kept; if not, an event "missed" says so',
        tags: ['events'],
        params: ClusterParams,
        querystring: Type.Object({
          link_name: Type.Optional(Type.String()),
          /** Types, separated by commas; all if left out. */
          types: Type.Optional(Type.String()),
          last_event_id: Type.Optional(Type.String()),
          /** true = without Last-Event-ID all events that are kept come first. */
          history: Flag,
          /** Topics in samples of lags: all (if left out), those whose figures have changed since the last sample, or none. */
          lag_topics: Type.Optional(Type.Union([Type.Literal('all'), Type.Literal('changed'), Type.Literal('none')])),
        }),
        response: { 200: LinkEngineEvent, ...commonErrors },
      },
    },
    async (request, reply) => {
      admit(context, request, [describeCluster])
      requireReady(context)
      if (clients >= CLIENTS_MAX) throw restError('TOO_MANY_LISTENERS', { max: CLIENTS_MAX })
      const { link_name: link, types, last_event_id: asked, history, lag_topics: lagTopics } = request.query
      const wanted = types === undefined ? undefined : new Set(types.split(',').map(type => type.trim()))
      const given = request.headers['last-event-id'] ?? asked
      const isGiven = typeof given === 'string' && given !== ''
      const afterId = isGiven ? given : history === 'true' ? everythingKept : undefined
      const narrowed = narrowing(lagTopics)
      const stream = new EventStream(request, reply, () => isAllowed(context, request, [describeCluster]))
      const isAsked = ({ event }: NumberedEvent) =>
        (link === undefined || event.linkName === link) && (wanted?.has(event.type) ?? true)
      const send = (found: NumberedEvent) => {
        if (isAsked(found)) stream.send(sentEvent(narrowed(found)))
      }
      const subscription = context.engine.events.subscribe(send, afterId)
      clients++
      stream.closed.addEventListener('abort', () => {
        clients--
        subscription.close()
      })
      if (subscription.missed) stream.send({ event: 'missed', data: missed(subscription.timeMs) })
      stream.sendHistory(subscription.events.filter(isAsked).map(sentEvent))
      return reply
    },
  )
}

const missed = (timeMs: number): LinkEngineEvent => ({
  type: 'missed',
  time_ms: timeMs,
  message:
    'Events behind Last-Event-ID are not kept any more, or it is of another run of the node: read the state anew.',
})

/** For one listener: which topics its samples of lags name. With thousands of mirrors most figures stay as they are. */
function narrowing(topics: 'all' | 'changed' | 'none' = 'all'): (found: NumberedEvent) => NumberedEvent {
  const told = new Map<string, string>()
  return found => {
    const { event } = found
    if (topics === 'all' || event.type !== 'lag') return found
    const isChanged = (topic: (typeof event.topics)[number]): boolean => {
      const name = `${event.linkName}/${topic.mirrorTopicName}`
      const figures = `${topic.lagMax} ${topic.lagTotal} ${topic.lagMs}`
      if (told.get(name) === figures) return false
      told.set(name, figures)
      return true
    }
    return { ...found, event: { ...event, topics: topics === 'none' ? [] : event.topics.filter(isChanged) } }
  }
}

const sentEvent = ({ id, event }: NumberedEvent): ServerSentEvent => ({
  ...(id === undefined ? {} : { id }),
  event: event.type,
  data: eventData(event),
})

function eventData(event: EngineEvent): LinkEngineEvent {
  const { timeMs: time_ms, linkName: link_name } = event
  switch (event.type) {
    case 'state':
      return {
        ...{ type: event.type, time_ms, link_name, mirror_topic_name: event.mirrorTopicName },
        ...{ mirror_status: event.status, previous_status: event.previousStatus },
        ...{ event: event.event, reason: event.reason },
      }
    case 'task': {
      const { name: task_name, state, errors } = event.task
      const shown = errors.map(({ code, message }) => ({ error_code: code, error_message: message }))
      return { type: event.type, time_ms, link_name, task_name, state, errors: shown }
    }
    case 'link':
      return {
        ...{ type: event.type, time_ms, link_name, link_state: event.state, link_error: event.error },
        link_error_message: event.errorMessage,
      }
    case 'lag':
      return {
        ...{ type: event.type, time_ms, link_name, max_lag: event.lagMax, max_lag_ms: event.lagMsMax },
        mirrored_bytes: event.mirroredBytes,
        topics: event.topics.map(topic => ({
          mirror_topic_name: topic.mirrorTopicName,
          max_lag: topic.lagMax,
          total_lag: topic.lagTotal,
          lag_ms: topic.lagMs,
        })),
      }
  }
}
