/** The plain v3 resources beside links: clusters and topics. */
import { type Static, Type } from 'typebox'
import { item, list, nullable } from './envelope.ts'

const Related = Type.Object({ related: Type.String() })

export const ClusterData = item('KafkaCluster', {
  cluster_id: Type.String(),
  controller: Related,
  brokers: Related,
  topics: Related,
})
export type ClusterData = Static<typeof ClusterData>

export const ClusterDataList = list('KafkaClusterList', ClusterData)
export type ClusterDataList = Static<typeof ClusterDataList>

export const CreateTopicBody = Type.Object(
  {
    topic_name: Type.String({ minLength: 1 }),
    partitions_count: Type.Optional(Type.Integer({ minimum: 1 })),
    replication_factor: Type.Optional(Type.Integer({ minimum: 1, maximum: 32767 })),
    configs: Type.Optional(
      Type.Array(Type.Object({ name: Type.String(), value: nullable(Type.String()) }, { additionalProperties: false })),
    ),
  },
  { additionalProperties: false },
)
export type CreateTopicBody = Static<typeof CreateTopicBody>

export const TopicData = item('KafkaTopic', {
  cluster_id: Type.String(),
  topic_name: Type.String(),
  topic_id: Type.String(),
  is_internal: Type.Boolean(),
  replication_factor: Type.Integer(),
  partitions_count: Type.Integer(),
  partitions: Related,
  configs: Related,
})
export type TopicData = Static<typeof TopicData>

export const TopicDataList = list('KafkaTopicList', TopicData)
export type TopicDataList = Static<typeof TopicDataList>

export const PartitionData = item('KafkaPartition', {
  cluster_id: Type.String(),
  topic_name: Type.String(),
  partition_id: Type.Integer(),
  leader: nullable(Type.Object({ related: Type.String() })),
  leader_id: Type.Integer(),
  replicas: Type.Array(Type.Integer()),
  isr: Type.Array(Type.Integer()),
})

export const PartitionDataList = list('KafkaPartitionList', PartitionData)
export type PartitionDataList = Static<typeof PartitionDataList>

export const TopicConfigData = item('KafkaTopicConfig', {
  cluster_id: Type.String(),
  topic_name: Type.String(),
  name: Type.String(),
  value: nullable(Type.String()),
  is_default: Type.Boolean(),
  is_read_only: Type.Boolean(),
  is_sensitive: Type.Boolean(),
  source: Type.String(),
})

export const TopicConfigDataList = list('KafkaTopicConfigList', TopicConfigData)
export type TopicConfigDataList = Static<typeof TopicConfigDataList>
