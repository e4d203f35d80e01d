/**
 * ConsumerGroupDescribe (69), versions 0–1 (KIP-848); the dispatch table calls it.
 *
 * 1: which protocol each member speaks.
 *
 * DESCRIBE on each group, and on every topic of its members: without it the group is TOPIC_AUTHORIZATION_FAILED and told without
 * members. GROUP_ID_NOT_FOUND for what is no consumer group.
 */
import type { DescribedConsumerGroup } from '../../coordinator/consumer-groups/describe-group.ts'
import { ErrorCode } from '../../protocol/errors.ts'
import {
  ConsumerGroupDescribeApi,
  type ConsumerGroupDescribeResponseInput,
} from '../../protocol/messages/69-consumer-group-describe.ts'
import { allowed, allowedNames } from '../authorization.ts'
import { authorizedOperations, OPERATIONS_UNKNOWN } from '../authorized-operations.ts'
import { type BrokerContext, handlerOf, type RequestOrigin } from '../handler.ts'

type GroupAnswer = NonNullable<ConsumerGroupDescribeResponseInput['groups']>[number]

export const consumerGroupDescribe = handlerOf(ConsumerGroupDescribeApi, {
  versions: { min: 0, max: 1 },
  async handle(broker, { groupIds, includeAuthorizedOperations }, origin) {
    const groups = await Promise.all(
      groupIds.map(async groupId => {
        const answer = await describe(broker, origin, groupId)
        if (!includeAuthorizedOperations || answer.errorCode !== ErrorCode.NONE) return answer
        const operations = authorizedOperations(broker, origin, { resource: 'GROUP', name: groupId })
        return { ...answer, authorizedOperations: operations }
      }),
    )
    return { throttleTimeMs: 0, groups }
  },
  failed: ({ groupIds }, errorCode) => ({
    throttleTimeMs: 0,
    groups: groupIds.map(groupId => groupError(groupId, errorCode, null)),
  }),
})

async function describe(broker: BrokerContext, origin: RequestOrigin, groupId: string): Promise<GroupAnswer> {
  if (!allowed(broker, origin, { operation: 'DESCRIBE', resource: 'GROUP', name: groupId }))
    return groupError(groupId, ErrorCode.GROUP_AUTHORIZATION_FAILED, null)
  const { errorCode, errorMessage, group } = await broker.groups.consumers.describe(groupId)
  if (!group) return groupError(groupId, errorCode, errorMessage)
  const names = topicsOf(group)
  const seen = allowedNames(broker, origin, { operation: 'DESCRIBE', resource: 'TOPIC', names })
  if (names.some(name => !seen.has(name)))
    return groupError(
      groupId,
      ErrorCode.TOPIC_AUTHORIZATION_FAILED,
      'The group has described topic(s) that the client is not authorized to describe.',
    )
  return { ...groupError(groupId, ErrorCode.NONE, null), ...group, members: [...group.members] }
}

const topicsOf = ({ members }: DescribedConsumerGroup): string[] =>
  members.flatMap(({ subscribedTopicNames, assignment, targetAssignment }) => [
    ...subscribedTopicNames,
    ...[...assignment.topicPartitions, ...targetAssignment.topicPartitions].map(({ topicName }) => topicName),
  ])

const groupError = (groupId: string, errorCode: number, errorMessage: string | null): GroupAnswer => ({
  errorCode,
  errorMessage,
  groupId,
  groupState: '',
  groupEpoch: 0,
  assignmentEpoch: 0,
  assignorName: '',
  members: [],
  authorizedOperations: OPERATIONS_UNKNOWN,
})
