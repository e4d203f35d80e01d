/** Answers about consumer groups of this cluster: groups, their members, assignments and lags. */
import { type Static, Type } from 'typebox'
import { item, list, nullable, Related } from './envelope.ts'

const group = { cluster_id: Type.String(), consumer_group_id: Type.String() }

export const ConsumerGroupData = item('KafkaConsumerGroup', {
  ...group,
  is_simple: Type.Boolean(),
  /** Empty unless the group is STABLE. */
  partition_assignor: Type.String(),
  /** UNKNOWN, PREPARING_REBALANCE, COMPLETING_REBALANCE, ASSIGNING, RECONCILING, STABLE, DEAD or EMPTY. */
  state: Type.String(),
  /** UNKNOWN, CLASSIC, CONSUMER, SHARE or STREAMS. */
  type: Type.String(),
  is_mixed_consumer_group: Type.Boolean(),
  coordinator: Related,
  consumers: Related,
  lag_summary: Related,
})
export type ConsumerGroupData = Static<typeof ConsumerGroupData>

export const ConsumerGroupDataList = list('KafkaConsumerGroupList', ConsumerGroupData)
export type ConsumerGroupDataList = Static<typeof ConsumerGroupDataList>

export const ConsumerData = item('KafkaConsumer', {
  ...group,
  consumer_id: Type.String(),
  instance_id: nullable(Type.String()),
  client_id: Type.String(),
  assignments: Related,
})
export type ConsumerData = Static<typeof ConsumerData>

export const ConsumerDataList = list('KafkaConsumerList', ConsumerData)
export type ConsumerDataList = Static<typeof ConsumerDataList>

export const ConsumerAssignmentData = item('KafkaConsumerAssignment', {
  ...group,
  consumer_id: Type.String(),
  topic_name: Type.String(),
  partition_id: Type.Integer(),
  partition: Related,
  lag: Related,
})
export type ConsumerAssignmentData = Static<typeof ConsumerAssignmentData>

export const ConsumerAssignmentDataList = list('KafkaConsumerAssignmentList', ConsumerAssignmentData)
export type ConsumerAssignmentDataList = Static<typeof ConsumerAssignmentDataList>

/** `consumer_id` and `client_id` are empty for a partition that no member has. */
export const ConsumerLagData = item('KafkaConsumerLag', {
  ...group,
  topic_name: Type.String(),
  partition_id: Type.Integer(),
  current_offset: Type.Integer(),
  log_end_offset: Type.Integer(),
  lag: Type.Integer(),
  consumer_id: Type.String(),
  instance_id: nullable(Type.String()),
  client_id: Type.String(),
})
export type ConsumerLagData = Static<typeof ConsumerLagData>

export const ConsumerLagDataList = list('KafkaConsumerLagList', ConsumerLagData)
export type ConsumerLagDataList = Static<typeof ConsumerLagDataList>

export const ConsumerGroupLagSummaryData = item('KafkaConsumerGroupLagSummary', {
  ...group,
  max_lag_consumer_id: Type.String(),
  max_lag_instance_id: nullable(Type.String()),
  max_lag_client_id: Type.String(),
  max_lag_topic_name: Type.String(),
  max_lag_partition_id: Type.Integer(),
  max_lag: Type.Integer(),
  total_lag: Type.Integer(),
  max_lag_consumer: Related,
  max_lag_partition: Related,
})
export type ConsumerGroupLagSummaryData = Static<typeof ConsumerGroupLagSummaryData>
