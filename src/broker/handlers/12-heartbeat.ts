/**
 * Heartbeat (12), versions 0–4; the dispatch table calls it.
 *
 * 3: static members. 4: flexible.
 *
 * READ on the group. Keeps the member's session; REBALANCE_IN_PROGRESS tells it to join again. Without an error while the group
 * is being loaded: its session begins anew then.
 */
import { HeartbeatApi } from '../../protocol/messages/12-heartbeat.ts'
import { requireAllowed } from '../authorization.ts'
import { handlerOf } from '../handler.ts'

export const heartbeat = handlerOf(HeartbeatApi, {
  versions: { min: 0, max: 4 },
  handle(broker, request, origin) {
    requireAllowed(broker, origin, { operation: 'READ', resource: 'GROUP', name: request.groupId })
    return { throttleTimeMs: 0, errorCode: broker.groups.heartbeat(request) }
  },
  failed: (_request, errorCode) => ({ throttleTimeMs: 0, errorCode }),
})
