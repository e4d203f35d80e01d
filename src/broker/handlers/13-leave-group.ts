/**
 * LeaveGroup (13), versions 0–5; the dispatch table calls it.
 *
 * 3: several members at once, static ones by their instance id alone (KIP-345); errors per member. 4: flexible. 5: reasons.
 *
 * READ on the group.
 */
import { ErrorCode } from '../../protocol/errors.ts'
import { LeaveGroupApi } from '../../protocol/messages/13-leave-group.ts'
import { requireAllowed } from '../authorization.ts'
import { handlerOf } from '../handler.ts'

const SEVERAL_VERSION = 3

export const leaveGroup = handlerOf(LeaveGroupApi, {
  versions: { min: 0, max: 5 },
  async handle(broker, { groupId, memberId, members }, origin) {
    requireAllowed(broker, origin, { operation: 'READ', resource: 'GROUP', name: groupId })
    const leaving = origin.version < SEVERAL_VERSION ? [{ memberId, groupInstanceId: null }] : members
    const left = await broker.groups.leave(
      groupId,
      leaving.map(({ memberId, groupInstanceId }) => ({ memberId, groupInstanceId })),
    )
    if (origin.version >= SEVERAL_VERSION) return { throttleTimeMs: 0, ...left }
    const [only] = left.members
    const errorCode = left.errorCode === ErrorCode.NONE ? (only?.errorCode ?? ErrorCode.NONE) : left.errorCode
    return { throttleTimeMs: 0, errorCode, members: [] }
  },
  failed: (_request, errorCode) => ({ throttleTimeMs: 0, errorCode, members: [] }),
})
