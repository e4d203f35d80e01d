/** The deleteTopics command. Called by the local controller. */
import { type Uuid, ZERO_UUID } from '../../core/uuid.ts'
import type { ApiError, DeletedTopic, MutationGate } from '../../metadata/controller-port.ts'
import type { MetadataImage } from '../../metadata/metadata-image.ts'
import { type MetadataRecordInput, MetadataRecordType } from '../../protocol/metadata-records/registry.ts'
import { accepted, type Decision, quotaExceeded, refused, repeated } from './decision.ts'

export interface TopicToDelete {
  readonly name: string | null
  readonly topicId: Uuid
}

export function deleteTopics(
  image: MetadataImage,
  topics: readonly TopicToDelete[],
  options: { readonly enabled: boolean; readonly mayMutate?: MutationGate | undefined },
): Decision<DeletedTopic[]> {
  const records: MetadataRecordInput[] = []
  const resolved = topics.map(topic => resolve(image, topic))
  const twice = repeated(resolved.map(topic => topic.topicId))
  const answer = resolved.map((topic): DeletedTopic => {
    const error = options.enabled ? topic.error : refused('TOPIC_DELETION_DISABLED', null)
    if (error !== undefined) return { ...error, name: topic.name, topicId: topic.topicId }
    if (twice.has(topic.topicId))
      return { ...refused('INVALID_REQUEST', 'Duplicate topic.'), name: topic.name, topicId: topic.topicId }
    const partitions = image.topics.get(topic.topicId)?.partitions.length ?? 0
    if (options.mayMutate?.(partitions) === false) return { ...quotaExceeded, name: topic.name, topicId: topic.topicId }
    records.push({ type: MetadataRecordType.RemoveTopic, version: 0, value: { topicId: topic.topicId } })
    return { ...accepted, name: topic.name, topicId: topic.topicId }
  })
  return { records, answer }
}

function resolve(image: MetadataImage, { name, topicId }: TopicToDelete): TopicToDelete & { error?: ApiError } {
  const byId = topicId !== ZERO_UUID
  if (byId && name !== null)
    return { name, topicId, error: refused('INVALID_REQUEST', 'A topic is named by its name or its id, not by both.') }
  if (byId) {
    const topic = image.topics.get(topicId)
    return topic ? { name: topic.name, topicId } : { name, topicId, error: refused('UNKNOWN_TOPIC_ID', null) }
  }
  if (name === null)
    return { name, topicId, error: refused('INVALID_REQUEST', 'Neither topic name nor id were specified.') }
  const id = image.topicIds.get(name)
  return id === undefined
    ? { name, topicId, error: refused('UNKNOWN_TOPIC_OR_PARTITION', null) }
    : { name, topicId: id }
}
