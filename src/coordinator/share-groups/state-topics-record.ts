/** The partitions with state of a share group between their form here and that of the group's record; share-change.ts calls it. */
import type { Uuid } from '../../core/uuid.ts'
import type {
  ShareGroupStatePartitionMetadataValue,
  ShareGroupStatePartitionMetadataValueInput,
} from '../../protocol/coordinator-records/group-15-share-group-state-partition-metadata.ts'
import type { StateTopics, TopicState } from './state-topics.ts'

export const stateTopicsToRecord = (state: StateTopics): ShareGroupStatePartitionMetadataValueInput => ({
  initializingTopics: topicsToRecord(state.initialising),
  initializedTopics: topicsToRecord(state.initialised),
  deletingTopics: [...state.deleting].map(([topicId, topicName]) => ({ topicId, topicName })),
})

const topicsToRecord = (topics: ReadonlyMap<Uuid, TopicState>) =>
  [...topics].map(([topicId, { name, partitions }]) => ({
    topicId,
    topicName: name,
    partitions: [...partitions].sort((a, b) => a - b),
  }))

export const stateTopicsFromRecord = (value: ShareGroupStatePartitionMetadataValue): StateTopics => ({
  initialising: new Map(
    value.initializingTopics.map(topic => [topic.topicId, { ...topicFromRecord(topic), sinceMs: undefined }]),
  ),
  initialised: new Map(value.initializedTopics.map(topic => [topic.topicId, topicFromRecord(topic)])),
  deleting: new Map(value.deletingTopics.map(({ topicId, topicName }) => [topicId, topicName])),
})

const topicFromRecord = ({
  topicName,
  partitions,
}: ShareGroupStatePartitionMetadataValue['initializedTopics'][number]): TopicState => ({
  name: topicName,
  partitions: new Set(partitions),
})
