/**
 * OffsetCommit (8), versions 2–10; the dispatch table calls it.
 *
 * 2–4: a retention for these offsets. 6: leader epochs. 7: static members. 8: flexible. 9: GROUP_ID_NOT_FOUND for a generation of
 * a group that does not exist (before: ILLEGAL_GENERATION), and codes of the newer consumer protocol. 10: topic ids.
 *
 * READ on the group, then READ on each topic; topics and partitions must exist. Generation -1 without a member id is somebody
 * who is no member: accepted while the group has none, UNKNOWN_MEMBER_ID otherwise. Answered when the offsets are durable.
 */
import { ErrorCode } from '../../protocol/errors.ts'
import { OffsetCommitApi, type OffsetCommitRequest } from '../../protocol/messages/08-offset-commit.ts'
import { allowedNames, requireAllowed } from '../authorization.ts'
import { offsetsToCommit, PartitionAnswers } from '../group-requests.ts'
import { handlerOf, type RequestOrigin } from '../handler.ts'
import { namedTopics } from '../named-topics.ts'

const TOLD_OF_UNKNOWN_GROUPS = 9
const TOPIC_ID_VERSION = 10

export const offsetCommit = handlerOf(OffsetCommitApi, {
  versions: { min: 2, max: 10 },
  async handle(broker, request, origin) {
    const { groupId, memberId, groupInstanceId, generationIdOrMemberEpoch: generationId, retentionTimeMs } = request
    requireAllowed(broker, origin, { operation: 'READ', resource: 'GROUP', name: groupId })
    const names = namedTopics(origin.image, request.topics)
    const readable = allowedNames(broker, origin, { operation: 'READ', resource: 'TOPIC', names })
    const named = { topics: request.topics, byId: origin.version >= TOPIC_ID_VERSION }
    const answers = new PartitionAnswers(origin.image, named, name =>
      readable.has(name) ? ErrorCode.NONE : ErrorCode.TOPIC_AUTHORIZATION_FAILED,
    )
    if (answers.valid.length === 0) return { throttleTimeMs: 0, topics: answers.complete([]) }
    const codes = await broker.groups.commitOffsets({
      groupId,
      memberId,
      groupInstanceId,
      generationId,
      retentionMs: retentionTimeMs,
      unknownGroup:
        origin.version >= TOLD_OF_UNKNOWN_GROUPS ? ErrorCode.GROUP_ID_NOT_FOUND : ErrorCode.ILLEGAL_GENERATION,
      offsets: offsetsToCommit(answers.valid),
    })
    return { throttleTimeMs: 0, topics: answers.complete(codes) }
  },
  failed,
})

function failed({ topics }: OffsetCommitRequest, errorCode: number, _origin: RequestOrigin) {
  return {
    throttleTimeMs: 0,
    topics: topics.map(({ name, topicId, partitions }) => ({
      name,
      topicId,
      partitions: partitions.map(({ partitionIndex }) => ({ partitionIndex, errorCode })),
    })),
  }
}
