/** Bodies and answers of the mirror operations (rest-and-cli §1.3). */
import { type Static, Type } from 'typebox'
import { ConfigEntries, item, list, nullable } from './envelope.ts'

export const CreateMirrorBody = Type.Object(
  {
    source_topic_name: Type.String({ minLength: 1 }),
    mirror_topic_name: Type.Optional(nullable(Type.String())),
    replication_factor: Type.Optional(nullable(Type.Integer({ minimum: 1, maximum: 32767 }))),
    configs: Type.Optional(ConfigEntries),
  },
  { additionalProperties: false },
)
export type CreateMirrorBody = Static<typeof CreateMirrorBody>

export const AlterMirrorsBody = Type.Object(
  {
    mirror_topic_names: Type.Optional(nullable(Type.Array(Type.String()))),
    mirror_topic_name_pattern: Type.Optional(nullable(Type.String())),
    /** promote: no topic becomes writable before all can. */
    together: Type.Optional(nullable(Type.Boolean())),
    /** failover: what is older or larger than the topic's retention allows is left, instead of being deleted soon. */
    keep_retention: Type.Optional(nullable(Type.Boolean())),
    /** truncate-and-restore: the restored mirrors begin as PAUSED. */
    paused: Type.Optional(nullable(Type.Boolean())),
    /** truncate-and-restore: what is cut off is exported first. */
    export_divergent: Type.Optional(nullable(Type.Boolean())),
  },
  { additionalProperties: false },
)
export type AlterMirrorsBody = Static<typeof AlterMirrorsBody>

const MirrorLag = Type.Object({
  partition: Type.Integer(),
  lag: nullable(Type.Integer()),
  last_source_fetch_offset: Type.Integer(),
  lag_ms: nullable(Type.Integer()),
  log_start_offset: nullable(Type.Integer()),
  log_end_offset: nullable(Type.Integer()),
  source_high_watermark: nullable(Type.Integer()),
  source_last_stable_offset: nullable(Type.Integer()),
  /** Behind the source's last stable offset. */
  stable_lag: nullable(Type.Integer()),
  mirrored_bytes: Type.Integer(),
  partition_state: Type.String(),
  reason: nullable(Type.String()),
})

const TransitionError = Type.Object({
  error_code: Type.String(),
  error_message: Type.String(),
  since_ms: Type.Integer(),
})

export const MirrorData = item('KafkaMirrorData', {
  link_name: Type.String(),
  mirror_topic_name: Type.String(),
  source_topic_name: Type.String(),
  num_partitions: Type.Integer(),
  mirror_lags: Type.Array(MirrorLag),
  mirror_status: Type.String(),
  mirror_topic_error: Type.String(),
  state_time_ms: Type.Integer(),
  mirror_state_transition_errors: Type.Optional(nullable(Type.Array(TransitionError))),
  allowed_actions: Type.Array(Type.String()),
  lag_ms: nullable(Type.Integer()),
  reason: nullable(Type.String()),
  held: Type.Boolean(),
  stop_points: Type.Array(
    Type.Object({
      partition: Type.Integer(),
      stop_offset: Type.Integer(),
      last_source_epoch: nullable(Type.Integer()),
      stop_time_ms: Type.Integer(),
    }),
  ),
  /** The last time that the topic and its counterpart changed roles, or were to; null = not since the verb after it. */
  reversal: nullable(
    Type.Object({
      /** MIRROR or SOURCE: what it was when the reverse began. */
      role: Type.String(),
      /** State of the counterpart as read last; null = it is an ordinary topic, UNKNOWN = it was not read. */
      peer_status: nullable(Type.String()),
      peer_reason: nullable(Type.String()),
      /** How long nobody could write either of both; null = not over. */
      read_only_ms: nullable(Type.Integer()),
      aborted_transactions: Type.Integer(),
    }),
  ),
})
export type MirrorData = Static<typeof MirrorData>

export const MirrorDataList = list('KafkaMirrorDataList', MirrorData)
export type MirrorDataList = Static<typeof MirrorDataList>

/** One entry of a mirror's history: the state from then on, the one before, what caused it, why. */
export const MirrorStateChange = item('KafkaMirrorStateChange', {
  link_name: Type.String(),
  mirror_topic_name: Type.String(),
  time_ms: Type.Integer(),
  mirror_status: Type.String(),
  /** null = it was no mirror before, or the entry before is not kept any more; equal for an incident. */
  previous_status: nullable(Type.String()),
  /** The verb or event; the kind of an incident. */
  event: Type.String(),
  reason: Type.String(),
})

/** The newest first, at most 100. */
export const MirrorStateChangeList = list('KafkaMirrorStateChangeList', MirrorStateChange)
export type MirrorStateChangeList = Static<typeof MirrorStateChangeList>

const AlterMirrorsData = Type.Object({
  kind: Type.Literal('AlterMirrorsData'),
  metadata: Type.Object({ self: Type.String(), resource_name: nullable(Type.String()) }),
  mirror_topic_name: Type.String(),
  error_code: nullable(Type.Integer()),
  error_message: nullable(Type.String()),
  mirror_lags: Type.Array(MirrorLag),
  messages_truncated: nullable(Type.Integer()),
  partition_level_truncation_data: Type.Array(
    Type.Object({
      partition_id: Type.Integer(),
      offset_truncated_to: Type.Integer(),
      messages_truncated: Type.Integer(),
    }),
  ),
  partitions: Type.Array(
    Type.Object({
      partition: Type.Integer(),
      end_offset: nullable(Type.Integer()),
      stop_offset: nullable(Type.Integer()),
      last_known_lag: nullable(Type.Integer()),
      waiting_for: nullable(Type.String()),
      /** resume: offsets above the mirror's log start that the source has deleted meanwhile; null = not known, or not a resume. */
      deleted_at_source: nullable(Type.Integer()),
    }),
  ),
  open_transactions: Type.Integer(),
  groups_behind: Type.Array(Type.String()),
  groups_in_use: Type.Array(Type.String()),
  /** failover: bytes that the topic's own retention would delete soon; null = not known, or not a failover. */
  retention_bytes_at_risk: nullable(Type.Integer()),
  /** failover: producer ids of the source that may have been handed out here too, before the barrier. */
  overlapping_producer_ids: Type.Array(Type.Integer()),
  /** promote, failover: what an operator should know about how the topic becomes writable. */
  warnings: Type.Array(Type.String()),
})

export const AlterMirrorsAnswer = Type.Object({
  kind: Type.String(),
  metadata: Type.Object({ self: Type.String(), resource_name: nullable(Type.String()) }),
  data: Type.Array(AlterMirrorsData),
})
export type AlterMirrorsAnswer = Static<typeof AlterMirrorsAnswer>
