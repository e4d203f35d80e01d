// The contract of the plain v3 resources, as the open-source REST proxy documents them.
import { fields, filled, flag, item, listOf, many, oneOf, orNull, related, text, whole } from './shapes.ts'

const cluster_id = filled

export const cluster = item('KafkaCluster', {
  cluster_id,
  controller: related,
  acls: related,
  brokers: related,
  broker_configs: related,
  consumer_groups: related,
  topics: related,
  partition_reassignments: related,
})
export const clusterList = listOf('KafkaClusterList', cluster)

export const broker = item('KafkaBroker', {
  cluster_id,
  broker_id: whole,
  host: orNull(text),
  port: orNull(whole),
  rack: orNull(text),
  configs: related,
  partition_replicas: related,
})
export const brokerList = listOf('KafkaBrokerList', broker)

export const topic = item(
  'KafkaTopic',
  {
    cluster_id,
    topic_name: filled,
    is_internal: flag,
    replication_factor: whole,
    partitions_count: whole,
    partitions: related,
    configs: related,
    partition_reassignments: related,
  },
  { authorized_operations: many(text) },
)
export const topicList = listOf('KafkaTopicList', topic)

export const partition = item('KafkaPartition', {
  cluster_id,
  topic_name: filled,
  partition_id: whole,
  leader: orNull(related),
  replicas: related,
  reassignment: related,
})
export const partitionList = listOf('KafkaPartitionList', partition)

export const replica = item('KafkaReplica', {
  cluster_id,
  topic_name: filled,
  partition_id: whole,
  broker_id: whole,
  is_leader: flag,
  is_in_sync: flag,
  broker: related,
})
export const replicaList = listOf('KafkaReplicaList', replica)
export const reassignmentList = listOf('KafkaReassignmentList', fields({}))

const source = oneOf(
  ...['DYNAMIC_CLUSTER_LINK_CONFIG', 'DYNAMIC_TOPIC_CONFIG', 'DYNAMIC_BROKER_LOGGER_CONFIG', 'DYNAMIC_BROKER_CONFIG'],
  ...['DYNAMIC_DEFAULT_BROKER_CONFIG', 'STATIC_BROKER_CONFIG', 'DEFAULT_CONFIG', 'UNKNOWN'],
)
const configFields = {
  cluster_id,
  name: filled,
  value: orNull(text),
  is_default: flag,
  is_read_only: flag,
  is_sensitive: flag,
  source,
  synonyms: many(fields({ name: filled, value: orNull(text), source })),
}
export const topicConfig = item('KafkaTopicConfig', { ...configFields, topic_name: filled })
export const topicConfigList = listOf('KafkaTopicConfigList', topicConfig)
export const brokerConfigList = listOf(
  'KafkaBrokerConfigList',
  item('KafkaBrokerConfig', { ...configFields, broker_id: whole }),
)
export const clusterConfigList = listOf(
  'KafkaClusterConfigList',
  item('KafkaClusterConfig', { ...configFields, config_type: oneOf('BROKER') }),
)

const ofGroup = { cluster_id, consumer_group_id: filled }

export const group = item('KafkaConsumerGroup', {
  ...ofGroup,
  is_simple: flag,
  partition_assignor: text,
  state: oneOf(
    ...[
      'UNKNOWN',
      'PREPARING_REBALANCE',
      'COMPLETING_REBALANCE',
      'ASSIGNING',
      'RECONCILING',
      'STABLE',
      'DEAD',
      'EMPTY',
    ],
  ),
  type: oneOf('UNKNOWN', 'CLASSIC', 'CONSUMER', 'SHARE'),
  is_mixed_consumer_group: flag,
  coordinator: related,
  consumers: related,
  lag_summary: related,
})
export const groupList = listOf('KafkaConsumerGroupList', group)

export const consumer = item('KafkaConsumer', {
  ...ofGroup,
  consumer_id: filled,
  instance_id: orNull(text),
  client_id: text,
  assignments: related,
})
export const consumerList = listOf('KafkaConsumerList', consumer)

export const assignment = item('KafkaConsumerAssignment', {
  ...ofGroup,
  consumer_id: filled,
  topic_name: filled,
  partition_id: whole,
  partition: related,
  lag: related,
})
export const assignmentList = listOf('KafkaConsumerAssignmentList', assignment)

export const lag = item('KafkaConsumerLag', {
  ...ofGroup,
  topic_name: filled,
  partition_id: whole,
  current_offset: whole,
  log_end_offset: whole,
  lag: { type: 'integer', minimum: 0 },
  consumer_id: text,
  instance_id: orNull(text),
  client_id: text,
})
export const lagList = listOf('KafkaConsumerLagList', lag)

export const lagSummary = item('KafkaConsumerGroupLagSummary', {
  ...ofGroup,
  max_lag_consumer_id: text,
  max_lag_instance_id: orNull(text),
  max_lag_client_id: text,
  max_lag_topic_name: filled,
  max_lag_partition_id: whole,
  max_lag: whole,
  total_lag: whole,
  max_lag_consumer: related,
  max_lag_partition: related,
})

export const acl = item('KafkaAcl', {
  cluster_id,
  resource_type: oneOf('TOPIC', 'GROUP', 'CLUSTER', 'TRANSACTIONAL_ID', 'DELEGATION_TOKEN'),
  resource_name: filled,
  pattern_type: oneOf('LITERAL', 'PREFIXED'),
  principal: filled,
  host: filled,
  operation: oneOf(
    ...['ALL', 'READ', 'WRITE', 'CREATE', 'DELETE', 'ALTER', 'DESCRIBE', 'CLUSTER_ACTION', 'DESCRIBE_CONFIGS'],
    ...['ALTER_CONFIGS', 'IDEMPOTENT_WRITE'],
  ),
  permission: oneOf('DENY', 'ALLOW'),
})
export const aclList = listOf('KafkaAclList', acl)
export const deletedAcls = fields({ data: many(acl) })
