/**
 * ShareFetch (78), versions 1–2 (KIP-932), of a joined node; its dispatch table has it in the place of the standalone one.
 *
 * 2: acquire modes, renewal.
 *
 * A Lockstep node that leads a mirror acquires no records for share groups: each partition is told once why, and from then on
 * the requests of the session wait their time and are answered without it, so that the consumer stays subscribed at no cost.
 * As soon as a partition is led by another broker the answer names it (KIP-951). Needs READ on the group and the topic.
 */
import { sleep } from '../../core/clock.ts'
import { ErrorCode } from '../../protocol/errors.ts'
import {
  ShareFetchApi,
  type ShareFetchRequest,
  type ShareFetchResponseInput,
} from '../../protocol/messages/78-share-fetch.ts'
import { type BrokerContext, handlerOf, type RequestOrigin } from '../handler.ts'
import { endpointsOf, requireShareGroup, type ShareAnswer, type SharePlace, shareAnswer } from './share-answers.ts'
import { type ShareSession, ShareSessions } from './share-sessions.ts'

/** Kafka's `group.share.record.lock.duration.ms`; told, though nothing is acquired here. */
const LOCK_MS = 30_000
/** Longer than any client should want. */
const WAIT_MS_MAX = 30_000

interface Told extends SharePlace {
  readonly answer: ShareAnswer
}

const EMPTY = Buffer.alloc(0)
const sessions = new ShareSessions()

export const shareFetch = handlerOf(ShareFetchApi, {
  versions: ShareFetchApi.request.versions,
  async handle(broker, request, origin) {
    requireShareGroup(broker, origin, request.groupId)
    const session = sessions.next(request, origin.client)
    const acknowledged = acknowledgedIn(request)
    if (!session)
      return respond(
        acknowledged.map(place => told(broker, origin, place)),
        acknowledged,
      )
    const news = newsOf(broker, origin, { session, acknowledged })
    if (news.length > 0) return respond(news, acknowledged)
    await sleep(broker.clock, Math.min(request.maxWaitMs, WAIT_MS_MAX), origin.client.signal).catch(() => {})
    return respond(newsOf(broker, origin, { session, acknowledged }), acknowledged)
  },
  failed: (_request, errorCode) => ({ ...respond([], []), errorCode }),
})

/** Places of which the client says what became of records. */
const acknowledgedIn = ({ topics }: ShareFetchRequest): SharePlace[] =>
  topics.flatMap(({ topicId, partitions }) =>
    partitions.flatMap(({ partitionIndex: partition, acknowledgementBatches }) =>
      acknowledgementBatches.length > 0 ? [{ topicId, partition }] : [],
    ),
  )

const told = (broker: BrokerContext, origin: RequestOrigin, place: SharePlace): Told => ({
  ...place,
  answer: shareAnswer(broker, origin, place),
})

/** What the client has not been told yet; it counts as told. */
function newsOf(
  broker: BrokerContext,
  origin: RequestOrigin,
  { session, acknowledged }: { readonly session: ShareSession; readonly acknowledged: readonly SharePlace[] },
): Told[] {
  const owed = new Set(acknowledged.map(({ topicId, partition }) => `${topicId}:${partition}`))
  return [...session.places].flatMap(([key, place]) => {
    const one = told(broker, origin, place)
    const { errorCode, currentLeader } = one.answer
    const text = `${errorCode} ${currentLeader.leaderId} ${currentLeader.leaderEpoch}`
    if (session.told.get(key) === text && !owed.has(key)) return []
    session.told.set(key, text)
    return [one]
  })
}

function respond(all: readonly Told[], acknowledged: readonly SharePlace[]): ShareFetchResponseInput {
  const owed = new Set(acknowledged.map(({ topicId, partition }) => `${topicId}:${partition}`))
  const topics = Map.groupBy(all, ({ topicId }) => topicId)
  return {
    throttleTimeMs: 0,
    errorCode: ErrorCode.NONE,
    errorMessage: null,
    acquisitionLockTimeoutMs: LOCK_MS,
    responses: [...topics].map(([topicId, places]) => ({
      topicId,
      partitions: places.map(({ partition, answer: { endpoint: _, ...answer } }) => ({
        partitionIndex: partition,
        ...answer,
        // What this node never gave out cannot be acknowledged here.
        acknowledgeErrorCode: owed.has(`${topicId}:${partition}`) ? ErrorCode.INVALID_RECORD_STATE : ErrorCode.NONE,
        records: EMPTY,
        acquiredRecords: [],
      })),
    })),
    nodeEndpoints: endpointsOf(all.map(({ answer }) => answer)),
  }
}
