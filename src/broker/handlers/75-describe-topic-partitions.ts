/**
 * DescribeTopicPartitions (75), version 0 (KIP-966); the dispatch table calls it.
 *
 * Topics in the order of their names, at most so many partitions per answer as the request and `max.request.partition.size.limit`
 * allow; the rest from the cursor of the answer on. An empty list of topics means all. Eligible leader replicas are told as the
 * controller recorded them. Needs DESCRIBE on each topic; a list of all topics leaves the others out.
 */
import { ZERO_UUID } from '../../core/uuid.ts'
import { type TopicImage, topicByName } from '../../metadata/metadata-image.ts'
import { isInternalTopic, topicNameProblem } from '../../metadata/topic-names.ts'
import { ErrorCode } from '../../protocol/errors.ts'
import {
  DescribeTopicPartitionsApi,
  type DescribeTopicPartitionsResponseInput,
} from '../../protocol/messages/75-describe-topic-partitions.ts'
import { allowedNames } from '../authorization.ts'
import { authorizedOperations } from '../authorized-operations.ts'
import { endpointOf } from '../endpoints.ts'
import { handlerOf, RequestFailure, type RequestOrigin } from '../handler.ts'

type TopicAnswer = DescribeTopicPartitionsResponseInput['topics'][number]
type Cursor = { readonly topicName: string; readonly partitionIndex: number } | null

export const describeTopicPartitions = handlerOf(DescribeTopicPartitionsApi, {
  versions: { min: 0, max: 0 },
  handle(broker, request, origin) {
    const { cursor } = request
    if (cursor && cursor.partitionIndex < 0)
      throw new RequestFailure(ErrorCode.INVALID_REQUEST, 'the cursor names a negative partition')
    const all = request.topics.length === 0
    const asked = all ? [...origin.image.topicIds.keys()] : [...new Set(request.topics.map(({ name }) => name))]
    const wanted = asked.filter(name => !cursor || name >= cursor.topicName).sort()
    const shown = allowedNames(broker, origin, { operation: 'DESCRIBE', resource: 'TOPIC', names: wanted })
    const hidden = all ? [] : wanted.filter(name => !shown.has(name)).map(hiddenTopic)
    const names = wanted.filter(name => shown.has(name))
    const operations = (name: string) => authorizedOperations(broker, origin, { resource: 'TOPIC', name })
    const answer = (described: TopicAnswer[], nextCursor: Cursor) => ({
      throttleTimeMs: 0,
      topics: [
        ...described.map(topic => ({ ...topic, topicAuthorizedOperations: operations(topic.name ?? '') })),
        ...hidden,
      ],
      nextCursor,
    })
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
  failed: (request, errorCode) => ({
    throttleTimeMs: 0,
    topics: request.topics.map(({ name }) => ({ errorCode, name, topicId: ZERO_UUID, partitions: [] })),
    nextCursor: null,
  }),
})

/** Whether a topic of that name exists is not told. */
const hiddenTopic = (name: string): TopicAnswer => ({
  errorCode: ErrorCode.TOPIC_AUTHORIZATION_FAILED,
  name,
  topicId: ZERO_UUID,
  isInternal: false,
  partitions: [],
})

const missing = (name: string): TopicAnswer => ({
  errorCode: topicNameProblem(name) ? ErrorCode.INVALID_TOPIC_EXCEPTION : ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
  name,
  topicId: ZERO_UUID,
  isInternal: isInternalTopic(name),
  partitions: [],
})

function describe(topic: TopicImage, range: { first: number; end: number }, origin: RequestOrigin): TopicAnswer {
  const reachable = (id: number) => endpointOf(origin.image, id, origin.client.listener) !== undefined
  return {
    errorCode: ErrorCode.NONE,
    name: topic.name,
    topicId: topic.id,
    isInternal: isInternalTopic(topic.name),
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
