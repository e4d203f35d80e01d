/**
 * WriteTxnMarkers (27), versions 1–2; the dispatch table calls it.
 *
 * 1: flexible (0 is gone from Kafka 4). 2: the transaction version of each marker; from 2 on its epoch must be above the one of
 * the records (KIP-890).
 *
 * Needs ALTER or CLUSTER_ACTION on the cluster. Coordinators of other brokers send it, and `kafka-transactions abort`. A mirror
 * has the markers of its source: for its partitions the marker is answered as written and left out.
 */
import type { TransactionEnd } from '../../coordinator/transactions/transaction-markers.ts'
import {
  WriteTxnMarkersApi,
  type WriteTxnMarkersRequest,
  type WriteTxnMarkersResponseInput,
} from '../../protocol/messages/27-write-txn-markers.ts'
import { allowedOnCluster, requireAllowedOnCluster } from '../authorization.ts'
import { type BrokerContext, handlerOf } from '../handler.ts'

type Marker = WriteTxnMarkersRequest['markers'][number]
type MarkerAnswer = WriteTxnMarkersResponseInput['markers'][number]

export const writeTxnMarkers = handlerOf(WriteTxnMarkersApi, {
  versions: { min: 1, max: 2 },
  async handle(broker, request, origin) {
    origin.throttle?.exempt()
    if (!allowedOnCluster(broker, origin, 'ALTER')) requireAllowedOnCluster(broker, origin, 'CLUSTER_ACTION')
    const answers = await Promise.all(request.markers.map(marker => writeOne(broker, marker)))
    return { markers: perProducer(answers) }
  },
  failed: (request, errorCode) => ({
    markers: perProducer(
      request.markers.map(({ producerId, topics }) => ({
        producerId,
        topics: topics.map(({ name, partitionIndexes }) => ({
          name,
          partitions: partitionIndexes.map(partitionIndex => ({ partitionIndex, errorCode })),
        })),
      })),
    ),
  }),
})

async function writeOne(broker: BrokerContext, marker: Marker): Promise<MarkerAnswer> {
  const { producerId, producerEpoch, coordinatorEpoch, transactionVersion } = marker
  const end: TransactionEnd = {
    producerId,
    producerEpoch,
    committed: marker.transactionResult,
    coordinatorEpoch,
    transactionVersion,
  }
  const topics = marker.topics.map(async ({ name, partitionIndexes }) => ({
    name,
    partitions: await Promise.all(
      partitionIndexes.map(async partitionIndex => ({
        partitionIndex,
        errorCode: await broker.transactions.writeMarker({ topic: name, partition: partitionIndex }, end),
      })),
    ),
  }))
  return { producerId, topics: await Promise.all(topics) }
}

/** Kafka answers once for each producer, even if it had several markers. */
function perProducer(answers: readonly MarkerAnswer[]): MarkerAnswer[] {
  const merged = new Map<bigint, MarkerAnswer>()
  for (const answer of answers) {
    const before = merged.get(answer.producerId)
    merged.set(answer.producerId, before ? { ...before, topics: [...before.topics, ...answer.topics] } : answer)
  }
  return [...merged.values()]
}
