/** The Lockstep nodes of this cluster: who they are and how they are, and how one that has gone is removed (rest-and-cli §B). */
import { Type } from 'typebox'
import type { NodeView } from '../cluster-ports.ts'
import { admit, type RestApp, type RestContext } from '../context.ts'
import { restError } from '../errors.ts'
import { alterCluster, describeCluster } from '../ports.ts'
import { type NodeData, NodeDataList } from '../schemas/clusters.ts'
import { ClusterParams, commonErrors, listOf, PathNumber } from '../schemas/envelope.ts'

const ROOT = '/kafka/v3/clusters/:cluster_id/nodes'
const NodeParams = Type.Object({ cluster_id: Type.String(), node_id: PathNumber })

export function nodeRoutes(app: RestApp, context: RestContext): void {
  app.get(
    ROOT,
    {
      schema: {
        summary: 'List Lockstep nodes: mode, version, what they lead, health',
        tags: ['node'],
        params: ClusterParams,
        response: { 200: NodeDataList, ...commonErrors },
      },
    },
    request => {
      const base = admit(context, request, [describeCluster])
      const data = context.nodes.nodes().map(node => nodeData(base, node))
      return listOf('KafkaNodeDataList', `${base}/nodes`, data) satisfies NodeDataList
    },
  )
  app.delete(
    `${ROOT}/:node_id`,
    {
      schema: {
        summary: 'Remove a node that has joined the cluster, has stopped for good and holds no partitions any more',
        tags: ['node'],
        params: NodeParams,
        response: { 204: Type.Null(), ...commonErrors },
      },
    },
    async (request, reply) => {
      admit(context, request, [alterCluster])
      const id = Number(request.params.node_id)
      const node = context.nodes.nodes().find(({ nodeId }) => nodeId === id)
      if (!node) throw restError('NODE_NOT_FOUND', { node: id })
      if (node.mode === 'STANDALONE') throw restError('NODE_IS_THE_CLUSTER', { node: id })
      await context.nodes.unregister(id)
      return reply.status(204).send(null)
    },
  )
}

const nodeData = (base: string, node: NodeView): NodeData => ({
  kind: 'KafkaNodeData',
  metadata: { self: `${base}/nodes/${node.nodeId}`, resource_name: null },
  node_id: node.nodeId,
  mode: node.mode,
  version: node.version,
  rest_url: node.restUrl,
  partitions_led: node.partitionsLed,
  mirror_partitions_led: node.mirrorPartitionsLed,
  cordoned: node.cordoned,
  health: node.health,
  health_message: node.healthMessage,
  link_coordinator: node.linkCoordinator,
})
