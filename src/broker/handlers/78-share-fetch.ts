/**
 * ShareFetch (78), versions 1–2 (KIP-932); the dispatch table calls it.
 *
 * 2: a mode in which no more records are acquired than asked for (KIP-1206); locks may be renewed (KIP-1222), and a request that
 * does so fetches nothing.
 *
 * Gives a member of a share group records that nobody else holds, out of the partitions of its session, in turns; waits until
 * `minBytes` are there or `maxWaitMs` are over. Acknowledgements come along and are answered when they are durable. The final
 * epoch ends the session and fetches nothing. READ on the group and on the topics.
 */
import { offsetToWire } from '../../core/offset.ts'
import type { Uuid } from '../../core/uuid.ts'
import { ErrorCode, errorName } from '../../protocol/errors.ts'
import {
  ShareFetchApi,
  type ShareFetchRequest,
  type ShareFetchResponseInput,
} from '../../protocol/messages/78-share-fetch.ts'
import { AnswerMemory } from '../../replica/answer-memory.ts'
import { currentLeader, type NodeEndpoint } from '../endpoints.ts'
import { type BrokerContext, handlerOf, RequestFailure, type RequestOrigin } from '../handler.ts'
import { byTopicId } from '../share-fetch/by-topic-id.ts'
import { inSession, shareMember, shareTopics } from '../share-fetch/share-access.ts'
import {
  type AcknowledgedPartition,
  acknowledgeAll,
  hasAcknowledgements,
} from '../share-fetch/share-acknowledgements.ts'
import { fetchShares, type SharedRecords } from '../share-fetch/share-fetch-round.ts'
import { FINAL_EPOCH, FIRST_EPOCH, type SharedPartition, type ShareMember } from '../share-fetch/share-sessions.ts'

const RENEW_VERSION = 2
const RECORD_LIMIT = 1

export const shareFetch = handlerOf(ShareFetchApi, {
  versions: { min: 1, max: 2 },
  async handle(broker, request, origin) {
    const member = shareMember(broker, origin, request)
    const renews = origin.version >= RENEW_VERSION && request.isRenewAck
    if (renews) requireNoFetch(request)
    const wanted = inSession(() => sessionPartitions(broker, request, { member, origin }))
    const errorOf = shareTopics(broker, origin)
    const acknowledging = acknowledgeAll(broker, request.topics, { member, errorOf, renews })
    const isFinal = request.shareSessionEpoch === FINAL_EPOCH
    const fetching = isFinal || renews ? [] : fetchWanted(broker, request, { member, origin, wanted, errorOf })
    const [acknowledged, fetched] = await Promise.all([acknowledging, fetching])
    origin.throttle?.shared(fetched.reduce((bytes, { records }) => bytes + records.length, 0))
    if (isFinal) broker.shareSessions.end(member)
    const { lockMs } = broker.sharePartitions.groupSettings(member.groupId)
    const isNew = request.shareSessionEpoch === FIRST_EPOCH
    const answers = joined(fetched, acknowledged, isNew ? wanted : [])
    return answerOf(answers, { origin, lockMs })
  },
  failed: (_request, errorCode) => ({
    throttleTimeMs: 0,
    errorCode,
    errorMessage: errorName(errorCode),
    acquisitionLockTimeoutMs: 0,
    responses: [],
    nodeEndpoints: [],
  }),
})

/** Kafka's clients send none of these with a renewal. */
function requireNoFetch({ maxBytes, minBytes, maxRecords, maxWaitMs }: ShareFetchRequest): void {
  if (maxBytes !== 0 || minBytes !== 0 || maxRecords !== 0 || maxWaitMs !== 0)
    throw new RequestFailure(ErrorCode.INVALID_REQUEST, 'a request that renews locks fetches nothing')
}

/** What the member wants of its session now; nothing at its end. Throws RequestFailure. */
function sessionPartitions(
  { shareSessions }: BrokerContext,
  request: ShareFetchRequest,
  { member, origin }: { readonly member: ShareMember; readonly origin: RequestOrigin },
): readonly SharedPartition[] {
  const { shareSessionEpoch: epoch, topics, forgottenTopicsData } = request
  if (epoch === FINAL_EPOCH) {
    shareSessions.final(member)
    return []
  }
  if (epoch === FIRST_EPOCH && hasAcknowledgements(topics))
    throw new RequestFailure(ErrorCode.INVALID_REQUEST, 'a session does not begin with acknowledgements')
  return shareSessions.fetch(member, {
    epoch,
    wanted: topics.flatMap(({ topicId, partitions }) =>
      partitions.map(({ partitionIndex: partition }) => ({ topicId, partition })),
    ),
    forgotten: forgottenTopicsData.flatMap(({ topicId, partitions }) =>
      partitions.map(partition => ({ topicId, partition })),
    ),
    client: origin.client,
  })
}

async function fetchWanted(
  broker: BrokerContext,
  request: ShareFetchRequest,
  of: {
    readonly member: ShareMember
    readonly origin: RequestOrigin
    readonly wanted: readonly SharedPartition[]
    readonly errorOf: (topicId: Uuid, partition: number) => number
  },
): Promise<SharedRecords[]> {
  const { client, progress } = of.origin
  const refused = of.wanted.flatMap(wanted => {
    const errorCode = of.errorOf(wanted.topicId, wanted.partition)
    return errorCode === ErrorCode.NONE ? [] : { ...wanted, errorCode, records: NOTHING, acquired: [] }
  })
  const readable = of.wanted.filter(({ topicId, partition }) => of.errorOf(topicId, partition) === ErrorCode.NONE)
  // Nothing to wait for: the errors are the answer.
  if (readable.length === 0 || request.maxRecords <= 0) return refused
  const memory = new AnswerMemory(broker.answerBudget, client.signal, broker.answerBuffers)
  progress.onAnswered(() => memory.release())
  const fetched = await fetchShares(broker, {
    member: of.member,
    wanted: rotated(readable, request.shareSessionEpoch),
    recordsMax: request.maxRecords,
    batchSize: Math.max(1, request.batchSize),
    mode: request.shareAcquireMode === RECORD_LIMIT ? 'record_limit' : 'batch_optimized',
    maxWaitMs: request.maxWaitMs,
    minBytes: request.minBytes,
    bytesMax: bytesMax(broker, request, of.origin),
    memory,
    signal: client.signal,
  })
  return [...fetched, ...refused]
}

const bytesMax = (broker: BrokerContext, request: ShareFetchRequest, { client, throttle }: RequestOrigin): number =>
  Math.min(
    request.maxBytes,
    broker.settings.fetchBytesMax,
    client.answerBytesMax,
    shareOf(broker),
    throttle?.fetchBytesMax ?? Number.POSITIVE_INFINITY,
  )

const NOTHING = Buffer.alloc(0)
/** One answer takes at most this part of the memory for answers that is free. */
const SHARES = 16
const SHARE_BYTES_MIN = 64 * 1024

const shareOf = ({ answerBudget }: BrokerContext): number =>
  Math.max(SHARE_BYTES_MIN, Math.floor(answerBudget.freeBytes / SHARES))

/** Another partition is the first one each time. */
function rotated<T>(all: readonly T[], turn: number): readonly T[] {
  const first = turn % all.length
  return [...all.slice(first), ...all.slice(0, first)]
}

interface JoinedAnswer extends SharedRecords {
  readonly acknowledgeErrorCode: number
}

/** Fetched and acknowledged partitions in one list, and those that a new session is told of though there is nothing yet. */
function joined(
  fetched: readonly SharedRecords[],
  acknowledged: readonly AcknowledgedPartition[],
  wanted: readonly SharedPartition[],
): JoinedAnswer[] {
  const name = ({ topicId, partition }: SharedPartition) => `${topicId}:${partition}`
  const answers = new Map<string, JoinedAnswer>()
  const empty = { errorCode: ErrorCode.NONE, acknowledgeErrorCode: ErrorCode.NONE, records: NOTHING, acquired: [] }
  for (const { topicId, partition } of wanted)
    answers.set(name({ topicId, partition }), { topicId, partition, ...empty })
  for (const one of fetched) answers.set(name(one), { ...empty, ...one })
  for (const { topicId, partition, errorCode } of acknowledged) {
    const known = answers.get(name({ topicId, partition })) ?? { topicId, partition, ...empty }
    answers.set(name({ topicId, partition }), { ...known, acknowledgeErrorCode: errorCode })
  }
  return [...answers.values()]
}

function answerOf(
  answers: readonly JoinedAnswer[],
  { origin, lockMs }: { readonly origin: RequestOrigin; readonly lockMs: number },
): ShareFetchResponseInput {
  const endpoints = new Map<number, NodeEndpoint>()
  const responses = byTopicId(answers, answer => {
    const { topicId, partition, errorCode, acknowledgeErrorCode, records } = answer
    const image = origin.image.topics.get(topicId)?.partitions[partition]
    const { leader, endpoint } = currentLeader(origin.image, image, origin.client.listener)
    const movedAway = [errorCode, acknowledgeErrorCode].includes(ErrorCode.NOT_LEADER_OR_FOLLOWER)
    if (movedAway && endpoint) endpoints.set(endpoint.nodeId, endpoint)
    return {
      partitionIndex: partition,
      errorCode,
      acknowledgeErrorCode,
      currentLeader: movedAway ? leader : { leaderId: 0, leaderEpoch: 0 },
      records,
      acquiredRecords: answer.acquired.map(({ firstOffset, lastOffset, deliveryCount }) => ({
        firstOffset: offsetToWire(firstOffset),
        lastOffset: offsetToWire(lastOffset),
        deliveryCount,
      })),
    }
  })
  const nodeEndpoints = [...endpoints.values()]
  return { throttleTimeMs: 0, errorCode: ErrorCode.NONE, acquisitionLockTimeoutMs: lockMs, responses, nodeEndpoints }
}
