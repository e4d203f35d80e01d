/**
 * JoinGroup (11), versions 0–9; the dispatch table calls it.
 *
 * 1: a rebalance timeout of its own (before: the session timeout). 4: a new member is told its id first and comes again
 * (KIP-394). 5: static members (KIP-345). 6: flexible. 7: the protocol type is answered, the protocol's name may be null. 8: the
 * client says why. 9: a leader may be told not to assign (KIP-814).
 *
 * READ on the group. The answer waits for the other members, at most as long as a rebalance may take; this connection's next
 * requests wait behind it.
 */
import { joinAnswer } from '../../coordinator/groups/classic-group.ts'
import type { JoinAnswer } from '../../coordinator/groups/group-member.ts'
import { JoinGroupApi, type JoinGroupRequest } from '../../protocol/messages/11-join-group.ts'
import { requireAllowed } from '../authorization.ts'
import { whileConnected } from '../group-requests.ts'
import { handlerOf, type RequestOrigin } from '../handler.ts'

const REBALANCE_TIMEOUT_VERSION = 1
const MEMBER_ID_FIRST_VERSION = 4
const NULLABLE_PROTOCOL_VERSION = 7
const SKIP_ASSIGNMENT_VERSION = 9

export const joinGroup = handlerOf(JoinGroupApi, {
  versions: { min: 0, max: 9 },
  async handle(broker, request, origin) {
    const { groupId, memberId } = request
    requireAllowed(broker, origin, { operation: 'READ', resource: 'GROUP', name: groupId })
    const joining = broker.groups.join({
      groupId,
      memberId,
      description: describe(request, origin),
      acceptsMemberIdFirst: origin.version >= MEMBER_ID_FIRST_VERSION,
      mayBeToldToSkip: origin.version >= SKIP_ASSIGNMENT_VERSION,
      reason: request.reason,
    })
    const answer = await whileConnected(origin, joining)
    return answer && respond(answer, origin.version)
  },
  failed: ({ memberId: _ }, errorCode, { version }) => respond(joinAnswer(errorCode, ''), version),
})

/** Names and metadata outlive the request: they are copied out of its buffer. */
const describe = (request: JoinGroupRequest, { version, clientId, client }: RequestOrigin) => ({
  groupInstanceId: request.groupInstanceId,
  clientId: clientId ?? '',
  clientHost: `/${client.remoteAddress}`,
  sessionTimeoutMs: request.sessionTimeoutMs,
  rebalanceTimeoutMs: version < REBALANCE_TIMEOUT_VERSION ? request.sessionTimeoutMs : request.rebalanceTimeoutMs,
  protocolType: request.protocolType,
  protocols: request.protocols.map(({ name, metadata }) => ({ name, metadata: Buffer.from(metadata) })),
})

const respond = ({ protocolName, ...answer }: JoinAnswer, version: number) => ({
  throttleTimeMs: 0,
  ...answer,
  protocolName: protocolName ?? (version < NULLABLE_PROTOCOL_VERSION ? '' : null),
  skipAssignment: version >= SKIP_ASSIGNMENT_VERSION && answer.skipAssignment,
  members: [...answer.members],
})
