/**
 * Fetch (1), versions 4–18; the dispatch table calls it.
 *
 * 4: baseline (isolation level, aborted transactions). 5: log start offsets. 6: KAFKA_STORAGE_ERROR. 7: fetch sessions (KIP-227).
 * 9: leader epochs (KIP-320). 10: zstd. 11: rack, preferred replica (KIP-392). 12: flexible, last fetched epoch and divergence
 * (KIP-595). 13: topic ids. 15: replica state (KIP-903). 16: current leader and its address (KIP-951). 17, 18: raft only.
 *
 * Reads whole batches in the order of the request and waits until `minBytes` are there or `maxWaitMs` are over. Sessions are
 * not kept: every answer carries session id 0, which tells the client to send full requests; asking for a session that
 * cannot exist is answered with FETCH_SESSION_ID_NOT_FOUND. Read_committed answers end at the last stable offset and list
 * aborted transactions.
 */
import type { TopicImage } from '../../metadata/metadata-image.ts'
import { ErrorCode } from '../../protocol/errors.ts'
import { FetchApi, type FetchRequest, type FetchResponseInput } from '../../protocol/messages/01-fetch.ts'
import { fetchFromLog } from '../../replica/fetch-from-log.ts'
import type { FetchTarget } from '../../replica/fetch-query.ts'
import { type FetchedPartition, refusedFetch } from '../../replica/read-partition.ts'
import { currentLeader, type NodeEndpoint } from '../endpoints.ts'
import { type BrokerContext, handlerOf, type RequestOrigin } from '../handler.ts'
import { resolveTopic } from '../resolve-topic.ts'

/** Session epochs that ask for a full answer: start of a session, or none. */
const FULL_FETCH_EPOCHS: readonly number[] = [0, -1]
/** KAFKA_STORAGE_ERROR is unknown to clients up to this version. */
const NO_STORAGE_ERROR_VERSION_MAX = 5
/** From this version on the answer names the present leader. */
const CURRENT_LEADER_VERSION = 16

type FetchTopic = FetchRequest['topics'][number]
type PartitionAnswer = FetchResponseInput['responses'][number]['partitions'][number]

export const fetch = handlerOf(FetchApi, {
  versions: { min: 4, max: 18 },
  async handle(broker, request, origin) {
    if (!FULL_FETCH_EPOCHS.includes(request.sessionEpoch))
      return { throttleTimeMs: 0, errorCode: ErrorCode.FETCH_SESSION_ID_NOT_FOUND, responses: [] }
    const topics = request.topics.map(asked => ({
      asked,
      ...resolveTopic(origin.image, { name: asked.topic, topicId: asked.topicId }),
    }))
    const targets = topics.flatMap(({ asked, image }) => (image ? targetsOf(asked, image) : []))
    const fetched = await fetchFromLog(broker.replicas, queryOf(broker, request, { targets, origin }), broker.clock)
    const results = new Map(
      targets.map((target, i) => [target, fetched[i] ?? refusedFetch(ErrorCode.UNKNOWN_SERVER_ERROR)]),
    )
    const endpoints = new Map<number, NodeEndpoint>()
    const byPartition = resultsByPartition(results)
    return {
      throttleTimeMs: 0,
      responses: topics.map(({ asked, image, errorCode }) => ({
        topic: asked.topic,
        topicId: asked.topicId,
        partitions: asked.partitions.map(({ partition }) => {
          const missing = missingPartition(image ? ErrorCode.UNKNOWN_TOPIC_OR_PARTITION : errorCode)
          const result = (image && byPartition.get(`${image.id}:${partition}`)) ?? missing
          return answerOf(result, { partition, image, origin, endpoints })
        }),
      })),
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

const missingPartition = (errorCode: number): FetchedPartition => ({
  ...refusedFetch(errorCode),
  abortedTransactions: [],
})

/** Partitions that the image lacks are answered without being looked up, and do not end the wait of the others. */
const targetsOf = (asked: FetchTopic, image: TopicImage): FetchTarget[] =>
  asked.partitions
    .filter(({ partition }) => image.partitions[partition] !== undefined)
    .map(partition => ({
      topicId: image.id,
      topic: image.name,
      partition: partition.partition,
      fetchOffset: Number(partition.fetchOffset),
      currentLeaderEpoch: partition.currentLeaderEpoch,
      lastFetchedEpoch: partition.lastFetchedEpoch,
      partitionBytesMax: partition.partitionMaxBytes,
    }))

function queryOf(
  broker: BrokerContext,
  request: FetchRequest,
  of: { readonly targets: readonly FetchTarget[]; readonly origin: RequestOrigin },
) {
  return {
    replicaId: of.origin.version >= 15 ? request.replicaState.replicaId : request.replicaId,
    isolation: request.isolationLevel === 1 ? ('read_committed' as const) : ('read_uncommitted' as const),
    maxWaitMs: request.maxWaitMs,
    minBytes: request.minBytes,
    bytesMax: Math.min(request.maxBytes, broker.settings.fetchBytesMax),
    targets: of.targets,
    signal: of.origin.client.signal,
  }
}

const resultsByPartition = (results: ReadonlyMap<FetchTarget, FetchedPartition>): Map<string, FetchedPartition> =>
  new Map([...results].map(([target, result]) => [`${target.topicId}:${target.partition}`, result]))

function answerOf(
  result: FetchedPartition,
  of: {
    readonly partition: number
    readonly image: TopicImage | undefined
    readonly origin: RequestOrigin
    readonly endpoints: Map<number, NodeEndpoint>
  },
): PartitionAnswer {
  const { version } = of.origin
  const answer: PartitionAnswer = {
    partitionIndex: of.partition,
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
  const { leader, endpoint } = currentLeader(
    of.origin.image,
    of.image?.partitions[of.partition],
    of.origin.client.listener,
  )
  if (endpoint) of.endpoints.set(endpoint.nodeId, endpoint)
  return { ...answer, currentLeader: leader }
}

const errorCodeFor = (version: number, errorCode: number): number =>
  errorCode === ErrorCode.KAFKA_STORAGE_ERROR && version <= NO_STORAGE_ERROR_VERSION_MAX
    ? ErrorCode.NOT_LEADER_OR_FOLLOWER
    : errorCode
