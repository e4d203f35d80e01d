/**
 * Bodies and answers of `mirrors:verify` and `verifications`: source and mirror compared, over any range of offsets. With
 * `Accept: text/event-stream` the same object comes as events: `progress` again and again, then one `result`. In `progress`
 * `topics` has only partitions that are at work or have something to tell; the figures are of all.
 */
import { type Static, Type } from 'typebox'
import { item, list, nullable } from './envelope.ts'

export const VerifyMirrorsBody = Type.Object(
  {
    mirror_topic_names: Type.Optional(nullable(Type.Array(Type.String()))),
    mirror_topic_name_pattern: Type.Optional(nullable(Type.String())),
    /** Of every topic; all if left out. */
    partitions: Type.Optional(nullable(Type.Array(Type.Integer({ minimum: 0 })))),
    /** First offset to compare; the first that both ends have if left out. */
    from_offset: Type.Optional(nullable(Type.Integer({ minimum: 0 }))),
    /** Compared up to here, exclusive; up to what both ends have now, or where the mirror stopped, if left out. */
    to_offset: Type.Optional(nullable(Type.Integer({ minimum: 0 }))),
    /** Bytes read from the source per second; a default that leaves room for mirroring if left out. */
    max_bytes_per_second: Type.Optional(nullable(Type.Integer({ minimum: 1 }))),
  },
  { additionalProperties: false },
)
export type VerifyMirrorsBody = Static<typeof VerifyMirrorsBody>

const UncomparedRange = Type.Object({
  from_offset: Type.Integer(),
  /** Exclusive. */
  to_offset: Type.Integer(),
  reason: Type.String(),
})

const VerifiedPartition = Type.Object({
  partition: Type.Integer(),
  /** WAITING, RUNNING, EQUAL, DIFFERENT, INCOMPLETE (parts could not be compared, the rest is equal), CANCELLED. */
  state: Type.String(),
  /** BATCHES: byte for byte but for the leader epoch. RECORDS: from some offset on record by record, since cleaning runs. */
  method: nullable(Type.String()),
  from_offset: nullable(Type.Integer()),
  /** Exclusive. */
  to_offset: nullable(Type.Integer()),
  /** Everything below it has been looked at. */
  next_offset: nullable(Type.Integer()),
  compared_bytes: Type.Integer(),
  compared_batches: Type.Integer(),
  compared_records: Type.Integer(),
  /** Records that only one end still has, since the other was cleaned there: counted, no difference. */
  records_only_at_source: Type.Integer(),
  records_only_at_mirror: Type.Integer(),
  /** The first difference; nothing behind it was compared. */
  difference: nullable(Type.Object({ offset: Type.Integer(), message: Type.String() })),
  not_compared: Type.Array(UncomparedRange),
  /** What it waits for, or why it ended. */
  message: nullable(Type.String()),
})

const VerifiedTopic = Type.Object({
  mirror_topic_name: Type.String(),
  source_topic_name: nullable(Type.String()),
  /** Set = the topic could not be verified at all. */
  error_code: nullable(Type.Integer()),
  error_message: nullable(Type.String()),
  partitions: Type.Array(VerifiedPartition),
})

export const VerificationData = item('KafkaMirrorVerification', {
  link_name: Type.String(),
  verification_id: Type.String(),
  /** RUNNING, COMPLETED, CANCELLED. */
  state: Type.String(),
  /** null while RUNNING; then EQUAL, DIFFERENT or INCOMPLETE. */
  outcome: nullable(Type.String()),
  start_time_ms: Type.Integer(),
  end_time_ms: nullable(Type.Integer()),
  /** Offsets to look at, and looked at so far; both grow while ends are still being asked for. */
  total_offsets: Type.Integer(),
  done_offsets: Type.Integer(),
  compared_bytes: Type.Integer(),
  compared_batches: Type.Integer(),
  compared_records: Type.Integer(),
  topics: Type.Array(VerifiedTopic),
})
export type VerificationData = Static<typeof VerificationData>

/** The newest first; a bounded number of those that have ended is kept. */
export const VerificationDataList = list('KafkaMirrorVerificationList', VerificationData)
export type VerificationDataList = Static<typeof VerificationDataList>

export const VerificationParams = Type.Object({
  cluster_id: Type.String(),
  link_name: Type.String(),
  verification_id: Type.String(),
})
