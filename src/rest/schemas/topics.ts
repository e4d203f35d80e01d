/** Bodies and answers of the plain v3 resources of topics: topics, partitions, replicas, reassignments. */
import { type Static, Type } from 'typebox'
import { item, list, nullable, Related } from './envelope.ts'

export const CreateTopicBody = Type.Object(
  {
    topic_name: Type.String({ minLength: 1 }),
    partitions_count: Type.Optional(nullable(Type.Integer())),
    replication_factor: Type.Optional(nullable(Type.Integer({ minimum: -32768, maximum: 32767 }))),
    /** Partition → brokers; then neither a count nor a factor may be given. */
    replicas_assignments: Type.Optional(nullable(Type.Record(Type.String(), Type.Array(Type.Integer())))),
    configs: Type.Optional(
      nullable(
        Type.Array(
          Type.Object(
            { name: Type.String(), value: Type.Optional(nullable(Type.String())) },
            { additionalProperties: false },
          ),
        ),
      ),
    ),
    validate_only: Type.Optional(nullable(Type.Boolean())),
  },
  { additionalProperties: false },
)
export type CreateTopicBody = Static<typeof CreateTopicBody>

export const ChangeTopicBody = Type.Object({ partitions_count: Type.Integer() }, { additionalProperties: false })

export const TopicData = item('KafkaTopic', {
  cluster_id: Type.String(),
  topic_name: Type.String(),
  /** Our own addition. */
  topic_id: Type.String(),
  is_internal: Type.Boolean(),
  replication_factor: Type.Integer(),
  partitions_count: Type.Integer(),
  partitions: Related,
  configs: Related,
  partition_reassignments: Related,
  authorized_operations: Type.Optional(Type.Array(Type.String())),
})
export type TopicData = Static<typeof TopicData>

export const TopicDataList = list('KafkaTopicList', TopicData)
export type TopicDataList = Static<typeof TopicDataList>

export const PartitionData = item('KafkaPartition', {
  cluster_id: Type.String(),
  topic_name: Type.String(),
  partition_id: Type.Integer(),
  /** null = no leader. */
  leader: nullable(Related),
  replicas: Related,
  reassignment: Related,
  /** Our own additions: what the links lead to, in numbers; -1 = no leader. */
  leader_id: Type.Integer(),
  replica_ids: Type.Array(Type.Integer()),
  isr_ids: Type.Array(Type.Integer()),
})
export type PartitionData = Static<typeof PartitionData>

export const PartitionDataList = list('KafkaPartitionList', PartitionData)
export type PartitionDataList = Static<typeof PartitionDataList>

export const ReplicaData = item('KafkaReplica', {
  cluster_id: Type.String(),
  topic_name: Type.String(),
  partition_id: Type.Integer(),
  broker_id: Type.Integer(),
  is_leader: Type.Boolean(),
  is_in_sync: Type.Boolean(),
  broker: Related,
})
export type ReplicaData = Static<typeof ReplicaData>

export const ReplicaDataList = list('KafkaReplicaList', ReplicaData)
export type ReplicaDataList = Static<typeof ReplicaDataList>

export const ReassignmentData = item('KafkaReassignment', {
  cluster_id: Type.String(),
  topic_name: Type.String(),
  partition_id: Type.Integer(),
  adding_replicas: Type.Array(Type.Integer()),
  removing_replicas: Type.Array(Type.Integer()),
  replicas: Related,
})

export const ReassignmentDataList = list('KafkaReassignmentList', ReassignmentData)
export type ReassignmentDataList = Static<typeof ReassignmentDataList>
