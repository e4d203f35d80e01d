/** Requests to coordinators that a standalone node does not have, as a broker answers them that coordinates no group: NOT_COORDINATOR. Rows of the joined table. */
import { ErrorCode } from '../../protocol/errors.ts'
import { StreamsGroupHeartbeatApi } from '../../protocol/messages/88-streams-group-heartbeat.ts'
import { StreamsGroupDescribeApi } from '../../protocol/messages/89-streams-group-describe.ts'
import type { Api } from '../../protocol/schema/message.ts'
import { allowed } from '../authorization.ts'
import { type Handler, type HandlerDefinition, handlerOf } from '../handler.ts'

/** Rights on the groups are asked for first, as brokers do. */
function elsewhere<Q, QI, R, RI>(
  api: Api<Q, QI, R, RI>,
  of: {
    readonly operation: 'READ' | 'DESCRIBE'
    readonly groups: (request: Q) => readonly string[]
    readonly failed: HandlerDefinition<Q, RI>['failed']
  },
): Handler {
  return handlerOf(api, {
    versions: api.request.versions,
    handle(broker, request, origin) {
      const { operation } = of
      const may = of.groups(request).every(name => allowed(broker, origin, { operation, resource: 'GROUP', name }))
      return of.failed(request, may ? ErrorCode.NOT_COORDINATOR : ErrorCode.GROUP_AUTHORIZATION_FAILED, origin)
    },
    failed: of.failed,
  })
}

const failure = (errorCode: number) => ({ throttleTimeMs: 0, errorCode, errorMessage: null })
const describedGroup = (groupId: string, errorCode: number) => ({
  errorCode,
  errorMessage: null,
  groupId,
  groupState: '',
  groupEpoch: 0,
  assignmentEpoch: 0,
  members: [],
})

export const coordinatorRows: readonly Handler[] = [
  elsewhere(StreamsGroupHeartbeatApi, {
    operation: 'READ',
    groups: ({ groupId }) => [groupId],
    failed: (_request, errorCode) => ({
      ...failure(errorCode),
      memberId: '',
      memberEpoch: 0,
      heartbeatIntervalMs: 0,
      acceptableRecoveryLag: 0,
      taskOffsetIntervalMs: 0,
      status: null,
      endpointInformationEpoch: 0,
      partitionsByUserEndpoint: null,
    }),
  }),
  elsewhere(StreamsGroupDescribeApi, {
    operation: 'DESCRIBE',
    groups: ({ groupIds }) => groupIds,
    failed: ({ groupIds }, errorCode) => ({
      throttleTimeMs: 0,
      groups: groupIds.map(groupId => describedGroup(groupId, errorCode)),
    }),
  }),
]
