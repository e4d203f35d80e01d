// What ConsumerGroupDescribe (69) and ShareGroupDescribe (77) have in common: rights on each group and on what its members read.
import { ErrorCode } from '../protocol/errors.ts'
import { allowed, allowedNames } from './authorization.ts'
import { authorizedOperations, OPERATIONS_UNKNOWN } from './authorized-operations.ts'
import type { BrokerContext, RequestOrigin } from './handler.ts'

/** What a group of one of these types tells beside its members. */
interface DescribedGroup {
  readonly groupState: string
  readonly groupEpoch: number
  readonly assignmentEpoch: number
  readonly assignorName: string
  readonly members: readonly unknown[]
}

/** How groups of one type are looked up. */
export interface GroupDescriber<Group extends DescribedGroup> {
  /** GROUP_ID_NOT_FOUND for what is no group of the type. */
  readonly describe: (
    groupId: string,
  ) => Promise<{ readonly errorCode: number; readonly errorMessage: string | null; readonly group?: Group | undefined }>
  /** All topics that its members subscribe to or have assigned. */
  readonly topicsOf: (group: Group) => readonly string[]
}

/** The part of an answer about one group. */
export interface GroupAnswer<Group extends DescribedGroup> extends DescribedGroup {
  readonly errorCode: number
  readonly errorMessage: string | null
  readonly groupId: string
  readonly members: Group['members'][number][]
  readonly authorizedOperations: number
}

/** DESCRIBE on each group, and on every topic of its members: without it the group is told without members. */
export async function describeGroups<Group extends DescribedGroup>(
  { broker, origin }: { readonly broker: BrokerContext; readonly origin: RequestOrigin },
  request: { readonly groupIds: readonly string[]; readonly includeAuthorizedOperations: boolean },
  describer: GroupDescriber<Group>,
): Promise<{ throttleTimeMs: number; groups: GroupAnswer<Group>[] }> {
  const describe = async (groupId: string): Promise<GroupAnswer<Group>> => {
    if (!allowed(broker, origin, { operation: 'DESCRIBE', resource: 'GROUP', name: groupId }))
      return groupError(groupId, ErrorCode.GROUP_AUTHORIZATION_FAILED)
    const { errorCode, errorMessage, group } = await describer.describe(groupId)
    if (!group) return groupError(groupId, errorCode, errorMessage)
    const names = describer.topicsOf(group)
    const seen = allowedNames(broker, origin, { operation: 'DESCRIBE', resource: 'TOPIC', names })
    if (names.some(name => !seen.has(name)))
      return groupError(
        groupId,
        ErrorCode.TOPIC_AUTHORIZATION_FAILED,
        'The group has described topic(s) that the client is not authorized to describe.',
      )
    const operations = request.includeAuthorizedOperations
      ? authorizedOperations(broker, origin, { resource: 'GROUP', name: groupId })
      : OPERATIONS_UNKNOWN
    const answer = { ...groupError(groupId, ErrorCode.NONE), ...group, members: [...group.members] }
    return { ...answer, authorizedOperations: operations }
  }
  return { throttleTimeMs: 0, groups: await Promise.all(request.groupIds.map(describe)) }
}

/** The answer when all groups fail alike. */
export const failedGroups = (groupIds: readonly string[], errorCode: number) => ({
  throttleTimeMs: 0,
  groups: groupIds.map(groupId => groupError(groupId, errorCode)),
})

const groupError = (groupId: string, errorCode: number, errorMessage: string | null = null): GroupAnswer<never> => ({
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
