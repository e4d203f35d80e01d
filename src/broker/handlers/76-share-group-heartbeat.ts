/**
 * ShareGroupHeartbeat (76), version 1 (KIP-932); the dispatch table calls it.
 *
 * Clients choose their member ids. READ on the group, and DESCRIBE on every topic that is subscribed to. UNSUPPORTED_VERSION
 * without the feature share.version. Answered when everything that it tells is durable, and partitions that the group has not read
 * yet have their state: the member that joins first gets no partitions with its first answer.
 */
import { shareHeartbeatFailure } from '../../coordinator/share-groups/share-heartbeat.ts'
import { ErrorCode } from '../../protocol/errors.ts'
import { ShareGroupHeartbeatApi } from '../../protocol/messages/76-share-group-heartbeat.ts'
import { allowedNames, requireAllowed } from '../authorization.ts'
import { handlerOf, RequestFailure } from '../handler.ts'

export const shareGroupHeartbeat = handlerOf(ShareGroupHeartbeatApi, {
  versions: { min: 1, max: 1 },
  async handle(broker, request, origin) {
    if (!broker.groups.shares.isEnabled) return failure(ErrorCode.UNSUPPORTED_VERSION)
    requireAllowed(broker, origin, { operation: 'READ', resource: 'GROUP', name: request.groupId })
    const names = request.subscribedTopicNames ?? []
    const seen = allowedNames(broker, origin, { operation: 'DESCRIBE', resource: 'TOPIC', names })
    if (names.some(name => !seen.has(name)))
      throw new RequestFailure(ErrorCode.TOPIC_AUTHORIZATION_FAILED, 'a subscribed topic may not be described')
    const answer = await broker.groups.shares.heartbeat({
      ...request,
      clientId: origin.clientId ?? '',
      clientHost: `/${origin.client.remoteAddress}`,
    })
    return { throttleTimeMs: 0, ...answer }
  },
  failed: (_request, errorCode) => failure(errorCode),
})

const failure = (errorCode: number) => ({ throttleTimeMs: 0, ...shareHeartbeatFailure(errorCode, null) })
