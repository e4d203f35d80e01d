// The topics that the mirror suites copy: each a kind of content that a careless mirror gets wrong.
import { fillCompacted } from './compacted-topic.ts'
import type { TopicSide } from './topic-side.ts'
import { fillWithTransactions } from './transactions.ts'

/** A topic of the source cluster. */
export interface SourceTopic {
  readonly name: string
  /** What is special; completes the sentence "a mirror of …". */
  readonly about: string
  readonly partitions?: number
  readonly configs?: Readonly<Record<string, string>>
  /** Configs that the mirror is created with. */
  readonly mirrorConfigs?: Readonly<Record<string, string>>
  /** Writes its content before it is mirrored. */
  readonly fill?: (source: TopicSide, topic: string) => Promise<void>
}

const keepForever = { 'retention.ms': '-1' }
const largeRecordBytes = 20 * 1024 * 1024
/** 253402300799999: the last millisecond of the year 9999. */
const farFuture = Date.UTC(9999, 11, 31, 23, 59, 59, 999)

/** Every codec, plain and idempotent, small and large batches, keys, headers, null values; two partitions. */
async function fillWithCodecs(source: TopicSide, topic: string): Promise<void> {
  const codecs = ['none', 'gzip', 'snappy', 'lz4', 'zstd'] as const
  for (const [index, codec] of codecs.entries()) {
    const generate = { count: 400, valueBytes: 300, keys: 50, headers: index % 4, seed: index + 1 }
    await source.produce(topic, { codec, batch: 150, generate })
    await source.produce(topic, { codec, idempotent: false, batch: 1, generate: { count: 5, keys: 3, valueBytes: 0 } })
    // Larger than a block of snappy and lz4 (64 KiB), compressible and not.
    await source.produce(topic, { codec, generate: { count: 60, valueBytes: 5_000, keys: 1 } })
    await source.produce(topic, { codec, generate: { count: 60, valueBytes: 5_000, keys: 1, random: true } })
  }
  await source.produce(topic, {
    records: [{ key: 'tombstone', value: null }, { key: null, value: null }, { value: '' }],
  })
}

/** Records of 20 MB that no default fetch size holds, next to small ones. */
async function fillWithLargeRecords(source: TopicSide, topic: string): Promise<void> {
  await source.produce(topic, { generate: { count: 10 } })
  await source.produce(topic, { generate: { count: 1, valueBytes: largeRecordBytes, random: true } })
  await source.produce(topic, { generate: { count: 10 } })
  await source.produce(topic, { codec: 'lz4', generate: { count: 1, valueBytes: largeRecordBytes } })
  await source.produce(topic, { generate: { count: 10 } })
}

/** 1970, the far future, and back again: time indexes must cope with a maximum that comes first. */
async function fillWithOddTimestamps(source: TopicSide, topic: string): Promise<void> {
  for (const timestamp of [0, 1, farFuture, 1_600_000_000_000, 0]) {
    await source.produce(topic, {
      batch: 7,
      generate: { count: 20, timestamp, timestampStep: timestamp === 0 ? 0 : 1 },
    })
  }
  const timestamps = [farFuture, 0, farFuture - 1, 5, 4, 3]
  await source.produce(topic, { codec: 'zstd', records: timestamps.map(timestamp => ({ value: 'v', timestamp })) })
}

async function fillAndDeleteSome(source: TopicSide, topic: string): Promise<void> {
  await source.produce(topic, { batch: 10, codec: 'lz4', generate: { count: 200, valueBytes: 100 } })
  // Inside the batch 70–79: the log starts where no batch does.
  await source.deleteRecords(topic, { 0: 75 })
}

async function fillAndDeleteAll(source: TopicSide, topic: string): Promise<void> {
  await source.produce(topic, { batch: 10, generate: { count: 50 } })
  await source.deleteRecords(topic, { 0: 50 })
}

/** In the order in which they are filled. */
export const sourceTopics: readonly SourceTopic[] = [
  { name: 'codecs', about: 'every codec, plain and idempotent batches', partitions: 2, fill: fillWithCodecs },
  {
    name: 'compacted',
    about: 'a compacted topic after cleaning, with holes, empty batches, tombstones and transactions',
    configs: {
      'cleanup.policy': 'compact',
      'min.cleanable.dirty.ratio': '0.001',
      'segment.ms': '1000',
      'delete.retention.ms': '86400000',
    },
    fill: fillCompacted,
  },
  {
    name: 'transactions',
    about: 'committed, aborted, interleaved and open transactions',
    fill: fillWithTransactions,
  },
  { name: 'deleted-before', about: 'a log that starts inside a batch after DeleteRecords', fill: fillAndDeleteSome },
  { name: 'emptied', about: 'a topic whose records were all deleted', fill: fillAndDeleteAll },
  { name: 'empty', about: 'an empty topic', partitions: 2 },
  {
    name: 'large',
    about: 'records of 20 MB',
    configs: { 'max.message.bytes': '30000000' },
    fill: fillWithLargeRecords,
  },
  {
    name: 'timestamps',
    about: 'timestamps of 1970 and the far future',
    configs: {
      ...keepForever,
      'message.timestamp.after.max.ms': '9223372036854775807',
      'message.timestamp.before.max.ms': '9223372036854775807',
    },
    mirrorConfigs: { 'segment.ms': '604800000' },
    fill: fillWithOddTimestamps,
  },
  {
    name: 'append-time',
    about: 'records stamped with the time of appending',
    configs: { 'message.timestamp.type': 'LogAppendTime' },
    fill: async (source, topic) => {
      await source.produce(topic, { batch: 20, codec: 'gzip', generate: { count: 100, timestamp: 1 } })
    },
  },
]
