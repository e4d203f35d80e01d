/** What ShareFetch and ShareAcknowledge check alike: may the member be served, and which partitions does it mean. */
import { CoordinatorError } from '../../coordinator/runtime/coordinator-error.ts'
import type { Uuid } from '../../core/uuid.ts'
import { ErrorCode } from '../../protocol/errors.ts'
import { allowed } from '../authorization.ts'
import { type BrokerContext, RequestFailure, type RequestOrigin } from '../handler.ts'
import type { ShareMember } from './share-sessions.ts'

/** As Kafka's clients make them: a UUID in text. */
const MEMBER_ID_LENGTH_MAX = 36

/** READ on the group. Throws RequestFailure: UNSUPPORTED_VERSION while the feature `share.version` is 0, GROUP_AUTHORIZATION_FAILED, INVALID_REQUEST. */
export function shareMember(
  broker: BrokerContext,
  origin: RequestOrigin,
  { groupId, memberId }: { readonly groupId: string | null; readonly memberId: string | null },
): ShareMember {
  if ((origin.image.features.get('share.version') ?? 0) < 1)
    throw new RequestFailure(ErrorCode.UNSUPPORTED_VERSION, 'share groups are not enabled')
  if (groupId === null) throw new RequestFailure(ErrorCode.INVALID_REQUEST, 'there is no group')
  if (!allowed(broker, origin, { operation: 'READ', resource: 'GROUP', name: groupId }))
    throw new RequestFailure(ErrorCode.GROUP_AUTHORIZATION_FAILED, 'the group may not be read')
  if (memberId === null || memberId === '' || memberId.length > MEMBER_ID_LENGTH_MAX)
    throw new RequestFailure(ErrorCode.INVALID_REQUEST, 'the member id is not valid')
  return { groupId, memberId }
}

/** What a session refuses is the answer to the whole request: throws RequestFailure instead of CoordinatorError. */
export function inSession<T>(step: () => T): T {
  try {
    return step()
  } catch (error) {
    if (error instanceof CoordinatorError) throw new RequestFailure(error.errorCode, error.message)
    throw error
  }
}

/** Decides once per topic: the error code of each of its partitions, or undefined for those that the member may read. */
export function shareTopics(broker: BrokerContext, origin: RequestOrigin) {
  const known = new Map<Uuid, number>()
  const topicError = (topicId: Uuid): number => {
    const name = origin.image.topics.get(topicId)?.name
    if (name === undefined) return ErrorCode.UNKNOWN_TOPIC_ID
    const may = allowed(broker, origin, { operation: 'READ', resource: 'TOPIC', name })
    return may ? ErrorCode.NONE : ErrorCode.TOPIC_AUTHORIZATION_FAILED
  }
  return (topicId: Uuid, partition: number): number => {
    const code = known.get(topicId) ?? topicError(topicId)
    known.set(topicId, code)
    if (code !== ErrorCode.NONE || origin.image.topics.get(topicId)?.partitions[partition]) return code
    return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
  }
}
