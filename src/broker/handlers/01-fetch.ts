/**
 * Fetch (1), versions 4–18; the dispatch table calls it.
 *
 * 4: baseline (isolation level, aborted transactions). 5: log start offsets. 6: KAFKA_STORAGE_ERROR. 7: fetch sessions (KIP-227).
 * 9: leader epochs (KIP-320). 10: zstd. 11: rack, preferred replica (KIP-392). 12: flexible, last fetched epoch and divergence
 * (KIP-595). 13: topic ids. 15: replica state (KIP-903). 16: current leader and its address (KIP-951). 17, 18: raft only.
 *
 * Reads whole batches in the order of the request or of its session and waits until `minBytes` are there or `maxWaitMs` are
 * over. Read_committed answers end at the last stable offset and list aborted transactions. Answers are as large as the
 * request, `fetch.max.bytes` and the client's own pace allow, out of one budget of memory for all clients. Consumers need READ
 * on the topic, followers CLUSTER_ACTION. In a cluster with other brokers consumers may be sent to one of them (redirected-fetch.ts).
 */
import { ZERO_UUID } from '../../core/uuid.ts'
import type { MetadataImage, TopicImage } from '../../metadata/metadata-image.ts'
import { ErrorCode } from '../../protocol/errors.ts'
import { FetchApi, type FetchRequest, type FetchResponseInput } from '../../protocol/messages/01-fetch.ts'
import { AnswerMemory } from '../../replica/answer-memory.ts'
import { fetchFromLog } from '../../replica/fetch-from-log.ts'
import type { FetchTarget } from '../../replica/fetch-query.ts'
import { type FetchedPartition, refusedFetch } from '../../replica/read-partition.ts'
import { allowed, allowedOnCluster, isEverythingAllowed } from '../authorization.ts'
import { currentLeader, type NodeEndpoint } from '../endpoints.ts'
import { type AnsweredPartition, beginRound, TOPIC_ID_VERSION } from '../fetch-sessions/fetch-round.ts'
import { type PartitionAnswer, SessionPartition, type WantedPartition } from '../fetch-sessions/session-partition.ts'
import { type BrokerContext, handlerOf, type RequestOrigin } from '../handler.ts'
import { type RedirectedFetch, redirectedFetch } from '../redirected-fetch.ts'
import { resolveFetched } from '../resolve-topic.ts'

/** KAFKA_STORAGE_ERROR is unknown to clients up to this version. */
const NO_STORAGE_ERROR_VERSION_MAX = 5
/** From this version on a consumer may have been sent here by the leader (KIP-392). */
const ANY_REPLICA_VERSION = 11
/** From this version on a follower says its broker epoch. */
const REPLICA_STATE_VERSION = 15
/** From this version on the answer names the present leader. */
const CURRENT_LEADER_VERSION = 16
/** Of one partition's answer without its records, about. */
const PARTITION_BYTES = 40
/** One answer takes at most this part of the memory for answers that is free. */
const SHARES = 16
const SHARE_BYTES_MIN = 64 * 1024

export const fetch = handlerOf(FetchApi, {
  versions: { min: 4, max: 18 },
  async handle(broker, request, origin) {
    const replicaId = origin.version >= REPLICA_STATE_VERSION ? request.replicaState.replicaId : request.replicaId
    const { version } = origin
    const round = beginRound(broker.fetchSessions, request, { version, fromFollower: replicaId >= 0 })
    if ('errorCode' in round) return { throttleTimeMs: 0, errorCode: round.errorCode, responses: [] }
    if (replicaId >= 0) origin.throttle?.exempt()
    const readable = replicaId >= 0 ? readableByFollower(broker, origin) : readableByConsumer(broker, origin)
    const resolved = round.wanted.map(wanted => resolve(origin.image, wanted, readable))
    const redirected = replicaId === CONSUMER_REPLICA_ID ? redirectedOf(broker, request, { resolved, origin }) : NONE
    const targets = resolved.flatMap(one => (one.target && !redirected.has(one) ? one.target : []))
    // Whoever is sent elsewhere need not wait for the others.
    const maxWaitMs = redirected.size > 0 ? 0 : request.maxWaitMs
    const fetched = (await readTargets(broker, request, { targets, origin, replicaId, maxWaitMs })).values()
    const endpoints = new Map<number, NodeEndpoint>()
    const { image } = broker.controller
    const answers = resolved.map(one => {
      const { wanted, topic, target, errorCode } = one
      const elsewhere = redirected.get(one)
      const result = elsewhere?.result ?? (target ? fetched.next().value : undefined) ?? missingPartition(errorCode)
      const answer = answerOf(result, { wanted, topic, origin, image, endpoints })
      return { wanted, answer: elsewhere ? { ...answer, preferredReadReplica: elsewhere.replica } : answer }
    })
    const bytes = answers.reduce((sum, { answer }) => sum + PARTITION_BYTES + (answer.records?.length ?? 0), 0)
    const mayAnswer = replicaId >= 0 || (origin.throttle?.mayFetch(bytes) ?? true)
    const { errorCode, sessionId, told } = mayAnswer ? round.conclude(answers) : round.postpone()
    return {
      throttleTimeMs: 0,
      errorCode,
      ...(version >= 7 ? { sessionId } : {}),
      responses: byTopic(told, version),
      nodeEndpoints: [...endpoints.values()],
    }
  },
  failed(request, errorCode, { version }) {
    // Before version 7 there is no error of the whole answer.
    if (version >= 7) return { throttleTimeMs: 0, errorCode, responses: [] }
    return {
      throttleTimeMs: 0,
      responses: request.topics.map(({ topic, topicId, partitions }) => ({
        topic,
        topicId,
        partitions: partitions.map(({ partition }) => ({
          partitionIndex: partition,
          errorCode,
          highWatermark: -1n,
          abortedTransactions: null,
          records: EMPTY,
        })),
      })),
    }
  },
})

const EMPTY = Buffer.alloc(0)
const CONSUMER_REPLICA_ID = -1
const DEBUGGING_REPLICA_ID = -2
const NONE: ReadonlyMap<Resolved, RedirectedFetch> = new Map()

/** A wanted partition, with what to read or why there is nothing to read. */
interface Resolved {
  readonly wanted: WantedPartition
  readonly topic: TopicImage | undefined
  readonly errorCode: number
  readonly target: FetchTarget | undefined
}

/** May the asker read the topic? undefined = a topic id that belongs to no topic. */
type Readable = (topic: string | undefined) => boolean

function readableByFollower(broker: BrokerContext, origin: RequestOrigin): Readable {
  const all = allowedOnCluster(broker, origin, 'CLUSTER_ACTION')
  return () => all
}

/** Each topic is decided once per request. */
function readableByConsumer(broker: BrokerContext, origin: RequestOrigin): Readable {
  if (isEverythingAllowed(broker)) return () => true
  const known = new Map<string | undefined, boolean>([[undefined, true]])
  return name => {
    const decided = known.get(name)
    if (decided !== undefined || name === undefined) return decided ?? true
    const result = allowed(broker, origin, { operation: 'READ', resource: 'TOPIC', name })
    known.set(name, result)
    return result
  }
}

/** Partitions that the image lacks, or that the asker may not read, are answered without being looked up, and do not end the wait of the others. */
function resolve(image: MetadataImage, wanted: WantedPartition, readable: Readable): Resolved {
  const { partition, asked } = wanted
  const inSession = wanted instanceof SessionPartition ? wanted : undefined
  const name =
    wanted.topicId === ZERO_UUID ? wanted.topic : (image.topics.get(wanted.topicId)?.name ?? inSession?.topicName)
  if (!readable(name))
    return { wanted, topic: undefined, errorCode: ErrorCode.TOPIC_AUTHORIZATION_FAILED, target: undefined }
  const { errorCode, topic } = resolveFetched(image, wanted, inSession?.topicName)
  if (topic && inSession) inSession.topicName = topic.name
  if (!topic) return { wanted, topic, errorCode, target: undefined }
  const target = {
    topicId: topic.id,
    topic: topic.name,
    partition,
    fetchOffset: Number(asked.fetchOffset),
    currentLeaderEpoch: asked.currentLeaderEpoch,
    lastFetchedEpoch: asked.lastFetchedEpoch,
    partitionBytesMax: asked.partitionMaxBytes,
  }
  return { wanted, topic, errorCode, target }
}

/** Those that are not read here. */
function redirectedOf(
  broker: BrokerContext,
  request: FetchRequest,
  { resolved, origin }: { readonly resolved: readonly Resolved[]; readonly origin: RequestOrigin },
): ReadonlyMap<Resolved, RedirectedFetch> {
  const redirected = resolved.flatMap(one => {
    const { target, topic } = one
    const elsewhere = target && topic && redirectedFetch(broker, request, { target, topic, origin })
    return elsewhere ? [[one, elsewhere] as const] : []
  })
  return new Map(redirected)
}

/** One result per target, in their order. */
async function readTargets(
  broker: BrokerContext,
  request: FetchRequest,
  of: {
    readonly targets: readonly FetchTarget[]
    readonly origin: RequestOrigin
    readonly replicaId: number
    readonly maxWaitMs: number
  },
): Promise<FetchedPartition[]> {
  const { client, progress } = of.origin
  const memory = new AnswerMemory(broker.answerBudget, client.signal, broker.answerBuffers)
  progress.onAnswered(() => memory.release())
  const { fetchBytesMax } = broker.settings
  const quotaBytes = (of.replicaId < 0 && of.origin.throttle?.fetchBytesMax) || Number.POSITIVE_INFINITY
  const bytesMax = Math.min(request.maxBytes, fetchBytesMax, client.answerBytesMax, shareOf(broker), quotaBytes)
  const query = {
    replicaId: of.replicaId,
    brokerEpoch: of.origin.version >= REPLICA_STATE_VERSION ? Number(request.replicaState.replicaEpoch) : -1,
    fromAnyReplica:
      of.replicaId === DEBUGGING_REPLICA_ID ||
      (of.replicaId === CONSUMER_REPLICA_ID && of.origin.version >= ANY_REPLICA_VERSION),
    isolation: request.isolationLevel === 1 ? ('read_committed' as const) : ('read_uncommitted' as const),
    maxWaitMs: of.maxWaitMs,
    minBytes: Math.min(request.minBytes, bytesMax),
    bytesMax,
    targets: of.targets,
    memory,
    signal: client.signal,
  }
  return await fetchFromLog(broker.replicas, query, broker.clock)
}

/** The fewer memory is left, the smaller the answers: a hundred clients that take none cannot use it up. */
const shareOf = ({ answerBudget }: BrokerContext): number =>
  Math.max(SHARE_BYTES_MIN, Math.floor(answerBudget.freeBytes / SHARES))

/** Kafka's answer for what it does not even look up, to the letter. */
const missingPartition = (errorCode: number): FetchedPartition => ({
  ...refusedFetch(errorCode),
  abortedTransactions: errorCode === ErrorCode.INCONSISTENT_TOPIC_ID ? null : [],
})

/** Neighbours of one topic share an entry. */
function byTopic(told: readonly AnsweredPartition[], version: number): FetchResponseInput['responses'] {
  const topics: { topic: string; topicId: WantedPartition['topicId']; partitions: PartitionAnswer[] }[] = []
  for (const { wanted, answer } of told) {
    const { topic, topicId } = wanted
    const last = topics.at(-1)
    const same = last && (version >= TOPIC_ID_VERSION ? last.topicId === topicId : last.topic === topic)
    if (same) last.partitions.push(answer)
    else topics.push({ topic, topicId, partitions: [answer] })
  }
  return topics
}

function answerOf(
  result: FetchedPartition,
  of: {
    readonly wanted: WantedPartition
    readonly topic: TopicImage | undefined
    readonly origin: RequestOrigin
    /** The newest: who waited learns where the leader went meanwhile. */
    readonly image: MetadataImage
    readonly endpoints: Map<number, NodeEndpoint>
  },
): PartitionAnswer {
  const { version } = of.origin
  const { partition } = of.wanted
  const answer: PartitionAnswer = {
    partitionIndex: partition,
    errorCode: errorCodeFor(version, result.errorCode),
    highWatermark: BigInt(result.highWatermark),
    lastStableOffset: BigInt(result.lastStableOffset),
    logStartOffset: BigInt(result.logStartOffset),
    abortedTransactions:
      result.abortedTransactions?.map(({ producerId, firstOffset }) => ({
        producerId,
        firstOffset: BigInt(firstOffset),
      })) ?? null,
    records: result.records,
    ...(result.divergingEpoch
      ? {
          divergingEpoch: {
            epoch: result.divergingEpoch.epoch,
            endOffset: BigInt(result.divergingEpoch.endOffset),
          },
        }
      : {}),
  }
  const movedAway =
    result.errorCode === ErrorCode.NOT_LEADER_OR_FOLLOWER || result.errorCode === ErrorCode.FENCED_LEADER_EPOCH
  if (!movedAway || version < CURRENT_LEADER_VERSION) return answer
  const place = of.topic && of.image.topics.get(of.topic.id)?.partitions[partition]
  const { leader, endpoint } = currentLeader(of.image, place, of.origin.client.listener)
  if (endpoint) of.endpoints.set(endpoint.nodeId, endpoint)
  return { ...answer, currentLeader: leader }
}

const errorCodeFor = (version: number, errorCode: number): number =>
  errorCode === ErrorCode.KAFKA_STORAGE_ERROR && version <= NO_STORAGE_ERROR_VERSION_MAX
    ? ErrorCode.NOT_LEADER_OR_FOLLOWER
    : errorCode
