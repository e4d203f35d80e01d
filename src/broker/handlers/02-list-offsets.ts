/**
 * ListOffsets (2), versions 1–11; the dispatch table calls it.
 *
 * 1: baseline, one offset with its timestamp. 2: isolation level. 4: leader epochs (KIP-320). 5: OFFSET_NOT_AVAILABLE.
 * 6: flexible. 7: -3 largest timestamp (KIP-734). 8: -4 local log start (KIP-405). 9: -5 last tiered offset (KIP-1005).
 * 10: timeout, for tiered storage only. 11: -6 earliest pending upload (KIP-1023).
 *
 * Consumers see up to the high watermark, or the last stable offset with read_committed; followers and debugging tools
 * (replica id -2) see the log end. There is no tiered storage: -4 is the log start, -5 and -6 find nothing. A special timestamp
 * that the version does not know is UNSUPPORTED_VERSION, a partition named twice INVALID_REQUEST. Needs DESCRIBE on the topic.
 */
import { ErrorCode } from '../../protocol/errors.ts'
import {
  ListOffsetsApi,
  type ListOffsetsRequest,
  type ListOffsetsResponseInput,
} from '../../protocol/messages/02-list-offsets.ts'
import { findOffset, offsetSpec } from '../../replica/find-offset.ts'
import { errorCodeOf } from '../../replica/log-failure.ts'
import { PartitionUnavailable } from '../../replica/partition-unavailable.ts'
import { allowedNames } from '../authorization.ts'
import { type BrokerContext, handlerOf, type RequestOrigin } from '../handler.ts'
import { repeated } from '../repeated.ts'

/** First version that knows each special timestamp. */
const specVersions: ReadonlyMap<bigint, number> = new Map([
  [offsetSpec.latest, 1],
  [offsetSpec.earliest, 1],
  [offsetSpec.maxTimestamp, 7],
  [offsetSpec.earliestLocal, 8],
  [offsetSpec.latestTiered, 9],
  [offsetSpec.earliestPendingUpload, 11],
])
const CONSUMER_REPLICA_ID = -1
const OFFSET_NOT_AVAILABLE_VERSION = 5

type AskedPartition = ListOffsetsRequest['topics'][number]['partitions'][number]
type PartitionAnswer = ListOffsetsResponseInput['topics'][number]['partitions'][number]

export const listOffsets = handlerOf(ListOffsetsApi, {
  versions: { min: 1, max: 11 },
  async handle(broker, request, origin) {
    const duplicates = repeated(
      request.topics.flatMap(({ name, partitions }) => partitions.map(partition => keyOf(name, partition))),
    )
    const names = request.topics.map(({ name }) => name)
    const describable = allowedNames(broker, origin, { operation: 'DESCRIBE', resource: 'TOPIC', names })
    const answer = (topic: string, partition: AskedPartition) => {
      if (!describable.has(topic)) return refused(partition, ErrorCode.TOPIC_AUTHORIZATION_FAILED)
      if (duplicates.has(keyOf(topic, partition))) return refused(partition, ErrorCode.INVALID_REQUEST)
      return answerFor(broker, request, { topic, partition, origin })
    }
    const topics = await Promise.all(
      request.topics.map(async ({ name, partitions }) => ({
        name,
        partitions: await Promise.all(oneOfEach(partitions).map(partition => answer(name, partition))),
      })),
    )
    return { topics }
  },
  failed: (request, errorCode) => ({
    topics: request.topics.map(({ name, partitions }) => ({
      name,
      partitions: partitions.map(partition => refused(partition, errorCode)),
    })),
  }),
})

async function answerFor(
  broker: BrokerContext,
  request: ListOffsetsRequest,
  of: { readonly topic: string; readonly partition: AskedPartition; readonly origin: RequestOrigin },
): Promise<PartitionAnswer> {
  const { topic, partition, origin } = of
  if (partition.timestamp < 0n && origin.version < (specVersions.get(partition.timestamp) ?? Number.POSITIVE_INFINITY))
    return refused(partition, ErrorCode.UNSUPPORTED_VERSION)
  try {
    const found = await findOffset(broker.replicas.lookupByName(topic, partition.partitionIndex), {
      timestamp: partition.timestamp,
      visibility: visibilityOf(request),
      currentLeaderEpoch: partition.currentLeaderEpoch,
    })
    return {
      partitionIndex: partition.partitionIndex,
      errorCode: ErrorCode.NONE,
      timestamp: found.timestamp,
      offset: BigInt(found.offset),
      ...(origin.version >= 4 ? { leaderEpoch: found.leaderEpoch } : {}),
    }
  } catch (error) {
    if (error instanceof PartitionUnavailable) return refused(partition, codeFor(error.errorCode, origin.version))
    broker.logger.error('an offset could not be looked up', { topic, partition: partition.partitionIndex, error })
    return refused(partition, errorCodeOf(error))
  }
}

/** Older clients do not know that a new leader may not know the end yet. */
const codeFor = (errorCode: number, version: number): number =>
  errorCode === ErrorCode.OFFSET_NOT_AVAILABLE && version < OFFSET_NOT_AVAILABLE_VERSION
    ? ErrorCode.LEADER_NOT_AVAILABLE
    : errorCode

function visibilityOf(request: ListOffsetsRequest) {
  if (request.replicaId !== CONSUMER_REPLICA_ID) return 'log_end'
  return request.isolationLevel === 1 ? 'read_committed' : 'read_uncommitted'
}

const refused = (partition: AskedPartition, errorCode: number): PartitionAnswer => ({
  partitionIndex: partition.partitionIndex,
  errorCode,
  timestamp: -1n,
  offset: -1n,
})

const keyOf = (topic: string, { partitionIndex }: AskedPartition): string => `${topic}-${partitionIndex}`

/** A partition that is named twice is answered once. */
const oneOfEach = (partitions: readonly AskedPartition[]): AskedPartition[] => [
  ...new Map(partitions.map(partition => [partition.partitionIndex, partition])).values(),
]
