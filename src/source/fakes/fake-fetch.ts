/** How the fake cluster answers Fetch: long polls, errors, redirects; called by FakeKafka only. */
import type { Clock } from '../../core/clock.ts'
import type { Uuid } from '../../core/uuid.ts'
import type { IncomingRequest } from '../../network/request-handler.ts'
import { ErrorCode } from '../../protocol/errors.ts'
import { FetchRequest, FetchResponse, type FetchResponseInput } from '../../protocol/messages/01-fetch.ts'
import type { FakeSessions } from './fake-sessions.ts'

/** One partition's log: the records are opaque, one entry per offset (see `entryOf`). */
export interface FakePartition {
  leader: number
  leaderEpoch: number
  logStart: number
  end: number
  /** Answered by OffsetForLeaderEpoch. */
  epochEnds: Map<number, { epoch: number; endOffset: number }>
}

export interface FakeTopic {
  topicId: Uuid
  errorCode: number
  partitions: FakePartition[]
  configs: { name: string; value: string | null; configSource: number }[]
}

/** What answering needs of the cluster. */
export interface FetchableCluster {
  readonly clock: Clock
  readonly topics: ReadonlyMap<string, FakeTopic>
  readonly onFetch: FetchHook | undefined
  readonly sessions: FakeSessions
  readonly throttleEmptyMs: number
  /** The partition, or the error of asking this broker for it. */
  partition(topic: string | undefined, index: number, brokerId: number): FakePartition | number
  /** Resolves at the next append. */
  appended(): Promise<void>
}

/** One partition of a request as a hook sees it. */
export interface FetchedPartition {
  readonly brokerId: number
  readonly version: number
  readonly topic: string
  readonly partition: number
  readonly fetchOffset: number
  readonly currentLeaderEpoch: number
  /** Asked for at most; answers ignore it. */
  readonly partitionMaxBytes: number
}

/** Overrides the answer of one partition, or makes the whole answer throttled. */
export type FetchHook = (asked: FetchedPartition) => FetchOverride | undefined
export interface FetchOverride {
  readonly errorCode?: number
  readonly preferredReadReplica?: number
  readonly throttleTimeMs?: number
  /** Served by this broker although it does not lead. */
  readonly serve?: true
}

/** Entries per answer and partition, so that catching up takes several fetches. */
const ENTRIES_MAX = 10
export const ENTRY_BYTES = 8

/** The record of one offset, as opaque bytes. */
export function entriesOf(from: number, end: number): Buffer {
  const records = Buffer.alloc((end - from) * ENTRY_BYTES)
  for (let offset = from; offset < end; offset++) records.writeBigInt64BE(BigInt(offset), (offset - from) * ENTRY_BYTES)
  return records
}

type PartitionOut = FetchResponseInput['responses'][number]['partitions'][number]

export async function answerFetch(
  kafka: FetchableCluster,
  context: { brokerId: number; request: IncomingRequest; signal: AbortSignal },
): Promise<Buffer[]> {
  const { apiVersion, body } = context.request
  const asked = FetchRequest.decode(body, apiVersion)
  const round = kafka.sessions.begin(context.brokerId, asked, apiVersion)
  if ('errorCode' in round)
    return FetchResponse.encodeChunks({ throttleTimeMs: 0, ...round, responses: [] }, apiVersion)
  if (kafka.throttleEmptyMs > 0) {
    const { sessionId } = round.conclude([])
    const empty = { throttleTimeMs: kafka.throttleEmptyMs, sessionId, responses: [] }
    return FetchResponse.encodeChunks(empty, apiVersion)
  }
  const request = { ...asked, topics: round.topics }
  let first = attempt(kafka, request, context)
  if (!first.worthAnswering && request.maxWaitMs > 0) {
    const over = Promise.withResolvers<void>()
    const timer = kafka.clock.after(request.maxWaitMs, () => over.resolve())
    context.signal.addEventListener('abort', () => over.resolve(), { once: true })
    await Promise.race([over.promise, kafka.appended()])
    timer.cancel()
    first = attempt(kafka, request, context)
  }
  const { responses, throttleTimeMs } = first
  const told = round.conclude(responses)
  return FetchResponse.encodeChunks(
    { throttleTimeMs, ...(apiVersion >= 7 ? { sessionId: told.sessionId } : {}), responses: told.responses },
    apiVersion,
  )
}

function attempt(
  kafka: FetchableCluster,
  request: Pick<FetchRequest, 'topics'>,
  context: { brokerId: number; request: IncomingRequest },
) {
  const version = context.request.apiVersion
  let throttleTimeMs = 0
  let worthAnswering = false
  const responses = request.topics.map(({ topic: name, topicId, partitions }) => {
    const topic = version >= 13 ? [...kafka.topics].find(([, found]) => found.topicId === topicId)?.[0] : name
    const parts = partitions.map(({ partition, fetchOffset, currentLeaderEpoch, partitionMaxBytes }) => {
      const at = { fetchOffset: Number(fetchOffset), currentLeaderEpoch }
      const asked = { brokerId: context.brokerId, version, partition, partitionMaxBytes, ...at }
      const override = topic === undefined ? undefined : kafka.onFetch?.({ ...asked, topic })
      throttleTimeMs = Math.max(throttleTimeMs, override?.throttleTimeMs ?? 0)
      const part = partitionOut(kafka, { ...asked, topic }, override)
      worthAnswering ||=
        part.errorCode !== 0 || (part.records?.length ?? 0) > 0 || override?.preferredReadReplica !== undefined
      return part
    })
    return { topic: name, topicId, partitions: parts }
  })
  return { responses, throttleTimeMs, worthAnswering }
}

function partitionOut(
  kafka: FetchableCluster,
  asked: Omit<FetchedPartition, 'topic'> & { topic: string | undefined },
  override: FetchOverride | undefined,
): PartitionOut {
  const { topic, partition: partitionIndex, brokerId, version, fetchOffset } = asked
  const failed = (errorCode: number): PartitionOut => ({
    partitionIndex,
    errorCode,
    highWatermark: -1n,
    abortedTransactions: null,
    records: null,
  })
  if (topic === undefined)
    return failed(version >= 13 ? ErrorCode.UNKNOWN_TOPIC_ID : ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
  if (override?.errorCode !== undefined) return failed(override.errorCode)
  const leader = kafka.topics.get(topic)?.partitions[partitionIndex]?.leader ?? -1
  const found = kafka.partition(topic, partitionIndex, override?.serve ? leader : brokerId)
  if (typeof found === 'number') return failed(found)
  if (fetchOffset < found.logStart || fetchOffset > found.end) return failed(ErrorCode.OFFSET_OUT_OF_RANGE)
  const redirected = override?.preferredReadReplica !== undefined
  const end = redirected ? fetchOffset : Math.min(found.end, fetchOffset + ENTRIES_MAX)
  return {
    partitionIndex,
    errorCode: 0,
    highWatermark: BigInt(found.end),
    lastStableOffset: BigInt(found.end),
    logStartOffset: BigInt(found.logStart),
    abortedTransactions: null,
    records: entriesOf(fetchOffset, end),
    ...(redirected && version >= 11 ? { preferredReadReplica: override?.preferredReadReplica ?? -1 } : {}),
  }
}
