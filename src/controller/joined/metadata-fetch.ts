/** One Fetch of the metadata log from a controller, and what its answer means; asked by the search for the active controller and by the observer. */
import { offsetFromWire, offsetToWire } from '../../core/offset.ts'
import { type Uuid, ZERO_UUID } from '../../core/uuid.ts'
import { CLUSTER_METADATA_TOPIC } from '../../metadata/topic-names.ts'
import type { BrokerConnection } from '../../network/broker-connection.ts'
import { ErrorCode } from '../../protocol/errors.ts'
import { FetchApi, type FetchResponse } from '../../protocol/messages/01-fetch.ts'
import type { ServerPlace } from './quorum-connection.ts'

/** The fixed topic id of the metadata log. */
const METADATA_TOPIC_ID = 'AAAAAAAAAAAAAAAAAAAAAQ' as Uuid

/** 12 brought epochs of the fetcher and names the topic, 13 names it by id. Answers to 16 and above hold the addresses of the leader. */
export const METADATA_FETCH_VERSIONS = { min: 12, max: 18 } as const
const TOPIC_ID_VERSION = 13
const REPLICA_STATE_VERSION = 15

/** How much of the log one answer may hold. */
const FETCH_BYTES_MAX = 8 * 1024 * 1024

/** Who fetches, and from where on. */
export interface MetadataPosition {
  /** Our node id; −1 = nobody, who is not counted among the observers. */
  readonly replicaId: number
  readonly directoryId: Uuid
  /** Checked by the controller unless it is null. */
  readonly clusterId: string | null
  readonly leaderEpoch: number
  readonly offset: number
  /** Epoch of the batch before `offset`. */
  readonly lastEpoch: number
  /** What we know to be committed; −1 = nothing. A leader answers at once that knows more (KIP-1166). */
  readonly highWatermark: number
  readonly maxWaitMs: number
}

export interface LeaderHint {
  /** −1 = none is known. */
  readonly id: number
  readonly epoch: number
  readonly place: ServerPlace | undefined
}

/**
 * records: from the position on, committed or not. diverging: our log and the leader's part at that epoch's end. snapshot: the log
 * does not reach back so far. elsewhere: this is not the leader, or our epoch is not its epoch. refused: something that a later
 * try elsewhere does not mend.
 */
export type MetadataAnswer =
  | { readonly kind: 'records'; readonly bytes: Buffer; readonly highWatermark: number }
  | { readonly kind: 'diverging'; readonly epoch: number; readonly endOffset: number; readonly highWatermark: number }
  | { readonly kind: 'snapshot'; readonly id: { readonly offset: number; readonly epoch: number } }
  | { readonly kind: 'elsewhere'; readonly errorCode: number; readonly leader: LeaderHint }
  | { readonly kind: 'refused'; readonly errorCode: number }

/** Rejects with ConnectionError, or the signal's reason. */
export async function fetchMetadata(
  connection: BrokerConnection,
  position: MetadataPosition,
  options: { readonly timeoutMs: number; readonly signal?: AbortSignal | undefined },
): Promise<MetadataAnswer> {
  const version = connection.versionFor(FetchApi.request.apiKey, METADATA_FETCH_VERSIONS)
  const { response } = await connection.send(FetchApi, requestOf(position, version ?? METADATA_FETCH_VERSIONS.max), {
    version,
    timeoutMs: position.maxWaitMs + options.timeoutMs,
    signal: options.signal,
  })
  return answerOf(response)
}

function requestOf(position: MetadataPosition, version: number): Parameters<typeof FetchApi.request.encode>[0] {
  const { replicaId, directoryId, offset } = position
  const partition = {
    partition: 0,
    currentLeaderEpoch: position.leaderEpoch,
    fetchOffset: offsetToWire(offset),
    lastFetchedEpoch: position.lastEpoch,
    partitionMaxBytes: FETCH_BYTES_MAX,
    replicaDirectoryId: directoryId,
    highWatermark: offsetToWire(position.highWatermark),
  }
  const named = version < TOPIC_ID_VERSION ? { topic: CLUSTER_METADATA_TOPIC } : { topicId: METADATA_TOPIC_ID }
  return {
    clusterId: position.clusterId,
    ...(version < REPLICA_STATE_VERSION ? { replicaId } : { replicaState: { replicaId, replicaEpoch: -1n } }),
    maxWaitMs: position.maxWaitMs,
    minBytes: 1,
    maxBytes: FETCH_BYTES_MAX,
    topics: [{ ...named, partitions: [partition] }],
    forgottenTopicsData: [],
  }
}

/** Errors that say "not me, or not in this epoch": another controller, or a later moment, answers better. */
const ELSEWHERE: ReadonlySet<number> = new Set([
  ErrorCode.NOT_LEADER_OR_FOLLOWER,
  ErrorCode.FENCED_LEADER_EPOCH,
  ErrorCode.UNKNOWN_LEADER_EPOCH,
  ErrorCode.BROKER_NOT_AVAILABLE,
  ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
  ErrorCode.UNKNOWN_TOPIC_ID,
])

function answerOf(response: FetchResponse): MetadataAnswer {
  const partition = response.responses[0]?.partitions[0]
  const errorCode = response.errorCode || (partition?.errorCode ?? ErrorCode.UNKNOWN_SERVER_ERROR)
  if (partition === undefined || ELSEWHERE.has(errorCode)) {
    if (!ELSEWHERE.has(errorCode)) return { kind: 'refused', errorCode }
    return { kind: 'elsewhere', errorCode, leader: hintOf(response) }
  }
  if (errorCode !== ErrorCode.NONE) return { kind: 'refused', errorCode }
  const { divergingEpoch: diverging, snapshotId, records } = partition
  const highWatermark = offsetFromWire(partition.highWatermark)
  if (diverging.epoch >= 0)
    return {
      kind: 'diverging',
      epoch: diverging.epoch,
      endOffset: offsetFromWire(diverging.endOffset),
      highWatermark,
    }
  if (snapshotId.epoch >= 0)
    return { kind: 'snapshot', id: { offset: offsetFromWire(snapshotId.endOffset), epoch: snapshotId.epoch } }
  return { kind: 'records', bytes: records ?? Buffer.alloc(0), highWatermark }
}

function hintOf({ responses, nodeEndpoints }: FetchResponse): LeaderHint {
  const { leaderId: id, leaderEpoch: epoch } = responses[0]?.partitions[0]?.currentLeader ?? {
    leaderId: -1,
    leaderEpoch: -1,
  }
  const endpoint = nodeEndpoints.find(({ nodeId }) => nodeId === id)
  return { id, epoch, place: endpoint && { host: endpoint.host, port: endpoint.port } }
}

/** Where a search stands: at the beginning, under nobody's name. */
export const askingOnly = (clusterId: string | null, leaderEpoch: number): MetadataPosition => ({
  replicaId: -1,
  directoryId: ZERO_UUID,
  clusterId,
  leaderEpoch,
  offset: 0,
  lastEpoch: 0,
  highWatermark: -1,
  maxWaitMs: 0,
})
