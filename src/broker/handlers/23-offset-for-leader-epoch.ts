/**
 * OffsetForLeaderEpoch (23), versions 2–4; the dispatch table calls it.
 *
 * 2: the asker's idea of the present leader epoch (KIP-320). 3: replica id. 4: flexible.
 *
 * Answers the largest epoch not above the asked one, and the offset after its last record; -1 and -1 if this log knows
 * nothing of it. Consumers use it to find that a log was cut behind their back. Needs DESCRIBE on the topic, or
 * CLUSTER_ACTION, which followers have.
 */
import { ErrorCode } from '../../protocol/errors.ts'
import {
  OffsetForLeaderEpochApi,
  type OffsetForLeaderEpochRequest,
} from '../../protocol/messages/23-offset-for-leader-epoch.ts'
import { PartitionUnavailable } from '../../replica/partition-unavailable.ts'
import { allowedNames, allowedOnCluster } from '../authorization.ts'
import { type BrokerContext, handlerOf } from '../handler.ts'

type AskedPartition = OffsetForLeaderEpochRequest['topics'][number]['partitions'][number]

export const offsetForLeaderEpoch = handlerOf(OffsetForLeaderEpochApi, {
  versions: { min: 2, max: 4 },
  handle(broker, request, origin) {
    const names = request.topics.map(({ topic }) => topic)
    const describable = allowedOnCluster(broker, origin, 'CLUSTER_ACTION')
      ? new Set(names)
      : allowedNames(broker, origin, { operation: 'DESCRIBE', resource: 'TOPIC', names })
    return {
      throttleTimeMs: 0,
      topics: request.topics.map(({ topic, partitions }) => ({
        topic,
        partitions: partitions.map(asked =>
          describable.has(topic)
            ? answerFor(broker, topic, asked)
            : { partition: asked.partition, errorCode: ErrorCode.TOPIC_AUTHORIZATION_FAILED },
        ),
      })),
    }
  },
  failed: (request, errorCode) => ({
    throttleTimeMs: 0,
    topics: request.topics.map(({ topic, partitions }) => ({
      topic,
      partitions: partitions.map(({ partition }) => ({ partition, errorCode })),
    })),
  }),
})

function answerFor(broker: BrokerContext, topic: string, asked: AskedPartition) {
  const { partition: index, currentLeaderEpoch, leaderEpoch } = asked
  try {
    const partition = broker.replicas.lookupByName(topic, index)
    const errorCode = partition.leaderEpochError(currentLeaderEpoch)
    if (errorCode !== ErrorCode.NONE) return { partition: index, errorCode }
    const { epoch, endOffset } = partition.log.endOffsetForEpoch(leaderEpoch)
    return { partition: index, errorCode: ErrorCode.NONE, leaderEpoch: epoch, endOffset: BigInt(endOffset) }
  } catch (error) {
    if (error instanceof PartitionUnavailable) return { partition: index, errorCode: error.errorCode }
    throw error
  }
}
