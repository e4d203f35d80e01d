/** Brokers of the cluster, their configs, and what is set for all of them (rest-and-cli §B). */
import { Type } from 'typebox'
import type { BrokerView } from '../cluster-ports.ts'
import { admit, type RestApp, type RestContext } from '../context.ts'
import { restError } from '../errors.ts'
import { describeCluster, describeClusterConfigs } from '../ports.ts'
import { resourceName, segment } from '../resource-urls.ts'
import { BrokerData, BrokerDataList } from '../schemas/clusters.ts'
import { BrokerConfigDataList, ClusterConfigDataList } from '../schemas/configs.ts'
import { ClusterParams, commonErrors, listOf, PathNumber } from '../schemas/envelope.ts'
import { configData } from './topic-configs.ts'

const CLUSTER = '/kafka/v3/clusters/:cluster_id'
const BrokerParams = Type.Object({ cluster_id: Type.String(), broker_id: PathNumber })

export function brokerRoutes(app: RestApp, context: RestContext): void {
  readRoutes(app, context)
  configRoutes(app, context)
}

function readRoutes(app: RestApp, context: RestContext): void {
  app.get(
    `${CLUSTER}/brokers`,
    {
      schema: {
        summary: 'List brokers',
        tags: ['cluster'],
        params: ClusterParams,
        response: { 200: BrokerDataList, ...commonErrors },
      },
    },
    request => {
      const base = admit(context, request, [describeCluster])
      const data = context.cluster.brokers().map(broker => brokerData(context, base, broker))
      return listOf('KafkaBrokerList', `${base}/brokers`, data) satisfies BrokerDataList
    },
  )

  app.get(
    `${CLUSTER}/brokers/:broker_id`,
    {
      schema: {
        summary: 'Describe a broker',
        tags: ['cluster'],
        params: BrokerParams,
        response: { 200: BrokerData, ...commonErrors },
      },
    },
    request => {
      const base = admit(context, request, [describeCluster])
      return brokerData(context, base, existingBroker(context, request.params.broker_id))
    },
  )
}

function configRoutes(app: RestApp, context: RestContext): void {
  app.get(
    `${CLUSTER}/brokers/:broker_id/configs`,
    {
      schema: {
        summary: 'List configs of a broker',
        tags: ['cluster'],
        params: BrokerParams,
        response: { 200: BrokerConfigDataList, ...commonErrors },
      },
    },
    request => {
      const base = admit(context, request, [describeClusterConfigs])
      const { id: broker } = existingBroker(context, request.params.broker_id)
      const { clusterId } = context.cluster
      const self = `${base}/brokers/${broker}/configs`
      const data = context.cluster.brokerConfigs(broker).map(config => ({
        kind: 'KafkaBrokerConfig' as const,
        metadata: {
          self: `${self}/${segment(config.name)}`,
          resource_name: resourceName(clusterId, { broker, config: config.name }),
        },
        cluster_id: clusterId,
        broker_id: broker,
        ...configData(config),
      }))
      return listOf('KafkaBrokerConfigList', self, data) satisfies BrokerConfigDataList
    },
  )

  app.get(
    `${CLUSTER}/broker-configs`,
    {
      schema: {
        summary: 'List configs that are set for all brokers',
        tags: ['cluster'],
        params: ClusterParams,
        response: { 200: ClusterConfigDataList, ...commonErrors },
      },
    },
    request => {
      const base = admit(context, request, [describeClusterConfigs])
      const { clusterId } = context.cluster
      const self = `${base}/broker-configs`
      const data = context.cluster.clusterConfigs().map(config => ({
        kind: 'KafkaClusterConfig' as const,
        metadata: {
          self: `${self}/${segment(config.name)}`,
          resource_name: resourceName(clusterId, { 'broker-config': config.name }),
        },
        cluster_id: clusterId,
        config_type: 'BROKER',
        ...configData(config),
      }))
      return listOf('KafkaClusterConfigList', self, data) satisfies ClusterConfigDataList
    },
  )
}

function existingBroker(context: RestContext, id: string): BrokerView {
  const broker = context.cluster.brokers().find(found => found.id === Number(id))
  if (!broker) throw restError('BROKER_NOT_FOUND', { broker: Number(id) })
  return broker
}

function brokerData(context: RestContext, base: string, { id, host, port, rack }: BrokerView): BrokerData {
  const { clusterId } = context.cluster
  const self = `${base}/brokers/${id}`
  return {
    kind: 'KafkaBroker',
    metadata: { self, resource_name: resourceName(clusterId, { broker: id }) },
    cluster_id: clusterId,
    broker_id: id,
    host,
    port,
    rack,
    configs: { related: `${self}/configs` },
    partition_replicas: { related: `${self}/partition-replicas` },
  }
}
