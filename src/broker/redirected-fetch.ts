/** Which partitions of a consumer's fetch are to be read from another replica (KIP-392); the Fetch handler asks before it reads. */
import type { TopicImage } from '../metadata/metadata-image.ts'
import { ErrorCode } from '../protocol/errors.ts'
import type { FetchRequest } from '../protocol/messages/01-fetch.ts'
import type { FetchTarget } from '../replica/fetch-query.ts'
import type { Partition } from '../replica/partition.ts'
import { PartitionUnavailable } from '../replica/partition-unavailable.ts'
import { type FetchedPartition, refusedFetch } from '../replica/read-partition.ts'
import type { BrokerContext, RequestOrigin } from './handler.ts'
import { readHere } from './read-redirect.ts'

/** First version whose answers name a preferred read replica. */
const REDIRECT_VERSION = 11

export interface RedirectedFetch {
  readonly replica: number
  /** The partition as it is here, without records. */
  readonly result: FetchedPartition
}

/** undefined = to be read here, also if that ends in an error. */
export function redirectedFetch(
  broker: BrokerContext,
  request: FetchRequest,
  of: { readonly target: FetchTarget; readonly topic: TopicImage; readonly origin: RequestOrigin },
): RedirectedFetch | undefined {
  const { target, topic, origin } = of
  if (broker.readRedirect === readHere || origin.version < REDIRECT_VERSION) return undefined
  const partition = readablePartition(broker, target)
  if (!partition) return undefined
  const { image, client } = origin
  const read = { image, topic, partition: target.partition, client, rack: request.rackId }
  const replica = broker.readRedirect.replicaFor(read)
  if (replica === undefined) return undefined
  const { highWatermark, lastStableOffset, log } = partition
  const abortedTransactions = request.isolationLevel === 1 ? [] : null
  const place = { highWatermark, lastStableOffset, logStartOffset: log.logStartOffset, abortedTransactions }
  return { replica, result: { ...refusedFetch(ErrorCode.NONE), ...place } }
}

/** Offsets and epochs that are wrong are answered here: replicas may know less. */
function readablePartition(broker: BrokerContext, target: FetchTarget): Partition | undefined {
  try {
    const partition = broker.replicas.lookup(target.topicId, target.partition)
    const { fetchOffset, currentLeaderEpoch } = target
    const known = fetchOffset >= partition.log.logStartOffset && fetchOffset <= partition.highWatermark
    return known && partition.leaderEpochError(currentLeaderEpoch) === ErrorCode.NONE ? partition : undefined
  } catch (error) {
    if (error instanceof PartitionUnavailable) return undefined
    throw error
  }
}
