/**
 * DescribeGroups (15), versions 0–6; the dispatch table calls it.
 *
 * 3: authorised operations. 4: static members. 5: flexible. 6: GROUP_ID_NOT_FOUND with a message for what is no classic group
 * (before: the state Dead without an error).
 *
 * DESCRIBE on each group.
 */
import { ErrorCode } from '../../protocol/errors.ts'
import { DescribeGroupsApi, type DescribeGroupsResponseInput } from '../../protocol/messages/15-describe-groups.ts'
import { allowed } from '../authorization.ts'
import { authorizedOperations, OPERATIONS_UNKNOWN } from '../authorized-operations.ts'
import { type BrokerContext, handlerOf, type RequestOrigin } from '../handler.ts'

const OPERATIONS_VERSION = 3
const NOT_FOUND_VERSION = 6

type GroupAnswer = NonNullable<DescribeGroupsResponseInput['groups']>[number]

export const describeGroups = handlerOf(DescribeGroupsApi, {
  versions: { min: 0, max: 6 },
  handle(broker, { groups, includeAuthorizedOperations }, origin) {
    const mayDescribe = (name: string) => allowed(broker, origin, { operation: 'DESCRIBE', resource: 'GROUP', name })
    const refused = groups.filter(groupId => !mayDescribe(groupId))
    const described = groups.filter(mayDescribe).map(groupId => {
      const answer = describe(broker, groupId, origin.version)
      if (!includeAuthorizedOperations || origin.version < OPERATIONS_VERSION || answer.errorCode !== ErrorCode.NONE)
        return answer
      const operations = authorizedOperations(broker, origin, { resource: 'GROUP', name: groupId })
      return { ...answer, authorizedOperations: operations }
    })
    const errors = refused.map(groupId => groupError(groupId, ErrorCode.GROUP_AUTHORIZATION_FAILED))
    return { throttleTimeMs: 0, groups: [...errors, ...described] }
  },
  failed: ({ groups }, errorCode, _origin: RequestOrigin) => ({
    throttleTimeMs: 0,
    groups: groups.map(groupId => groupError(groupId, errorCode)),
  }),
})

function describe(broker: BrokerContext, groupId: string, version: number): GroupAnswer {
  const { errorCode, group } = broker.groups.describeGroup(groupId)
  if (group) return { ...groupError(groupId, ErrorCode.NONE), ...group, members: [...group.members] }
  if (errorCode !== ErrorCode.GROUP_ID_NOT_FOUND) return groupError(groupId, errorCode)
  const dead = { ...groupError(groupId, ErrorCode.NONE), groupState: 'Dead' }
  if (version < NOT_FOUND_VERSION) return dead
  const what = broker.groups.consumers.find(groupId) ? 'is not a classic group' : 'not found'
  return { ...dead, errorCode, errorMessage: `Group ${groupId} ${what}.` }
}

const groupError = (groupId: string, errorCode: number): GroupAnswer => ({
  errorCode,
  errorMessage: null,
  groupId,
  groupState: '',
  protocolType: '',
  protocolData: '',
  members: [],
  authorizedOperations: OPERATIONS_UNKNOWN,
})
