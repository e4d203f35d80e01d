/**
 * ShareGroupDescribe (77), version 1 (KIP-932); the dispatch table calls it.
 *
 * DESCRIBE on each group, and on every topic of its members: without it the group is TOPIC_AUTHORIZATION_FAILED and told without
 * members. GROUP_ID_NOT_FOUND for what is no share group.
 */
import type { DescribedShareGroup } from '../../coordinator/share-groups/describe-share-group.ts'
import { ShareGroupDescribeApi } from '../../protocol/messages/77-share-group-describe.ts'
import { describeGroups, failedGroups } from '../describe-groups.ts'
import { handlerOf } from '../handler.ts'

export const shareGroupDescribe = handlerOf(ShareGroupDescribeApi, {
  versions: { min: 1, max: 1 },
  handle: (broker, request, origin) =>
    describeGroups({ broker, origin }, request, {
      describe: groupId => broker.groups.shares.describe(groupId),
      topicsOf,
    }),
  failed: ({ groupIds }, errorCode) => failedGroups(groupIds, errorCode),
})

const topicsOf = ({ members }: DescribedShareGroup): string[] =>
  members.flatMap(({ subscribedTopicNames, assignment }) => [
    ...subscribedTopicNames,
    ...assignment.topicPartitions.map(({ topicName }) => topicName),
  ])
