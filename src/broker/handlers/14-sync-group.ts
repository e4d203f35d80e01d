/**
 * SyncGroup (14), versions 0–5; the dispatch table calls it.
 *
 * 3: static members. 4: flexible. 5: protocol type and name, which must be given and be the group's.
 *
 * READ on the group. The leader brings the assignment of its generation; the others wait for it, at most until the next
 * rebalance begins. An assignment is answered when it is durable.
 */
import { syncFailure } from '../../coordinator/groups/membership.ts'
import { ErrorCode } from '../../protocol/errors.ts'
import { SyncGroupApi } from '../../protocol/messages/14-sync-group.ts'
import { requireAllowed } from '../authorization.ts'
import { whileConnected } from '../group-requests.ts'
import { handlerOf } from '../handler.ts'

const PROTOCOL_VERSION = 5

export const syncGroup = handlerOf(SyncGroupApi, {
  versions: { min: 0, max: 5 },
  async handle(broker, request, origin) {
    const { groupId, protocolType, protocolName } = request
    if (origin.version >= PROTOCOL_VERSION && (protocolType === null || protocolName === null))
      return { throttleTimeMs: 0, ...syncFailure(ErrorCode.INCONSISTENT_GROUP_PROTOCOL) }
    requireAllowed(broker, origin, { operation: 'READ', resource: 'GROUP', name: groupId })
    // Assignments outlive the request: they are copied out of its buffer.
    const assignments = new Map(
      request.assignments.map(({ memberId, assignment }) => [memberId, Buffer.from(assignment)]),
    )
    const answer = await whileConnected(origin, broker.groups.sync({ ...request, assignments }))
    return answer && { throttleTimeMs: 0, ...answer }
  },
  failed: (_request, errorCode) => ({ throttleTimeMs: 0, ...syncFailure(errorCode) }),
})
