/**
 * What `GET …/events` sends (server-sent events): `event:` is the type below, `data:` the object, `id:` counts up and may be
 * given back as Last-Event-ID. Comments (`:`) are heartbeats.
 */
import { type Static, Type } from 'typebox'
import { nullable } from './envelope.ts'

const common = { time_ms: Type.Integer(), link_name: Type.String() }

/** A mirror entered a state, or its shown status changed; or an incident, which changes no state. */
const StateEvent = Type.Object({
  type: Type.Literal('state'),
  ...common,
  mirror_topic_name: Type.String(),
  /** null = it is no mirror any more. */
  mirror_status: nullable(Type.String()),
  /** null = it was none before. */
  previous_status: nullable(Type.String()),
  /** What caused it: create, pause, failover, ... or the kind of an incident. */
  event: nullable(Type.String()),
  reason: nullable(Type.String()),
})

/** A sync task got errors, got rid of them, or changed its state. */
const TaskEvent = Type.Object({
  type: Type.Literal('task'),
  ...common,
  task_name: Type.String(),
  state: Type.String(),
  errors: Type.Array(Type.Object({ error_code: Type.String(), error_message: Type.String() })),
})

/** A link came, went (`link_state` null), or changed its state or error. */
const LinkEvent = Type.Object({
  type: Type.Literal('link'),
  ...common,
  link_state: nullable(Type.String()),
  link_error: nullable(Type.String()),
  link_error_message: nullable(Type.String()),
})

/** Lag of one link, sampled; one topic has one row, the largest of its partitions. */
const LagEvent = Type.Object({
  type: Type.Literal('lag'),
  ...common,
  /** The worst of all its mirrors; null = not known. */
  max_lag: nullable(Type.Integer()),
  max_lag_ms: nullable(Type.Integer()),
  /** Bytes appended to the link's mirrors that are not stopped since the node started; falls when one of them ends. */
  mirrored_bytes: Type.Integer(),
  /** As `lag_topics` of the request says: all, only those whose figures have changed, or none. */
  topics: Type.Array(
    Type.Object({
      mirror_topic_name: Type.String(),
      max_lag: nullable(Type.Integer()),
      total_lag: nullable(Type.Integer()),
      lag_ms: nullable(Type.Integer()),
    }),
  ),
})

/** Events between the id that was given and now are not known here any more: read the state anew. */
const MissedEvent = Type.Object({
  type: Type.Literal('missed'),
  time_ms: Type.Integer(),
  message: Type.String(),
})

export const LinkEngineEvent = Type.Union([StateEvent, TaskEvent, LinkEvent, LagEvent, MissedEvent])
export type LinkEngineEvent = Static<typeof LinkEngineEvent>
