/** The effective configs of one topic as plain typed values, in the shape that the logs and replicas take. */
import { type ConfigLayers, effectiveBrokerConfig, effectiveTopicConfig } from './config-resolution.ts'
import type { ConfigValue } from './kafka-property.ts'
import { topicConfigs } from './topic-configs.ts'

/** Times in ms, sizes in bytes; −1 in a retention = no bound. */
export interface TopicSettings {
  readonly compacts: boolean
  readonly deletes: boolean
  readonly compressionType: 'uncompressed' | 'gzip' | 'snappy' | 'lz4' | 'zstd' | 'producer'
  readonly compressionLevels: { readonly gzip: number; readonly lz4: number; readonly zstd: number }
  readonly deleteRetentionMs: number
  readonly fileDeleteDelayMs: number
  readonly flushMessages: number
  readonly flushMs: number
  readonly indexIntervalBytes: number
  readonly maxCompactionLagMs: number
  readonly maxMessageBytes: number
  readonly minCleanableDirtyRatio: number
  readonly minCompactionLagMs: number
  readonly minInsyncReplicas: number
  /** `producer.id.expiration.ms` of the broker. */
  readonly producerIdExpirationMs: number
  readonly retentionBytes: number
  readonly retentionMs: number
  readonly segmentBytes: number
  readonly segmentIndexBytes: number
  readonly segmentJitterMs: number
  readonly segmentMs: number
  readonly timestampAfterMaxMs: number
  readonly timestampBeforeMaxMs: number
  readonly timestampType: 'CreateTime' | 'LogAppendTime'
  readonly uncleanLeaderElection: boolean
}

/** Values were validated when they were set; one that a newer version wrote and this one cannot read falls back to the default. */
function readConfig(name: string, layers: ConfigLayers): ConfigValue | undefined {
  const config = topicConfigs.get(name)
  if (config === undefined) return undefined
  const text = effectiveTopicConfig(config, layers)
  if (text === undefined) return undefined
  try {
    return config.row.parse(text)
  } catch {
    return config.row.default
  }
}

/** Of one topic, without reading its other configs. */
export const minInsyncReplicas = (layers: ConfigLayers): number => Number(readConfig('min.insync.replicas', layers))

export function topicSettings(layers: ConfigLayers): TopicSettings {
  const number = (name: string): number => Number(readConfig(name, layers))
  const policy = readConfig('cleanup.policy', layers)
  const policies = Array.isArray(policy) ? policy : []
  const internalSegmentBytes = readConfig('internal.segment.bytes', layers)
  return {
    compacts: policies.includes('compact'),
    deletes: policies.includes('delete'),
    compressionType: readConfig('compression.type', layers) as TopicSettings['compressionType'],
    compressionLevels: {
      gzip: number('compression.gzip.level'),
      lz4: number('compression.lz4.level'),
      zstd: number('compression.zstd.level'),
    },
    deleteRetentionMs: number('delete.retention.ms'),
    fileDeleteDelayMs: number('file.delete.delay.ms'),
    flushMessages: number('flush.messages'),
    flushMs: number('flush.ms'),
    indexIntervalBytes: number('index.interval.bytes'),
    maxCompactionLagMs: number('max.compaction.lag.ms'),
    maxMessageBytes: number('max.message.bytes'),
    minCleanableDirtyRatio: number('min.cleanable.dirty.ratio'),
    minCompactionLagMs: number('min.compaction.lag.ms'),
    minInsyncReplicas: minInsyncReplicas(layers),
    producerIdExpirationMs: Number(effectiveBrokerConfig('producer.id.expiration.ms', layers)),
    retentionBytes: number('retention.bytes'),
    retentionMs: number('retention.ms'),
    segmentBytes: internalSegmentBytes === undefined ? number('segment.bytes') : Number(internalSegmentBytes),
    segmentIndexBytes: number('segment.index.bytes'),
    segmentJitterMs: number('segment.jitter.ms'),
    segmentMs: number('segment.ms'),
    timestampAfterMaxMs: number('message.timestamp.after.max.ms'),
    timestampBeforeMaxMs: number('message.timestamp.before.max.ms'),
    timestampType: readConfig('message.timestamp.type', layers) as TopicSettings['timestampType'],
    uncleanLeaderElection: readConfig('unclean.leader.election.enable', layers) === true,
  }
}
