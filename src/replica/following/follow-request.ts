/** What a follower asks its leader: Fetch of many partitions, and ListOffsets where a fetch was out of range; the fetcher of a leader uses it. */
import { offsetFromWire } from '../../core/offset.ts'
import type { BrokerConnection } from '../../network/broker-connection.ts'
import { ConnectionError } from '../../network/connection-error.ts'
import { ErrorCode, errorName } from '../../protocol/errors.ts'
import { FetchApi, type FetchRequestInput, type FetchResponse } from '../../protocol/messages/01-fetch.ts'
import { ListOffsetsApi } from '../../protocol/messages/02-list-offsets.ts'
import { offsetSpec } from '../find-offset.ts'
import { PartitionUnavailable } from '../partition-unavailable.ts'
import type { FollowedPartition, FollowPosition } from './followed-partition.ts'

/** The part of a BrokerConnection that a follower needs. */
export type LeaderConnection = Pick<BrokerConnection, 'send' | 'versionFor' | 'close' | 'isOpen'>

/** Who asks. */
export interface FollowerIdentity {
  readonly brokerId: number
  /** Of our registration; −1 = none at present. */
  readonly brokerEpoch: number
}

/** `replica.fetch.*` */
export interface FollowLimits {
  readonly waitMs: number
  readonly bytesMin: number
  readonly partitionBytesMax: number
  readonly answerBytesMax: number
}

/** A partition with the place where it continues. */
export interface AskedPartition {
  readonly partition: FollowedPartition
  readonly from: FollowPosition
}

export type PartitionAnswer = FetchResponse['responses'][number]['partitions'][number]

/** Topics have ids, and the epoch of the last batch is told. */
const FETCH_VERSIONS = { min: 13, max: 18 }
const BROKER_EPOCH_VERSION = 15
/** The first with leader epochs. */
const LIST_OFFSETS_VERSIONS = { min: 4, max: 11 }
const WITHOUT_SESSION = { sessionId: 0, sessionEpoch: -1 }
/** Beside the time that the request itself may wait. */
const TIMEOUT_MS = 30_000

/** Answers by partition; `release` gives the memory of the records back. Rejects with ConnectionError. */
export async function fetchFrom(
  connection: LeaderConnection,
  asked: readonly AskedPartition[],
  by: { readonly identity: FollowerIdentity; readonly limits: FollowLimits; readonly signal: AbortSignal },
): Promise<{ readonly answers: ReadonlyMap<FollowedPartition, PartitionAnswer>; readonly release: () => void }> {
  const { limits, signal } = by
  const version = connection.versionFor(FetchApi.request.apiKey, FETCH_VERSIONS)
  if (version === undefined)
    throw new ConnectionError('unsupported-version', 'the leader does not serve Fetch 13 to 18')
  const request = fetchRequest(asked, { ...by, version })
  const timeoutMs = limits.waitMs + TIMEOUT_MS
  const { response, release } = await connection.send(FetchApi, request, { version, timeoutMs, signal })
  if (response.errorCode !== ErrorCode.NONE)
    throw new ConnectionError('protocol', `the leader answers Fetch with ${errorName(response.errorCode)}`)
  const byKey = new Map(asked.map(({ partition }) => [`${partition.topicId}:${partition.index}`, partition]))
  const answers = new Map<FollowedPartition, PartitionAnswer>()
  for (const { topicId, partitions } of response.responses)
    for (const answer of partitions) {
      const partition = byKey.get(`${topicId}:${answer.partitionIndex}`)
      if (partition) answers.set(partition, answer)
    }
  return { answers, release }
}

/** The leader's log end or log start. Rejects with PartitionUnavailable if it refuses, with ConnectionError if it cannot be asked. */
export async function leaderOffset(
  connection: LeaderConnection,
  { partition, from }: AskedPartition,
  ask: { readonly which: 'earliest' | 'latest'; readonly brokerId: number; readonly signal: AbortSignal },
): Promise<number> {
  const { topic, index, name } = partition
  const version = connection.versionFor(ListOffsetsApi.request.apiKey, LIST_OFFSETS_VERSIONS)
  if (version === undefined) throw new ConnectionError('unsupported-version', 'the leader does not serve ListOffsets 4')
  const asked = { partitionIndex: index, currentLeaderEpoch: from.leaderEpoch, timestamp: offsetSpec[ask.which] }
  const { response } = await connection.send(
    ListOffsetsApi,
    {
      replicaId: ask.brokerId,
      isolationLevel: 0,
      topics: [{ name: topic, partitions: [asked] }],
      timeoutMs: TIMEOUT_MS,
    },
    { version, timeoutMs: TIMEOUT_MS, signal: ask.signal },
  )
  const answer = response.topics[0]?.partitions[0]
  if (!answer) throw new ConnectionError('protocol', `the leader does not answer ListOffsets of ${name}`)
  if (answer.errorCode !== ErrorCode.NONE)
    throw new PartitionUnavailable(answer.errorCode, `${name}: the leader answers ${errorName(answer.errorCode)}`)
  return offsetFromWire(answer.offset)
}

function fetchRequest(
  asked: readonly AskedPartition[],
  by: { readonly identity: FollowerIdentity; readonly limits: FollowLimits; readonly version: number },
): FetchRequestInput {
  const { limits, version } = by
  const { brokerId: replicaId, brokerEpoch } = by.identity
  const who =
    version >= BROKER_EPOCH_VERSION ? { replicaState: { replicaId, replicaEpoch: BigInt(brokerEpoch) } } : { replicaId }
  return {
    ...who,
    ...WITHOUT_SESSION,
    maxWaitMs: limits.waitMs,
    minBytes: limits.bytesMin,
    maxBytes: limits.answerBytesMax,
    isolationLevel: 0,
    topics: [...Map.groupBy(asked, ({ partition }) => partition.topicId)].map(([topicId, ofTopic]) => ({
      topicId,
      partitions: ofTopic.map(({ partition, from }) => ({
        partition: partition.index,
        currentLeaderEpoch: from.leaderEpoch,
        fetchOffset: BigInt(from.fetchOffset),
        lastFetchedEpoch: from.lastFetchedEpoch,
        logStartOffset: BigInt(partition.log.logStartOffset),
        partitionMaxBytes: limits.partitionBytesMax,
      })),
    })),
    forgottenTopicsData: [],
  }
}
