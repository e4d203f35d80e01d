/** Answers about the cluster, its brokers and its nodes. */
import { type Static, Type } from 'typebox'
import { item, list, nullable, Related } from './envelope.ts'

export const ClusterData = item('KafkaCluster', {
  cluster_id: Type.String(),
  controller: Related,
  acls: Related,
  brokers: Related,
  broker_configs: Related,
  consumer_groups: Related,
  topics: Related,
  partition_reassignments: Related,
})
export type ClusterData = Static<typeof ClusterData>

export const ClusterDataList = list('KafkaClusterList', ClusterData)
export type ClusterDataList = Static<typeof ClusterDataList>

export const BrokerData = item('KafkaBroker', {
  cluster_id: Type.String(),
  broker_id: Type.Integer(),
  host: nullable(Type.String()),
  port: nullable(Type.Integer()),
  rack: nullable(Type.String()),
  configs: Related,
  partition_replicas: Related,
})
export type BrokerData = Static<typeof BrokerData>

export const BrokerDataList = list('KafkaBrokerList', BrokerData)
export type BrokerDataList = Static<typeof BrokerDataList>

/** Our own addition (rest-and-cli §B): Lockstep nodes only, not the other brokers of the cluster. */
export const NodeData = item('KafkaNodeData', {
  node_id: Type.Integer(),
  mode: Type.Union([Type.Literal('STANDALONE'), Type.Literal('JOINED')]),
  /** null = not known here: another node's. */
  version: nullable(Type.String()),
  rest_url: Type.String(),
  partitions_led: Type.Integer(),
  mirror_partitions_led: Type.Integer(),
  cordoned: Type.Boolean(),
  /** HEALTHY; STARTING while the node cannot answer for links yet; FENCED, LEAVING: the cluster lets it lead nothing. */
  health: Type.String(),
  /** null = HEALTHY. */
  health_message: nullable(Type.String()),
  link_coordinator: Type.Boolean(),
})
export type NodeData = Static<typeof NodeData>

export const NodeDataList = list('KafkaNodeDataList', NodeData)
export type NodeDataList = Static<typeof NodeDataList>
