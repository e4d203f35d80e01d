/**
 * Produce (0), versions 3–13; the dispatch table calls it.
 *
 * 3: baseline (magic 2, transactional id). 4: KAFKA_STORAGE_ERROR may be answered. 5: log start offset. 7: zstd allowed.
 * 8: record errors and messages (KIP-467). 9: flexible. 10: current leader with NOT_LEADER_OR_FOLLOWER (KIP-951).
 * 11, 12: transaction errors of KIP-890. 13: topic ids instead of names, UNKNOWN_TOPIC_ID.
 * ApiVersions announces 0–13 because librdkafka looks for version 0 (KAFKA-18659); 0–2 are refused like any unknown version.
 *
 * Each partition is decided for itself: WRITE on the topic, unknown topic, write gate (mirrors answer POLICY_VIOLATION), validation, append.
 * The next Produce request of the connection begins once this one's appends are queued, so that requests share flushes.
 * The answer waits until the data is durable (acks=1) and below the high watermark (acks=-1). With acks=0 there is no answer;
 * an error then closes the connection, which is the only way to tell. Partitions of transactional records must be in the
 * transaction (transactional-produce.ts).
 */
import { isInternalTopic } from '../../metadata/topic-names.ts'
import { ErrorCode, errorName } from '../../protocol/errors.ts'
import { ProduceApi, type ProduceRequest, type ProduceResponseInput } from '../../protocol/messages/00-produce.ts'
import { type Acks, type AppendOutcome, appendFromClient, failedAppend } from '../../replica/append-from-client.ts'
import type { Partition } from '../../replica/partition.ts'
import { PartitionUnavailable } from '../../replica/partition-unavailable.ts'
import { allowed } from '../authorization.ts'
import { currentLeader, type NodeEndpoint } from '../endpoints.ts'
import { type BrokerContext, CloseConnection, handlerOf, RequestFailure, type RequestOrigin } from '../handler.ts'
import { type ResolvedTopic, resolveTopic } from '../resolve-topic.ts'
import { checkTransactions, isTransactionalData, noChecks, type TransactionChecks } from '../transactional-produce.ts'

/** Kafka's admin client may write internal topics by this name. */
const ADMIN_CLIENT_ID = '__admin_client'

type PartitionData = ProduceRequest['topicData'][number]['partitionData'][number]

export const produce = handlerOf(ProduceApi, {
  versions: { min: 3, max: 13 },
  announced: { min: 0, max: 13 },
  async handle(broker, request, origin) {
    const acks = request.acks
    origin.throttle?.produced()
    if (acks === 0) origin.throttle?.exempt()
    const transactional = hasTransactionalRecords(request)
    if (transactional && !mayWriteTransactions(broker, origin, request.transactionalId))
      throw new RequestFailure(ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED, 'transactional records')
    const writable = writableTopics(broker, origin)
    const resolved = request.topicData.map(data => ({
      data,
      topic: writable(resolveTopic(origin.image, data), data.name),
    }))
    const checks = transactional ? await checkTransactions(broker, origin, { request, topics: resolved }) : noChecks
    const appends = resolved.map(async ({ data, topic }) => {
      const outcomes = await Promise.all(
        data.partitionData.map(partition => appendOne(broker, { request, origin, topic, partition, checks })),
      )
      return { data, topic, outcomes }
    })
    // All appends have their place in the queues of their partitions: the disk works for several requests at a time.
    origin.progress.accepted()
    const topics = await Promise.all(appends)
    if (acks === 0) return closeAfterError(topics.flatMap(topic => topic.outcomes))
    const endpoints = new Map<number, NodeEndpoint>()
    return {
      responses: topics.map(({ data, topic, outcomes }) => ({
        name: data.name,
        topicId: data.topicId,
        partitionResponses: data.partitionData.flatMap(({ index }, i) => {
          const outcome = outcomes[i]
          return outcome ? answerOf(outcome, { index, topic, origin, endpoints }) : []
        }),
      })),
      nodeEndpoints: [...endpoints.values()],
    }
  },
  failed(request, errorCode, { version }) {
    if (request.acks === 0) throw new CloseConnection(`Produce with acks=0 failed: ${errorName(errorCode)}`)
    return {
      responses: request.topicData.map(data => ({
        name: data.name,
        topicId: data.topicId,
        partitionResponses: data.partitionData.map(({ index }) => ({
          index,
          errorCode,
          baseOffset: -1n,
          ...(version >= 8 ? { errorMessage: null } : {}),
        })),
      })),
    }
  },
})

interface OnePartition {
  readonly request: ProduceRequest
  readonly origin: RequestOrigin
  readonly topic: ResolvedTopic
  readonly partition: PartitionData
  readonly checks: TransactionChecks
}

async function appendOne(broker: BrokerContext, one: OnePartition): Promise<AppendOutcome> {
  const { request, origin, topic, partition: data } = one
  const { image } = topic
  if (!image) return failedAppend(topic.errorCode, null)
  if (!isAcks(request.acks)) return failedAppend(ErrorCode.INVALID_REQUIRED_ACKS, null)
  if (isInternalTopic(image.name) && origin.clientId !== ADMIN_CLIENT_ID)
    return failedAppend(ErrorCode.INVALID_TOPIC_EXCEPTION, `Cannot append to internal topic ${image.name}`)
  const check = one.checks.get(data)
  if (check && 'errorCode' in check) return check
  let partition: Partition
  try {
    partition = broker.replicas.lookup(image.id, data.index)
  } catch (error) {
    if (error instanceof PartitionUnavailable) return failedAppend(error.errorCode, null)
    throw error
  }
  return await appendFromClient(
    partition,
    {
      records: data.records,
      acks: request.acks,
      timeoutMs: Math.max(0, request.timeoutMs),
      produceVersion: origin.version,
      refusal: () => broker.writeGate.refusal(image.id, image.name, 'produce'),
      transaction: check,
    },
    broker.replicas,
  )
}

/** Transactional records without an id are never allowed. */
const mayWriteTransactions = (broker: BrokerContext, origin: RequestOrigin, id: string | null): boolean =>
  id !== null && allowed(broker, origin, { operation: 'WRITE', resource: 'TRANSACTIONAL_ID', name: id })

/** Puts a refusal in the place of a topic that the client may not write. Whether a topic of that name exists is not told. */
function writableTopics(broker: BrokerContext, origin: RequestOrigin) {
  const refused: ResolvedTopic = { errorCode: ErrorCode.TOPIC_AUTHORIZATION_FAILED, image: undefined }
  return (topic: ResolvedTopic, askedName: string): ResolvedTopic => {
    if (topic.errorCode === ErrorCode.UNKNOWN_TOPIC_ID) return topic
    const name = topic.image?.name ?? askedName
    return allowed(broker, origin, { operation: 'WRITE', resource: 'TOPIC', name }) ? topic : refused
  }
}

const isAcks = (acks: number): acks is Acks => acks === 0 || acks === 1 || acks === -1

const hasTransactionalRecords = (request: ProduceRequest): boolean =>
  request.topicData.some(topic => topic.partitionData.some(isTransactionalData))

function closeAfterError(outcomes: readonly AppendOutcome[]): undefined {
  const failed = outcomes.filter(outcome => outcome.errorCode !== ErrorCode.NONE)
  if (failed.length === 0) return undefined
  const names = [...new Set(failed.map(outcome => errorName(outcome.errorCode)))]
  throw new CloseConnection(`Produce with acks=0 failed for ${failed.length} partitions: ${names.join(', ')}`)
}

function answerOf(
  outcome: AppendOutcome,
  of: { index: number; topic: ResolvedTopic; origin: RequestOrigin; endpoints: Map<number, NodeEndpoint> },
): ProduceResponseInput['responses'][number]['partitionResponses'][number] {
  const answer = {
    index: of.index,
    errorCode: outcome.errorCode,
    baseOffset: BigInt(outcome.baseOffset),
    logAppendTimeMs: outcome.logAppendTimeMs,
    logStartOffset: BigInt(outcome.logStartOffset),
    recordErrors: outcome.recordErrors.map(error => ({
      batchIndex: error.batchIndex,
      batchIndexErrorMessage: error.message,
    })),
    errorMessage: outcome.errorMessage,
  }
  if (outcome.errorCode !== ErrorCode.NOT_LEADER_OR_FOLLOWER || of.origin.version < 10) return answer
  const { leader, endpoint } = currentLeader(
    of.origin.image,
    of.topic.image?.partitions[of.index],
    of.origin.client.listener,
  )
  if (endpoint) of.endpoints.set(endpoint.nodeId, endpoint)
  return { ...answer, currentLeader: leader }
}
