/** A connection to a broker in the same process, for replica-cluster.ts: Fetch and ListOffsets of followers, through the codec. */
import type { Clock } from '../../core/clock.ts'
import { ConnectionError } from '../../network/connection-error.ts'
import { ErrorCode } from '../../protocol/errors.ts'
import { FetchApi, type FetchRequest, type FetchResponseInput } from '../../protocol/messages/01-fetch.ts'
import {
  ListOffsetsApi,
  type ListOffsetsRequest,
  type ListOffsetsResponseInput,
} from '../../protocol/messages/02-list-offsets.ts'
import { fetchFromLog } from '../fetch-from-log.ts'
import { findOffset } from '../find-offset.ts'
import type { LeaderConnection } from '../following/follow-request.ts'
import { PartitionUnavailable } from '../partition-unavailable.ts'
import type { ReplicaSet } from '../replica-set.ts'

const VERSION = { [FetchApi.request.apiKey]: 18, [ListOffsetsApi.request.apiKey]: 11 }

interface Served {
  readonly replicas: ReplicaSet
  readonly clock: Clock
  readonly isOpen: () => boolean
}

export function answerFollower(served: Served): LeaderConnection {
  let closed = false
  const closing = new AbortController()
  const gone = new Promise<never>((_, reject) => {
    closing.signal.addEventListener('abort', () => reject(new ConnectionError('closed', 'the connection is closed')))
  })
  gone.catch(() => {})
  const assertOpen = () => {
    if (closed || !served.isOpen()) throw new ConnectionError('closed', 'the connection is closed')
  }
  return {
    get isOpen() {
      return !closed && served.isOpen()
    },
    versionFor: apiKey => VERSION[apiKey],
    close: () => {
      closed = true
      closing.abort()
    },
    async send(api, request, options = {}) {
      assertOpen()
      const version = options.version ?? 0
      const bytes = Buffer.concat(api.request.encodeChunks(request, version))
      const answer = await Promise.race([
        answered(served, { apiKey: api.request.apiKey, bytes, version }, closing.signal),
        gone,
      ])
      assertOpen()
      return { version, response: api.response.decode(answer, version), release: () => {} }
    },
  }
}

async function answered(
  served: Served,
  request: { readonly apiKey: number; readonly bytes: Buffer; readonly version: number },
  signal: AbortSignal,
): Promise<Buffer> {
  const { apiKey, bytes, version } = request
  if (apiKey === FetchApi.request.apiKey)
    return FetchApi.response.encode(await fetched(served, FetchApi.request.decode(bytes, version), signal), version)
  return ListOffsetsApi.response.encode(await offsets(served, ListOffsetsApi.request.decode(bytes, version)), version)
}

async function fetched(
  { replicas, clock }: Served,
  request: FetchRequest,
  signal: AbortSignal,
): Promise<FetchResponseInput> {
  const asked = request.topics.flatMap(({ topicId, partitions }) => partitions.map(one => ({ topicId, one })))
  const results = await fetchFromLog(
    replicas,
    {
      replicaId: request.replicaState.replicaId,
      brokerEpoch: Number(request.replicaState.replicaEpoch),
      isolation: 'read_uncommitted',
      maxWaitMs: request.maxWaitMs,
      minBytes: request.minBytes,
      bytesMax: request.maxBytes,
      signal,
      targets: asked.map(({ topicId, one }) => ({
        topicId,
        topic: '',
        partition: one.partition,
        fetchOffset: Number(one.fetchOffset),
        currentLeaderEpoch: one.currentLeaderEpoch,
        lastFetchedEpoch: one.lastFetchedEpoch,
        partitionBytesMax: one.partitionMaxBytes,
      })),
    },
    clock,
  )
  return {
    throttleTimeMs: 0,
    errorCode: 0,
    sessionId: 0,
    responses: asked.map(({ topicId, one }, index) => {
      const result = results[index]
      const diverging = result?.divergingEpoch
      return {
        topicId,
        partitions: [
          {
            partitionIndex: one.partition,
            errorCode: result?.errorCode ?? ErrorCode.UNKNOWN_SERVER_ERROR,
            highWatermark: BigInt(result?.highWatermark ?? -1),
            logStartOffset: BigInt(result?.logStartOffset ?? -1),
            abortedTransactions: null,
            records: result?.records ?? null,
            ...(diverging
              ? { divergingEpoch: { epoch: diverging.epoch, endOffset: BigInt(diverging.endOffset) } }
              : {}),
          },
        ],
      }
    }),
  }
}

async function offsets({ replicas }: Served, request: ListOffsetsRequest): Promise<ListOffsetsResponseInput> {
  const topics = request.topics.map(async ({ name, partitions }) => ({
    name,
    partitions: await Promise.all(
      partitions.map(async ({ partitionIndex, timestamp, currentLeaderEpoch }) => {
        try {
          const question = { timestamp, visibility: 'log_end' as const, currentLeaderEpoch }
          const { offset } = await findOffset(replicas.lookupByName(name, partitionIndex), question)
          return { partitionIndex, errorCode: 0, offset: BigInt(offset) }
        } catch (error) {
          const errorCode = error instanceof PartitionUnavailable ? error.errorCode : ErrorCode.UNKNOWN_SERVER_ERROR
          return { partitionIndex, errorCode }
        }
      }),
    ),
  }))
  return { throttleTimeMs: 0, topics: await Promise.all(topics) }
}
