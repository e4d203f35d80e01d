/**
 * DescribeProducers (61), version 0 (KIP-664); the dispatch table calls it.
 *
 * What the log of each partition remembers of its idempotent and transactional producers, mirrored ones included. Asked of the
 * leader.
 */
import type { ProducerEntry } from '../../log/producer-entry.ts'
import { topicByName } from '../../metadata/metadata-image.ts'
import { ErrorCode } from '../../protocol/errors.ts'
import {
  DescribeProducersApi,
  type DescribeProducersResponseInput,
} from '../../protocol/messages/61-describe-producers.ts'
import { PartitionUnavailable } from '../../replica/partition-unavailable.ts'
import { type BrokerContext, handlerOf } from '../handler.ts'

type PartitionAnswer = DescribeProducersResponseInput['topics'][number]['partitions'][number]

export const describeProducers = handlerOf(DescribeProducersApi, {
  versions: { min: 0, max: 0 },
  handle: (broker, request, { image }) => ({
    throttleTimeMs: 0,
    topics: request.topics.map(({ name, partitionIndexes }) => {
      const topic = topicByName(image, name)
      return {
        name,
        partitions: partitionIndexes.map(index =>
          topic
            ? describe(broker, name, index)
            : refused(index, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, `There is no topic ${name}.`),
        ),
      }
    }),
  }),
  failed: (request, errorCode) => ({
    throttleTimeMs: 0,
    topics: request.topics.map(({ name, partitionIndexes }) => ({
      name,
      partitions: partitionIndexes.map(index => refused(index, errorCode, null)),
    })),
  }),
})

const refused = (partitionIndex: number, errorCode: number, errorMessage: string | null): PartitionAnswer => ({
  partitionIndex,
  errorCode,
  errorMessage,
  activeProducers: [],
})

function describe(broker: BrokerContext, topic: string, index: number): PartitionAnswer {
  try {
    const { log } = broker.replicas.lookupByName(topic, index)
    return { ...refused(index, ErrorCode.NONE, null), activeProducers: Array.from(log.producers(), producerOf) }
  } catch (error) {
    if (error instanceof PartitionUnavailable) return refused(index, error.errorCode, error.message)
    throw error
  }
}

const producerOf = (entry: ProducerEntry) => ({
  producerId: entry.producerId,
  producerEpoch: entry.producerEpoch,
  lastSequence: entry.lastBatch?.lastSequence ?? -1,
  lastTimestamp: entry.lastTimestamp,
  coordinatorEpoch: entry.coordinatorEpoch,
  currentTxnStartOffset: BigInt(entry.transactionFirstOffset),
})
