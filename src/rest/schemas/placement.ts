/** Bodies and answers about where partitions live in a joined cluster. */
import { type Static, Type } from 'typebox'
import { item, nullable } from './envelope.ts'

const Brokers = Type.Array(Type.Integer())

const MovedPartition = Type.Object({
  topic_name: Type.String(),
  partition_id: Type.Integer(),
  replicas: Brokers,
  target_replicas: Brokers,
  /** Who is to lead copies the partition first, and leads when it has caught up. */
  copies: Type.Boolean(),
  /** null = accepted, or only planned. */
  error_message: nullable(Type.String()),
})
export type MovedPartition = Static<typeof MovedPartition>

export const MoveMirrorsBody = Type.Object(
  {
    mirror_topic_names: Type.Array(Type.String(), { minItems: 1 }),
    /** The Lockstep node that shall lead. */
    node_id: Type.Integer({ minimum: 0 }),
    /** Only this one; absent = all. */
    partition_id: Type.Optional(Type.Integer({ minimum: 0 })),
  },
  { additionalProperties: false },
)

export const MoveMirrorsAnswer = item('KafkaMoveMirrors', { data: Type.Array(MovedPartition) })
export type MoveMirrorsAnswer = Static<typeof MoveMirrorsAnswer>

export const DrainNodeAnswer = item('KafkaDrainNode', { node_id: Type.Integer(), data: Type.Array(MovedPartition) })
export type DrainNodeAnswer = Static<typeof DrainNodeAnswer>

export const PlacementData = item('KafkaPlacementData', {
  /** Partitions of other people on Lockstep nodes; they are moved away by themselves. */
  foreign_partitions: Type.Array(
    Type.Object({
      topic_name: Type.String(),
      partition_id: Type.Integer(),
      replicas: Brokers,
      /** −1 = none. */
      leader: Type.Integer(),
      since_ms: Type.Integer(),
      state: Type.String(),
      attempts: Type.Integer(),
      error_message: nullable(Type.String()),
    }),
  ),
  /** Partitions of mirrors and of Lockstep's own topics that are not led by their preferred Lockstep node. */
  misplaced_partitions: Type.Array(
    Type.Object({
      topic_name: Type.String(),
      partition_id: Type.Integer(),
      condition: Type.String(),
      replicas: Brokers,
      leader: Type.Integer(),
      since_ms: Type.Integer(),
      reason: nullable(Type.String()),
    }),
  ),
})
export type PlacementData = Static<typeof PlacementData>
