/**
 * ShareAcknowledge (79), versions 1–2 (KIP-932), of a joined node; its dispatch table has it in the place of the standalone one.
 *
 * 2: renewal.
 *
 * No record is ever acquired from a Lockstep node: partitions that it leads are INVALID_RECORD_STATE, others name their leader.
 * Needs READ on the group and the topic.
 */
import { ErrorCode } from '../../protocol/errors.ts'
import {
  ShareAcknowledgeApi,
  type ShareAcknowledgeResponseInput,
} from '../../protocol/messages/79-share-acknowledge.ts'
import { handlerOf } from '../handler.ts'
import { endpointsOf, requireShareGroup, shareAnswer } from './share-answers.ts'

export const shareAcknowledge = handlerOf(ShareAcknowledgeApi, {
  versions: ShareAcknowledgeApi.request.versions,
  handle(broker, request, origin) {
    requireShareGroup(broker, origin, request.groupId)
    const answers = request.topics.map(({ topicId, partitions }) => ({
      topicId,
      partitions: partitions.map(({ partitionIndex: partition }) => ({
        partition,
        answer: shareAnswer(broker, origin, { topicId, partition }),
      })),
    }))
    return {
      ...nothing(ErrorCode.NONE),
      responses: answers.map(({ topicId, partitions }) => ({
        topicId,
        partitions: partitions.map(({ partition, answer: { endpoint: _, errorCode, ...answer } }) => ({
          partitionIndex: partition,
          ...answer,
          errorCode: errorCode === ErrorCode.OFFSET_NOT_AVAILABLE ? ErrorCode.INVALID_RECORD_STATE : errorCode,
        })),
      })),
      nodeEndpoints: endpointsOf(answers.flatMap(({ partitions }) => partitions.map(({ answer }) => answer))),
    }
  },
  failed: (_request, errorCode) => nothing(errorCode),
})

const nothing = (errorCode: number): ShareAcknowledgeResponseInput => ({
  throttleTimeMs: 0,
  errorCode,
  errorMessage: null,
  acquisitionLockTimeoutMs: 0,
  responses: [],
  nodeEndpoints: [],
})
