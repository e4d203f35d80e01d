/**
 * OffsetDelete (47), version 0; the dispatch table calls it.
 *
 * DELETE on the group, then READ on each topic; topics and partitions must exist. GROUP_ID_NOT_FOUND for a group that does not
 * exist, NON_EMPTY_GROUP for one with members that are no consumers, GROUP_SUBSCRIBED_TO_TOPIC for topics that members read.
 */
import { ZERO_UUID } from '../../core/uuid.ts'
import { ErrorCode } from '../../protocol/errors.ts'
import { OffsetDeleteApi } from '../../protocol/messages/47-offset-delete.ts'
import { allowedNames, requireAllowed } from '../authorization.ts'
import { PartitionAnswers } from '../group-requests.ts'
import { handlerOf } from '../handler.ts'

export const offsetDelete = handlerOf(OffsetDeleteApi, {
  versions: { min: 0, max: 0 },
  async handle(broker, { groupId, topics }, origin) {
    requireAllowed(broker, origin, { operation: 'DELETE', resource: 'GROUP', name: groupId })
    const names = topics.map(({ name }) => name)
    const readable = allowedNames(broker, origin, { operation: 'READ', resource: 'TOPIC', names })
    const named = { topics: topics.map(topic => ({ ...topic, topicId: ZERO_UUID })), byId: false }
    const answers = new PartitionAnswers(origin.image, named, name =>
      readable.has(name) ? ErrorCode.NONE : ErrorCode.TOPIC_AUTHORIZATION_FAILED,
    )
    const places = answers.valid.map(({ topic, partition }) => ({
      topic: topic.name,
      partition: partition.partitionIndex,
    }))
    const { errorCode, codes } = await broker.groups.deleteOffsets(groupId, places)
    if (errorCode !== ErrorCode.NONE) return { errorCode, throttleTimeMs: 0, topics: [] }
    return { errorCode, throttleTimeMs: 0, topics: answers.complete(codes) }
  },
  failed: (_request, errorCode) => ({ errorCode, throttleTimeMs: 0, topics: [] }),
})
