/**
 * AlterShareGroupOffsets (91), version 0 (KIP-932); the dispatch table calls it.
 *
 * READ on the group and on each topic. A group with members is NON_EMPTY_GROUP, one of another type GROUP_ID_NOT_FOUND; one that does
 * not exist is made. Answered when the new start offsets are durable.
 */
import { ZERO_UUID } from '../../core/uuid.ts'
import { ErrorCode, errorName } from '../../protocol/errors.ts'
import {
  AlterShareGroupOffsetsApi,
  type AlterShareGroupOffsetsResponseInput,
} from '../../protocol/messages/91-alter-share-group-offsets.ts'
import { allowedNames, requireAllowed } from '../authorization.ts'
import { handlerOf } from '../handler.ts'

type TopicAnswer = NonNullable<AlterShareGroupOffsetsResponseInput['responses']>[number]

export const alterShareGroupOffsets = handlerOf(AlterShareGroupOffsetsApi, {
  versions: { min: 0, max: 0 },
  async handle(broker, { groupId, topics }, origin) {
    if (!broker.groups.shares.isEnabled) return failure(ErrorCode.UNSUPPORTED_VERSION, null)
    requireAllowed(broker, origin, { operation: 'READ', resource: 'GROUP', name: groupId })
    const names = topics.map(({ topicName }) => topicName)
    const readable = allowedNames(broker, origin, { operation: 'READ', resource: 'TOPIC', names })
    const wanted = topics
      .filter(({ topicName }) => readable.has(topicName))
      .map(({ topicName, partitions }) => ({
        topicName,
        partitions: partitions.map(({ partitionIndex, startOffset }) => ({
          partitionIndex,
          startOffset: Number(startOffset),
        })),
      }))
    const altered = await broker.groups.shares.alterOffsets(groupId, wanted)
    if (altered.errorCode !== ErrorCode.NONE) return failure(altered.errorCode, altered.errorMessage)
    const refused = topics
      .filter(({ topicName }) => !readable.has(topicName))
      .map(({ topicName, partitions }) => ({
        topicName,
        topicId: ZERO_UUID,
        partitions: partitions.map(({ partitionIndex }) => ({
          partitionIndex,
          errorCode: ErrorCode.TOPIC_AUTHORIZATION_FAILED,
        })),
      }))
    const responses = [...altered.topics, ...refused].map(topic => ({
      ...topic,
      partitions: topic.partitions.map(({ partitionIndex, errorCode }) => ({
        partitionIndex,
        errorCode,
        errorMessage: errorCode === ErrorCode.NONE ? null : errorName(errorCode),
      })),
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
