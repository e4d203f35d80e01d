/** GET /clusters and GET /clusters/{id}: how clients find the cluster id. Whoever may come at all may know it, as Kafka clients may. */

import { admit, type RestApp, type RestContext } from '../context.ts'
import { resourceName } from '../resource-urls.ts'
import { ClusterData, ClusterDataList } from '../schemas/clusters.ts'
import { ClusterParams, commonErrors, listOf } from '../schemas/envelope.ts'

export function clusterRoutes(app: RestApp, context: RestContext): void {
  app.get(
    '/kafka/v3/clusters',
    {
      schema: {
        summary: 'List the cluster of this node',
        tags: ['cluster'],
        response: { 200: ClusterDataList, ...commonErrors },
      },
    },
    request => {
      const base = admit(context, request, [])
      const self = base.slice(0, base.lastIndexOf('/'))
      return listOf('KafkaClusterList', self, [clusterData(context, base)]) satisfies ClusterDataList
    },
  )

  app.get(
    '/kafka/v3/clusters/:cluster_id',
    {
      schema: {
        summary: 'Describe the cluster',
        tags: ['cluster'],
        params: ClusterParams,
        response: { 200: ClusterData, ...commonErrors },
      },
    },
    request => clusterData(context, admit(context, request, [])),
  )
}

function clusterData(context: RestContext, base: string): ClusterData {
  const { clusterId, controllerId } = context.cluster
  return {
    kind: 'KafkaCluster',
    metadata: { self: base, resource_name: resourceName(clusterId) },
    cluster_id: clusterId,
    controller: { related: `${base}/brokers/${controllerId}` },
    acls: { related: `${base}/acls` },
    brokers: { related: `${base}/brokers` },
    broker_configs: { related: `${base}/broker-configs` },
    consumer_groups: { related: `${base}/consumer-groups` },
    topics: { related: `${base}/topics` },
    partition_reassignments: { related: `${base}/topics/-/partitions/-/reassignment` },
  }
}
