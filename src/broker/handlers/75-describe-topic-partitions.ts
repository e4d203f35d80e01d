/**
 * DescribeTopicPartitions (75), version 0 (KIP-966); the dispatch table calls it.
 *
 * Topics in the order of their names, at most so many partitions per answer as the request and `max.request.partition.size.limit`
 * allow; the rest from the cursor of the answer on. An empty list of topics means all. Eligible leader replicas are told as the
 * controller recorded them.
 */
import { ZERO_UUID } from '../../core/uuid.ts'
import { type TopicImage, topicByName } from '../../metadata/metadata-image.ts'
import { isInternalTopic, topicNameProblem } from '../../metadata/topic-names.ts'
import { ErrorCode } from '../../protocol/errors.ts'
import {
  DescribeTopicPartitionsApi,
  type DescribeTopicPartitionsResponseInput,
} from '../../protocol/messages/75-describe-topic-partitions.ts'
import { topicOperations } from '../authorized-operations.ts'
import { endpointOf } from '../endpoints.ts'
import { handlerOf, RequestFailure, type RequestOrigin } from '../handler.ts'

type TopicAnswer = DescribeTopicPartitionsResponseInput['topics'][number]

export const describeTopicPartitions = handlerOf(DescribeTopicPartitionsApi, {
  versions: { min: 0, max: 0 },
  handle(broker, request, origin) {
    const { cursor } = request
    if (cursor && cursor.partitionIndex < 0)
      throw new RequestFailure(ErrorCode.INVALID_REQUEST, 'the cursor names a negative partition')
    const all = request.topics.length === 0
    const asked = all ? [...origin.image.topicIds.keys()] : [...new Set(request.topics.map(({ name }) => name))]
    const names = asked.filter(name => !cursor || name >= cursor.topicName).sort()
    const limit = Math.max(1, Math.min(request.responsePartitionLimit, broker.settings.describedPartitionsMax))
    const topics: TopicAnswer[] = []
    let left = limit
    for (const name of names) {
      const topic = topicByName(origin.image, name)
      if (!topic) {
        topics.push(missing(name))
        continue
      }
      const first = cursor?.topicName === name ? cursor.partitionIndex : 0
      if (left === 0) return answer(topics, { topicName: name, partitionIndex: first })
      const end = Math.min(topic.partitions.length, first + left)
      topics.push(describe(topic, { first, end }, origin))
      if (end < topic.partitions.length) return answer(topics, { topicName: name, partitionIndex: end })
      left -= Math.max(0, end - first)
    }
    return answer(topics, null)
  },
  failed: (request, errorCode) =>
    answer(
      request.topics.map(({ name }) => ({ errorCode, name, topicId: ZERO_UUID, partitions: [] })),
      null,
    ),
})

const answer = (topics: TopicAnswer[], nextCursor: { topicName: string; partitionIndex: number } | null) => ({
  throttleTimeMs: 0,
  topics,
  nextCursor,
})

const missing = (name: string): TopicAnswer => ({
  errorCode: topicNameProblem(name) ? ErrorCode.INVALID_TOPIC_EXCEPTION : ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
  name,
  topicId: ZERO_UUID,
  isInternal: isInternalTopic(name),
  topicAuthorizedOperations: topicOperations,
  partitions: [],
})

function describe(topic: TopicImage, range: { first: number; end: number }, origin: RequestOrigin): TopicAnswer {
  const reachable = (id: number) => endpointOf(origin.image, id, origin.client.listener) !== undefined
  return {
    errorCode: ErrorCode.NONE,
    name: topic.name,
    topicId: topic.id,
    isInternal: isInternalTopic(topic.name),
    topicAuthorizedOperations: topicOperations,
    partitions: topic.partitions.slice(range.first, range.end).map((partition, i) => ({
      errorCode: ErrorCode.NONE,
      partitionIndex: range.first + i,
      leaderId: reachable(partition.leader) ? partition.leader : -1,
      leaderEpoch: partition.leaderEpoch,
      replicaNodes: [...partition.replicas],
      isrNodes: [...partition.isr],
      eligibleLeaderReplicas: [...partition.eligibleLeaderReplicas],
      lastKnownElr: [...partition.lastKnownElr],
      offlineReplicas: partition.replicas.filter(id => !reachable(id)),
    })),
  }
}
