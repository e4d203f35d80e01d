/**
 * ConsumerGroupHeartbeat (68), versions 0–1 (KIP-848); the dispatch table calls it.
 *
 * 0: the node gives out member ids. 1: clients choose them (KIP-1082); regular expressions.
 *
 * READ on the group, and DESCRIBE on every topic that is subscribed to by name; of what a regular expression matches, topics without
 * it are left out. UNSUPPORTED_VERSION without the feature group.version. Answered when everything that it tells is durable.
 */
import { heartbeatFailure } from '../../coordinator/consumer-groups/consumer-heartbeat.ts'
import { ErrorCode } from '../../protocol/errors.ts'
import { ConsumerGroupHeartbeatApi } from '../../protocol/messages/68-consumer-group-heartbeat.ts'
import { allowedNames, requireAllowed } from '../authorization.ts'
import { handlerOf, RequestFailure } from '../handler.ts'

const CHOOSES_ID_VERSION = 1

export const consumerGroupHeartbeat = handlerOf(ConsumerGroupHeartbeatApi, {
  versions: { min: 0, max: 1 },
  async handle(broker, request, origin) {
    if (!broker.groups.consumers.isEnabled) return failure(ErrorCode.UNSUPPORTED_VERSION)
    requireAllowed(broker, origin, { operation: 'READ', resource: 'GROUP', name: request.groupId })
    const describable = (names: readonly string[]) =>
      allowedNames(broker, origin, { operation: 'DESCRIBE', resource: 'TOPIC', names })
    const named = request.subscribedTopicNames ?? []
    const seen = describable(named)
    if (named.some(name => !seen.has(name)))
      throw new RequestFailure(ErrorCode.TOPIC_AUTHORIZATION_FAILED, 'a subscribed topic may not be described')
    const answer = await broker.groups.consumers.heartbeat({
      ...request,
      clientId: origin.clientId ?? '',
      clientHost: `/${origin.client.remoteAddress}`,
      choosesMemberId: origin.version >= CHOOSES_ID_VERSION,
      describable,
    })
    return { throttleTimeMs: 0, ...answer }
  },
  failed: (_request, errorCode) => failure(errorCode),
})

const failure = (errorCode: number) => ({ throttleTimeMs: 0, ...heartbeatFailure(errorCode, null) })
