/** What share consumers are told of partitions that this node leads, or does not lead any more: nothing to read, a reason, and where the leader is. ShareFetch and ShareAcknowledge of a joined node use it. */
import type { Uuid } from '../../core/uuid.ts'
import { ErrorCode } from '../../protocol/errors.ts'
import { allowed, requireAllowed } from '../authorization.ts'
import { currentLeader, type NodeEndpoint } from '../endpoints.ts'
import { type BrokerContext, RequestFailure, type RequestOrigin } from '../handler.ts'

export interface SharePlace {
  readonly topicId: Uuid
  readonly partition: number
}

export interface ShareAnswer {
  readonly errorCode: number
  readonly errorMessage: string | null
  readonly currentLeader: { readonly leaderId: number; readonly leaderEpoch: number }
  /** Of the leader, where it is another broker that the client can reach. */
  readonly endpoint: NodeEndpoint | undefined
}

const NO_LEADER = { leader: { leaderId: -1, leaderEpoch: -1 }, endpoint: undefined }

/** Throws RequestFailure: a group without a name, or one that the client may not read. */
export function requireShareGroup(broker: BrokerContext, origin: RequestOrigin, groupId: string | null): void {
  if (groupId === null || groupId === '') throw new RequestFailure(ErrorCode.INVALID_REQUEST, 'there is no group')
  requireAllowed(broker, origin, { operation: 'READ', resource: 'GROUP', name: groupId })
}

/**
 * Share consumers read from leaders only, and records are acquired where the share state is kept: with a Java broker. The answer is
 * one that makes them look for the leader again, now and then, and go on.
 */
export function shareAnswer(broker: BrokerContext, origin: RequestOrigin, place: SharePlace): ShareAnswer {
  const { image } = broker.controller
  const topic = image.topics.get(place.topicId)
  const refused = (errorCode: number, errorMessage: string | null): ShareAnswer => ({
    errorCode,
    errorMessage,
    currentLeader: NO_LEADER.leader,
    endpoint: undefined,
  })
  if (!topic) return refused(ErrorCode.UNKNOWN_TOPIC_ID, null)
  if (!allowed(broker, origin, { operation: 'READ', resource: 'TOPIC', name: topic.name }))
    return refused(ErrorCode.TOPIC_AUTHORIZATION_FAILED, null)
  const partition = topic.partitions[place.partition]
  if (!partition) return refused(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, null)
  if (partition.leader === broker.brokerId)
    return refused(
      ErrorCode.OFFSET_NOT_AVAILABLE,
      `${topic.name}-${place.partition} is led by a Lockstep node: share groups can read a mirror after its promote`,
    )
  const { leader, endpoint } = currentLeader(image, partition, origin.client.listener)
  const errorMessage = `${topic.name}-${place.partition} is led by broker ${partition.leader}`
  return { errorCode: ErrorCode.NOT_LEADER_OR_FOLLOWER, errorMessage, currentLeader: leader, endpoint }
}

/** Each once. */
export const endpointsOf = (answers: readonly ShareAnswer[]): NodeEndpoint[] => [
  ...new Map(answers.flatMap(({ endpoint }) => (endpoint ? [[endpoint.nodeId, endpoint] as const] : []))).values(),
]
