/**
 * ConsumerGroupDescribe (69), versions 0–1 (KIP-848); the dispatch table calls it.
 *
 * 1: which protocol each member speaks.
 *
 * DESCRIBE on each group, and on every topic of its members: without it the group is TOPIC_AUTHORIZATION_FAILED and told without
 * members. GROUP_ID_NOT_FOUND for what is no consumer group.
 */
import type { DescribedConsumerGroup } from '../../coordinator/consumer-groups/describe-group.ts'
import { ConsumerGroupDescribeApi } from '../../protocol/messages/69-consumer-group-describe.ts'
import { describeGroups, failedGroups } from '../describe-groups.ts'
import { handlerOf } from '../handler.ts'

export const consumerGroupDescribe = handlerOf(ConsumerGroupDescribeApi, {
  versions: { min: 0, max: 1 },
  handle: (broker, request, origin) =>
    describeGroups({ broker, origin }, request, {
      describe: groupId => broker.groups.consumers.describe(groupId),
      topicsOf,
    }),
  failed: ({ groupIds }, errorCode) => failedGroups(groupIds, errorCode),
})

const topicsOf = ({ members }: DescribedConsumerGroup): string[] =>
  members.flatMap(({ subscribedTopicNames, assignment, targetAssignment }) => [
    ...subscribedTopicNames,
    ...[...assignment.topicPartitions, ...targetAssignment.topicPartitions].map(({ topicName }) => topicName),
  ])
