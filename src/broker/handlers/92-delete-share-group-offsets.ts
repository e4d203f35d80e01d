/**
 * DeleteShareGroupOffsets (92), version 0 (KIP-932); the dispatch table calls it.
 *
 * DELETE on the group, READ on each topic. A group with members is NON_EMPTY_GROUP, one that does not exist or is of another type
 * GROUP_ID_NOT_FOUND, a topic that it has no offsets of UNKNOWN_TOPIC_OR_PARTITION. Answered when they are durably gone.
 */
import { ZERO_UUID } from '../../core/uuid.ts'
import { ErrorCode, errorName } from '../../protocol/errors.ts'
import {
  DeleteShareGroupOffsetsApi,
  type DeleteShareGroupOffsetsResponseInput,
} from '../../protocol/messages/92-delete-share-group-offsets.ts'
import { allowedNames, requireAllowed } from '../authorization.ts'
import { handlerOf } from '../handler.ts'

type TopicAnswer = NonNullable<DeleteShareGroupOffsetsResponseInput['responses']>[number]

export const deleteShareGroupOffsets = handlerOf(DeleteShareGroupOffsetsApi, {
  versions: { min: 0, max: 0 },
  async handle(broker, { groupId, topics }, origin) {
    if (!broker.groups.shares.isEnabled) return failure(ErrorCode.UNSUPPORTED_VERSION, null)
    requireAllowed(broker, origin, { operation: 'DELETE', resource: 'GROUP', name: groupId })
    const names = topics.map(({ topicName }) => topicName)
    const readable = allowedNames(broker, origin, { operation: 'READ', resource: 'TOPIC', names })
    const deleted = await broker.groups.shares.deleteOffsets(
      groupId,
      names.filter(name => readable.has(name)),
    )
    if (deleted.errorCode !== ErrorCode.NONE) return failure(deleted.errorCode, deleted.errorMessage)
    const refused = names
      .filter(name => !readable.has(name))
      .map(topicName => ({ topicName, topicId: ZERO_UUID, errorCode: ErrorCode.TOPIC_AUTHORIZATION_FAILED }))
    const responses = [...deleted.topics, ...refused].map(topic => ({
      ...topic,
      errorMessage: topic.errorCode === ErrorCode.NONE ? null : errorName(topic.errorCode),
    }))
    return { throttleTimeMs: 0, errorCode: ErrorCode.NONE, errorMessage: null, responses }
  },
  failed: (_request, errorCode) => failure(errorCode, null),
})

const failure = (errorCode: number, errorMessage: string | null) => ({
  throttleTimeMs: 0,
  errorCode,
  errorMessage: errorMessage ?? errorName(errorCode),
  responses: [] as TopicAnswer[],
})
