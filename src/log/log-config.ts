/** The effective settings of one partition's log as plain numbers; the metadata layer builds them from topic configs. */

/** Names are those of Kafka's topic configs. Sizes in bytes, times in milliseconds; -1 means without bound where it is said. */
export interface LogConfig {
  /** `segment.bytes`: a segment is rolled before it would pass this size. */
  readonly segmentBytes: number
  /** `segment.ms`: a segment is rolled by the first append this long after its first batch. */
  readonly segmentMs: number
  /** `segment.jitter.ms`: a part of it, different for each segment, is taken off `segment.ms`. */
  readonly segmentJitterMs: number
  /** `index.interval.bytes`: at most one index entry per so many bytes of log. */
  readonly indexIntervalBytes: number
  /** `segment.index.bytes`: a segment is rolled when one of its indexes has this size. */
  readonly segmentIndexBytes: number
  /** `max.message.bytes`: enforced by whoever validates client writes, never for mirrored batches. */
  readonly maxMessageBytes: number
  /** `retention.ms`, -1 = for ever. */
  readonly retentionMs: number
  /** `retention.bytes`, -1 = without bound. */
  readonly retentionBytes: number
  /** `cleanup.policy` contains `delete`. */
  readonly deletes: boolean
  /** `cleanup.policy` contains `compact`. */
  readonly compacts: boolean
  /** `delete.retention.ms`: how long tombstones and transaction markers stay after a cleaning met them. */
  readonly deleteRetentionMs: number
  /** `min.cleanable.dirty.ratio`, 0 to 1: a log with less dirt is not cleaned. */
  readonly minCleanableDirtyRatio: number
  /** `min.compaction.lag.ms`: younger records are not cleaned. */
  readonly minCompactionLagMs: number
  /** `max.compaction.lag.ms`: older records are cleaned whatever the ratio. */
  readonly maxCompactionLagMs: number
  /** `producer.id.expiration.ms` of the broker. */
  readonly producerIdExpirationMs: number
}

/** Kafka's defaults. */
export const defaultLogConfig: LogConfig = {
  segmentBytes: 1024 * 1024 * 1024,
  segmentMs: 7 * 24 * 60 * 60 * 1000,
  segmentJitterMs: 0,
  indexIntervalBytes: 4096,
  segmentIndexBytes: 10 * 1024 * 1024,
  maxMessageBytes: 1_048_588,
  retentionMs: 7 * 24 * 60 * 60 * 1000,
  retentionBytes: -1,
  deletes: true,
  compacts: false,
  deleteRetentionMs: 24 * 60 * 60 * 1000,
  minCleanableDirtyRatio: 0.5,
  minCompactionLagMs: 0,
  maxCompactionLagMs: Number.MAX_SAFE_INTEGER,
  producerIdExpirationMs: 24 * 60 * 60 * 1000,
}
