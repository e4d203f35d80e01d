/**
 * ShareGroupDescribe (77), version 1 (KIP-932); the dispatch table calls it.
 *
 * DESCRIBE on each group, and on every topic of its members: without it the group is TOPIC_AUTHORIZATION_FAILED and told without
 * members. GROUP_ID_NOT_FOUND for what is no share group.
 */
import type { DescribedShareGroup } from '../../coordinator/share-groups/describe-share-group.ts'
import { ErrorCode } from '../../protocol/errors.ts'
import {
  ShareGroupDescribeApi,
  type ShareGroupDescribeResponseInput,
} from '../../protocol/messages/77-share-group-describe.ts'
import { allowed, allowedNames } from '../authorization.ts'
import { authorizedOperations, OPERATIONS_UNKNOWN } from '../authorized-operations.ts'
import { type BrokerContext, handlerOf, type RequestOrigin } from '../handler.ts'

type GroupAnswer = NonNullable<ShareGroupDescribeResponseInput['groups']>[number]

export const shareGroupDescribe = handlerOf(ShareGroupDescribeApi, {
  versions: { min: 1, max: 1 },
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
  const { errorCode, errorMessage, group } = await broker.groups.shares.describe(groupId)
  if (!group) return groupError(groupId, errorCode, errorMessage)
  const names = topicsOf(group)
  const seen = allowedNames(broker, origin, { operation: 'DESCRIBE', resource: 'TOPIC', names })
  if (names.some(name => !seen.has(name)))
    return groupError(groupId, ErrorCode.TOPIC_AUTHORIZATION_FAILED, 'the group reads topics that you may not describe')
  return { ...groupError(groupId, ErrorCode.NONE, null), ...group, members: [...group.members] }
}

const topicsOf = ({ members }: DescribedShareGroup): string[] =>
  members.flatMap(({ subscribedTopicNames, assignment }) => [
    ...subscribedTopicNames,
    ...assignment.topicPartitions.map(({ topicName }) => topicName),
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
