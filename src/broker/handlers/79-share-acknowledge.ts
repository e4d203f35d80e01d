/**
 * ShareAcknowledge (79), versions 1–2 (KIP-932); the dispatch table calls it.
 *
 * 2: locks may be renewed, and the answer tells how long they last (KIP-1222).
 *
 * What a member says of records that it holds, within its share session; answered when it is durable. The final epoch ends the
 * session: what the member still holds is free again. READ on the group and on the topics.
 */
import { ErrorCode } from '../../protocol/errors.ts'
import {
  ShareAcknowledgeApi,
  type ShareAcknowledgeResponseInput,
} from '../../protocol/messages/79-share-acknowledge.ts'
import { currentLeader, type NodeEndpoint } from '../endpoints.ts'
import { handlerOf, type RequestOrigin } from '../handler.ts'
import { byTopicId } from '../share-fetch/by-topic-id.ts'
import { inSession, shareMember, shareTopics } from '../share-fetch/share-access.ts'
import { type AcknowledgedPartition, acknowledgeAll } from '../share-fetch/share-acknowledgements.ts'
import { FINAL_EPOCH } from '../share-fetch/share-sessions.ts'

const RENEW_VERSION = 2

export const shareAcknowledge = handlerOf(ShareAcknowledgeApi, {
  versions: { min: 1, max: 2 },
  async handle(broker, request, origin) {
    const member = shareMember(broker, origin, request)
    inSession(() => broker.shareSessions.acknowledge(member, request.shareSessionEpoch))
    const renews = origin.version >= RENEW_VERSION && request.isRenewAck
    const errorOf = shareTopics(broker, origin)
    const outcomes = await acknowledgeAll(broker, request.topics, { member, errorOf, renews })
    if (request.shareSessionEpoch === FINAL_EPOCH) broker.shareSessions.end(member)
    const { lockMs } = broker.sharePartitions.groupSettings(member.groupId)
    return { ...answerOf(outcomes, origin), acquisitionLockTimeoutMs: lockMs }
  },
  failed: (_request, errorCode) => ({
    throttleTimeMs: 0,
    errorCode,
    responses: [],
    nodeEndpoints: [],
  }),
})

function answerOf(outcomes: readonly AcknowledgedPartition[], origin: RequestOrigin): ShareAcknowledgeResponseInput {
  const endpoints = new Map<number, NodeEndpoint>()
  const responses = byTopicId(outcomes, ({ topicId, partition, errorCode }) => {
    const image = origin.image.topics.get(topicId)?.partitions[partition]
    const { leader, endpoint } = currentLeader(origin.image, image, origin.client.listener)
    const movedAway = errorCode === ErrorCode.NOT_LEADER_OR_FOLLOWER
    if (movedAway && endpoint) endpoints.set(endpoint.nodeId, endpoint)
    const currentLeaderOf = movedAway ? leader : { leaderId: 0, leaderEpoch: 0 }
    return { partitionIndex: partition, errorCode, currentLeader: currentLeaderOf }
  })
  return { throttleTimeMs: 0, errorCode: ErrorCode.NONE, responses, nodeEndpoints: [...endpoints.values()] }
}
