/** Where partitions live in a joined cluster: what is out of place, moves of mirrors between Lockstep nodes, and emptying a node. */
import { Type } from 'typebox'
import { admit, type RestApp, type RestContext, requireReady } from '../context.ts'
import type { MovedPartitionView } from '../placement-ports.ts'
import { alterCluster, describeCluster } from '../ports.ts'
import { ClusterParams, commonErrors, Flag, LinkParams, PathNumber } from '../schemas/envelope.ts'
import {
  DrainNodeAnswer,
  type MovedPartition,
  MoveMirrorsAnswer,
  MoveMirrorsBody,
  PlacementData,
} from '../schemas/placement.ts'

const CLUSTER = '/kafka/v3/clusters/:cluster_id'
const NodeParams = Type.Object({ cluster_id: Type.String(), node_id: PathNumber })
const Dry = Type.Object({ validate_only: Flag })

export function placementRoutes(app: RestApp, context: RestContext): void {
  readRoute(app, context)
  moveRoute(app, context)
  nodeRoutes(app, context)
}

function readRoute(app: RestApp, context: RestContext): void {
  app.get(
    `${CLUSTER}/placement`,
    {
      schema: {
        summary: 'Partitions that are not where they belong: foreign ones on Lockstep nodes, mirrors that others lead',
        tags: ['node'],
        params: ClusterParams,
        response: { 200: PlacementData, ...commonErrors },
      },
    },
    request => {
      const base = admit(context, request, [describeCluster])
      return {
        kind: 'KafkaPlacementData' as const,
        metadata: { self: `${base}/placement`, resource_name: null },
        foreign_partitions: context.placement.foreignPartitions().map(foreign => ({
          topic_name: foreign.topic,
          partition_id: foreign.partition,
          replicas: [...foreign.replicas],
          leader: foreign.leader,
          since_ms: foreign.sinceMs,
          state: foreign.state,
          attempts: foreign.attempts,
          error_message: foreign.error,
        })),
        misplaced_partitions: context.placement.misplacedPartitions().map(misplaced => ({
          topic_name: misplaced.topic,
          partition_id: misplaced.partition,
          condition: misplaced.condition,
          replicas: [...misplaced.replicas],
          leader: misplaced.leader,
          since_ms: misplaced.sinceMs,
          reason: misplaced.reason,
        })),
      } satisfies PlacementData
    },
  )
}

function moveRoute(app: RestApp, context: RestContext): void {
  app.post(
    `${CLUSTER}/links/:link_name/mirrors::move`,
    {
      schema: {
        summary: 'Let another Lockstep node lead mirrors; whoever led them stands in for it',
        tags: ['mirrors'],
        params: LinkParams,
        querystring: Dry,
        body: MoveMirrorsBody,
        response: { 200: MoveMirrorsAnswer, 409: commonErrors[400], ...commonErrors },
      },
    },
    async request => {
      const base = admit(context, request, [alterCluster])
      requireReady(context)
      const { link_name: link } = request.params
      const { mirror_topic_names: names, node_id: node, partition_id: partition } = request.body
      // Names what is no mirror of this link.
      const topics = names.map(name => context.engine.describeMirror(link, name).mirrorTopicName)
      const moved = await context.placement.move(
        { node, topics, partition },
        { validateOnly: request.query.validate_only === 'true' },
      )
      return {
        kind: 'KafkaMoveMirrors' as const,
        metadata: { self: `${base}/links/${link}/mirrors`, resource_name: null },
        data: moved.map(movedData),
      } satisfies MoveMirrorsAnswer
    },
  )
}

function nodeRoutes(app: RestApp, context: RestContext): void {
  app.post(
    `${CLUSTER}/nodes/:node_id(^\\d+)::drain`,
    {
      schema: {
        summary: 'Move everything away from a Lockstep node, which gets no new mirrors until it is resumed',
        tags: ['node'],
        params: NodeParams,
        querystring: Dry,
        response: { 200: DrainNodeAnswer, 409: commonErrors[400], ...commonErrors },
      },
    },
    async request => {
      const base = admit(context, request, [alterCluster])
      const node = Number(request.params.node_id)
      const validateOnly = request.query.validate_only === 'true'
      const moved = await context.placement.drain(node, { validateOnly })
      return {
        kind: 'KafkaDrainNode' as const,
        metadata: { self: `${base}/nodes/${node}`, resource_name: null },
        node_id: node,
        data: moved.map(movedData),
      } satisfies DrainNodeAnswer
    },
  )

  app.post(
    `${CLUSTER}/nodes/:node_id(^\\d+)::resume`,
    {
      schema: {
        summary: 'Let a drained Lockstep node have new mirrors again',
        tags: ['node'],
        params: NodeParams,
        response: { 204: Type.Null(), 409: commonErrors[400], ...commonErrors },
      },
    },
    async (request, reply) => {
      admit(context, request, [alterCluster])
      await context.placement.resume(Number(request.params.node_id))
      return reply.status(204).send(null)
    },
  )
}

const movedData = ({ topic, partition, from, to, copies, error }: MovedPartitionView): MovedPartition => ({
  topic_name: topic,
  partition_id: partition,
  replicas: [...from],
  target_replicas: [...to],
  copies,
  error_message: error,
})
