/** The topic configs of Kafka 4.3.1: one row each with type, default, bounds and the server properties behind it; read by validation, DescribeConfigs and the logs' settings. */
import type { ConfigRow } from '../core/config-rows.ts'
import { type ConfigValue, type KafkaProperty, propertyRow } from './kafka-property.ts'

/** A server property whose value a topic uses when it has no override of its own. */
export interface ServerSynonym {
  readonly name: string
  /** Server value × scale = topic value (hours → ms). */
  readonly scale: number
}

export interface TopicConfig {
  readonly name: string
  readonly property: KafkaProperty
  readonly row: ConfigRow<ConfigValue>
  /** Most specific first. Empty = the topic config has no server-wide counterpart. */
  readonly synonyms: readonly ServerSynonym[]
}

const HOUR_MS = 3_600_000
const MINUTE_MS = 60_000
const FOREVER = '9223372036854775807'

const replicaList = { pattern: /^(\*|\d+:\d+)$/, words: 'a list of partition:broker pairs, or *' }

type Spec = KafkaProperty & { readonly doc: string; readonly server?: string | readonly (string | [string, number])[] }

const specs: Readonly<Record<string, Spec>> = {
  'cleanup.policy': {
    type: 'list',
    default: 'delete',
    values: ['compact', 'delete'],
    server: 'log.cleanup.policy',
    doc: 'What happens to old data: delete whole segments, compact by key, both, or (empty) nothing.',
  },
  'compression.gzip.level': {
    type: 'int',
    default: '-1',
    min: 1,
    max: 9,
    also: -1,
    server: 'compression.gzip.level',
    doc: 'Level used when the node itself compresses with gzip.',
  },
  'compression.lz4.level': {
    type: 'int',
    default: '9',
    min: 1,
    max: 17,
    server: 'compression.lz4.level',
    doc: 'Level used when the node itself compresses with lz4.',
  },
  'compression.type': {
    type: 'string',
    default: 'producer',
    values: ['uncompressed', 'zstd', 'lz4', 'snappy', 'gzip', 'producer'],
    server: 'compression.type',
    doc: 'Codec of stored batches; producer keeps what the producer sent.',
  },
  'compression.zstd.level': {
    type: 'int',
    default: '3',
    min: -131072,
    max: 22,
    server: 'compression.zstd.level',
    doc: 'Level used when the node itself compresses with zstd.',
  },
  'delete.retention.ms': {
    type: 'long',
    default: '86400000',
    min: 0,
    server: 'log.cleaner.delete.retention.ms',
    doc: 'How long tombstones and transaction markers survive compaction.',
  },
  'file.delete.delay.ms': {
    type: 'long',
    default: '60000',
    min: 0,
    server: 'log.segment.delete.delay.ms',
    doc: 'Time between dropping a segment and removing its files.',
  },
  'flush.messages': {
    type: 'long',
    default: FOREVER,
    min: 1,
    server: 'log.flush.interval.messages',
    doc: 'Records after which the log is flushed without being asked.',
  },
  'flush.ms': {
    type: 'long',
    default: FOREVER,
    min: 0,
    server: ['log.flush.interval.ms', 'log.flush.scheduler.interval.ms'],
    doc: 'Time after which the log is flushed without being asked.',
  },
  'follower.replication.throttled.replicas': {
    type: 'list',
    default: '',
    itemForm: replicaList,
    doc: 'Replicas (partition:broker, or *) whose fetching is throttled while they follow.',
  },
  'index.interval.bytes': {
    type: 'int',
    default: '4096',
    min: 0,
    server: 'log.index.interval.bytes',
    doc: 'Bytes of log between two index entries.',
  },
  'internal.segment.bytes': {
    type: 'int',
    internal: true,
    doc: 'Segment size below the documented minimum, for tests.',
  },
  'leader.replication.throttled.replicas': {
    type: 'list',
    default: '',
    itemForm: replicaList,
    doc: 'Replicas (partition:broker, or *) whose reading from the leader is throttled.',
  },
  'local.retention.bytes': {
    type: 'long',
    default: '-2',
    min: -2,
    server: 'log.local.retention.bytes',
    doc: 'Tiered storage only; has no effect here.',
  },
  'local.retention.ms': {
    type: 'long',
    default: '-2',
    min: -2,
    server: 'log.local.retention.ms',
    doc: 'Tiered storage only; has no effect here.',
  },
  'max.compaction.lag.ms': {
    type: 'long',
    default: FOREVER,
    min: 1,
    server: 'log.cleaner.max.compaction.lag.ms',
    doc: 'Longest time that a record may stay uncompacted.',
  },
  'max.message.bytes': {
    type: 'int',
    default: '1048588',
    min: 0,
    server: 'message.max.bytes',
    doc: 'Largest batch that clients may produce; mirrored data is not bound by it.',
  },
  'message.timestamp.after.max.ms': {
    type: 'long',
    default: '3600000',
    min: 0,
    server: 'log.message.timestamp.after.max.ms',
    doc: 'How far a CreateTime may lie in the future.',
  },
  'message.timestamp.before.max.ms': {
    type: 'long',
    default: FOREVER,
    min: 0,
    server: 'log.message.timestamp.before.max.ms',
    doc: 'How far a CreateTime may lie in the past.',
  },
  'message.timestamp.type': {
    type: 'string',
    default: 'CreateTime',
    values: ['CreateTime', 'LogAppendTime'],
    server: 'log.message.timestamp.type',
    doc: 'Whose clock stamps records: the producer or the log.',
  },
  'min.cleanable.dirty.ratio': {
    type: 'double',
    default: '0.5',
    min: 0,
    max: 1,
    server: 'log.cleaner.min.cleanable.ratio',
    doc: 'Share of uncompacted bytes from which a log is worth compacting.',
  },
  'min.compaction.lag.ms': {
    type: 'long',
    default: '0',
    min: 0,
    server: 'log.cleaner.min.compaction.lag.ms',
    doc: 'Shortest time that a record stays uncompacted.',
  },
  'min.insync.replicas': {
    type: 'int',
    default: '1',
    min: 1,
    server: 'min.insync.replicas',
    doc: 'In-sync replicas without which acks=all is refused.',
  },
  preallocate: {
    type: 'boolean',
    default: 'false',
    server: 'log.preallocate',
    doc: 'Reserve the disk space of a segment when it is created; has no effect here.',
  },
  'remote.log.copy.disable': { type: 'boolean', default: 'false', doc: 'Tiered storage only; has no effect here.' },
  'remote.log.delete.on.disable': {
    type: 'boolean',
    default: 'false',
    doc: 'Tiered storage only; has no effect here.',
  },
  'remote.storage.enable': { type: 'boolean', default: 'false', doc: 'Tiered storage, which this node does not have.' },
  'retention.bytes': {
    type: 'long',
    default: '-1',
    server: 'log.retention.bytes',
    doc: 'Bytes per partition above which the oldest segments are deleted; -1 = no bound.',
  },
  'retention.ms': {
    type: 'long',
    default: '604800000',
    min: -1,
    server: ['log.retention.ms', ['log.retention.minutes', MINUTE_MS], ['log.retention.hours', HOUR_MS]],
    doc: 'Age above which segments are deleted; -1 = no bound.',
  },
  'segment.bytes': {
    type: 'int',
    default: '1073741824',
    min: 1048576,
    server: 'log.segment.bytes',
    doc: 'Size at which a new segment is started.',
  },
  'segment.index.bytes': {
    type: 'int',
    default: '10485760',
    min: 4,
    server: 'log.index.size.max.bytes',
    doc: 'Largest size of an index file; a full index starts a new segment.',
  },
  'segment.jitter.ms': {
    type: 'long',
    default: '0',
    min: 0,
    server: ['log.roll.jitter.ms', ['log.roll.jitter.hours', HOUR_MS]],
    doc: 'Random time taken off segment.ms, so that segments do not all roll at once.',
  },
  'segment.ms': {
    type: 'long',
    default: '604800000',
    min: 1,
    server: ['log.roll.ms', ['log.roll.hours', HOUR_MS]],
    doc: 'Age at which a new segment is started.',
  },
  'unclean.leader.election.enable': {
    type: 'boolean',
    default: 'false',
    server: 'unclean.leader.election.enable',
    doc: 'May a replica outside the ISR become leader and lose records?',
  },
}

/** All rows by name, in the order of their names. */
export const topicConfigs: ReadonlyMap<string, TopicConfig> = new Map(
  Object.entries(specs).map(([name, { doc, server, ...property }]) => {
    const synonyms = (typeof server === 'string' ? [server] : (server ?? [])).map(synonym =>
      typeof synonym === 'string' ? { name: synonym, scale: 1 } : { name: synonym[0], scale: synonym[1] },
    )
    return [name, { name, property, row: propertyRow(property, doc), synonyms }]
  }),
)
