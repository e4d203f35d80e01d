/**
 * DescribeProducers (61), version 0 (KIP-664); the dispatch table calls it.
 *
 * What the log of each partition remembers of its idempotent and transactional producers, mirrored ones included. Asked of the
 * leader. Needs READ on the topic.
 */
import type { ProducerEntry } from '../../log/producer-entry.ts'
import { topicByName } from '../../metadata/metadata-image.ts'
import { topicNameProblem } from '../../metadata/topic-names.ts'
import { ErrorCode } from '../../protocol/errors.ts'
import {
  DescribeProducersApi,
  type DescribeProducersResponseInput,
} from '../../protocol/messages/61-describe-producers.ts'
import { PartitionUnavailable } from '../../replica/partition-unavailable.ts'
import { allowed } from '../authorization.ts'
import { type BrokerContext, handlerOf, type RequestOrigin } from '../handler.ts'

type PartitionAnswer = DescribeProducersResponseInput['topics'][number]['partitions'][number]

export const describeProducers = handlerOf(DescribeProducersApi, {
  versions: { min: 0, max: 0 },
  handle: (broker, request, origin) => ({
    throttleTimeMs: 0,
    topics: request.topics.map(({ name, partitionIndexes }) => {
      const problem = problemOf(broker, origin, name)
      return {
        name,
        partitions: partitionIndexes.map(index =>
          problem ? refused(index, problem.errorCode, problem.message) : describe(broker, name, index),
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

/** Why nothing of a topic is told. */
function problemOf(
  broker: BrokerContext,
  origin: RequestOrigin,
  name: string,
): { readonly errorCode: number; readonly message: string | null } | undefined {
  const nameProblem = topicNameProblem(name)
  if (nameProblem) return { errorCode: ErrorCode.INVALID_TOPIC_EXCEPTION, message: nameProblem }
  if (!allowed(broker, origin, { operation: 'READ', resource: 'TOPIC', name }))
    return { errorCode: ErrorCode.TOPIC_AUTHORIZATION_FAILED, message: null }
  if (!topicByName(origin.image, name))
    return { errorCode: ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, message: `There is no topic ${name}.` }
  return undefined
}

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
