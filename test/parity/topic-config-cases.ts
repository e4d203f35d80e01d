// Topic configs, and the broker's defaults of them, that change what a producer is answered and what is stored.
import { ZERO_UUID } from '../../src/core/uuid.ts'
import { compressionNames, compressionOf, usesLogAppendTime } from '../../src/protocol/batches/batch-header.ts'
import { batchesIn } from '../../src/protocol/batches/batch-iteration.ts'
import { buildBatch } from '../../src/protocol/batches/build-batch.ts'
import { recordsOf } from '../../src/protocol/batches/records-of.ts'
import { ErrorCode } from '../../src/protocol/errors.ts'
import { FetchApi } from '../../src/protocol/messages/01-fetch.ts'
import { CreateTopicsApi } from '../../src/protocol/messages/19-create-topics.ts'
import { IncrementalAlterConfigsApi } from '../../src/protocol/messages/44-incremental-alter-configs.ts'
import { everythingIsInForce } from './in-force.ts'
import { type ParityCase, parityCase } from './parity-case.ts'
import { NOW, produceCase, record, two } from './produce-cases.ts'
import { ask } from './raw-exchange.ts'
import { topicIsReady } from './topic-steps.ts'

type Configs = Readonly<Record<string, string>>

const [TOPIC, BROKER] = [2, 4]

const topicWith = (name: string, configs: Configs): ParityCase => ({
  name: `${name} is made with ${JSON.stringify(configs)}`,
  async ask(peer) {
    const entries = Object.entries(configs).map(([key, value]) => ({ name: key, value }))
    const plan = { name, numPartitions: 1, replicationFactor: 1, assignments: [], configs: entries }
    const answer = await ask(peer, { api: CreateTopicsApi, request: { topics: [plan] }, version: 5 })
    if (typeof answer === 'string') return answer
    if (answer.topics[0]?.errorCode === ErrorCode.NONE) await topicIsReady(peer, name)
    return JSON.stringify(answer.topics.map(({ errorCode }) => errorCode))
  },
})

/** Waits until the node keeps to it; null removes a value. */
const configured = (type: number, name: string, configs: Readonly<Record<string, string | null>>): ParityCase => ({
  name: `${type} ${name} is configured: ${JSON.stringify(configs)}`,
  async ask(peer) {
    const entries = Object.entries(configs)
    const changes = entries.map(([key, value]) => ({ name: key, configOperation: value === null ? 1 : 0, value }))
    const request = { resources: [{ resourceType: type, resourceName: name, configs: changes }], validateOnly: false }
    const answer = await ask(peer, { api: IncrementalAlterConfigsApi, request, version: 1 })
    if (typeof answer === 'string' || answer.responses[0]?.errorCode !== ErrorCode.NONE) return JSON.stringify(answer)
    await everythingIsInForce(peer)
    return 'configured'
  },
})

/** Codec, kind of timestamps and contents of every stored batch. */
const storedCase = (topic: string, when = ''): ParityCase =>
  parityCase(`what ${topic} holds${when}`, FetchApi, {
    version: 12,
    request: {
      maxWaitMs: 500,
      minBytes: 1,
      maxBytes: 16 << 20,
      isolationLevel: 0,
      topics: [
        { topic, topicId: ZERO_UUID, partitions: [{ partition: 0, fetchOffset: 0n, partitionMaxBytes: 16 << 20 }] },
      ],
      forgottenTopicsData: [],
    },
    show: ({ responses }) => {
      const records = responses[0]?.partitions[0]?.records ?? Buffer.alloc(0)
      return [...batchesIn(records)].map(header => {
        const stamped = usesLogAppendTime(header)
        return {
          codec: compressionOf(header),
          stamped,
          offsets: [header.baseOffset, header.lastOffset],
          baseSequence: header.baseSequence,
          maxTimestamp: stamped ? 'now' : header.maxTimestamp,
          records: recordsOf(records, header).map(({ offset, timestamp, key, value }) => [
            offset,
            stamped ? 'now' : timestamp,
            key?.toString() ?? null,
            value?.length ?? null,
          ]),
        }
      })
    },
  })

const large = (bytes: number) => buildBatch({ records: [record(NOW, null, Buffer.alloc(bytes, 7))] })
const targets = ['producer', 'uncompressed', 'gzip', 'snappy', 'lz4', 'zstd'] as const

const compression = targets.flatMap(target => {
  const name = `codec-${target}`
  return [
    topicWith(name, { 'compression.type': target, 'compression.gzip.level': '9', 'compression.zstd.level': '1' }),
    ...compressionNames.map(source =>
      produceCase(`${source} to ${name}`, two({ compression: source }), { topic: name }),
    ),
    storedCase(name),
  ]
})

const sizes: ParityCase[] = [
  topicWith('sized', { 'max.message.bytes': '300' }),
  produceCase('below max.message.bytes', large(200), { topic: 'sized' }),
  produceCase('above max.message.bytes', large(400), { topic: 'sized' }),
  configured(TOPIC, 'sized', { 'max.message.bytes': '600' }),
  produceCase('below a raised max.message.bytes', large(400), { topic: 'sized' }),
  configured(TOPIC, 'sized', { 'max.message.bytes': null }),
  produceCase('without max.message.bytes', large(10_000), { topic: 'sized' }),
  configured(BROKER, '', { 'message.max.bytes': '500' }),
  produceCase('above the message.max.bytes of the broker', large(600), { topic: 'sized' }),
  configured(BROKER, '', { 'message.max.bytes': null }),
  produceCase('without message.max.bytes', large(600), { topic: 'sized' }),
  topicWith('small-segments', { 'segment.bytes': '1048576', 'max.message.bytes': '4000000' }),
  produceCase('more than a segment', large(1_500_000), { topic: 'small-segments' }),
  produceCase('as much as a segment', large(1_000_000), { topic: 'small-segments' }),
  topicWith('shrunk', { 'compression.type': 'gzip', 'max.message.bytes': '1000' }),
  produceCase('too large before it is compressed', large(5000), { topic: 'shrunk' }),
  topicWith('grown', { 'compression.type': 'uncompressed', 'max.message.bytes': '1000' }),
  produceCase(
    'too large once it is plain',
    buildBatch({ compression: 'gzip', records: [record(NOW, null, Buffer.alloc(5000, 7))] }),
    { topic: 'grown' },
  ),
]

const times: ParityCase[] = [
  topicWith('stamped', { 'message.timestamp.type': 'LogAppendTime', 'message.timestamp.before.max.ms': '1000' }),
  produceCase('old records where the broker stamps', buildBatch({ records: [record(5n)] }), { topic: 'stamped' }),
  storedCase('stamped'),
  configured(BROKER, '', { 'log.message.timestamp.type': 'LogAppendTime' }),
  topicWith('stamped-by-default', {}),
  produceCase('where the broker stamps by default', two(), { topic: 'stamped-by-default' }),
  configured(BROKER, '', { 'log.message.timestamp.type': null }),
  produceCase('where it does not any more', two(), { topic: 'stamped-by-default' }),
  storedCase('stamped-by-default'),
  topicWith('bounded', { 'message.timestamp.after.max.ms': '1000' }),
  produceCase('records of tomorrow', buildBatch({ records: [record(), record(NOW + 86_400_000n)] }), {
    topic: 'bounded',
  }),
  configured(TOPIC, 'bounded', { 'message.timestamp.after.max.ms': '9223372036854775807' }),
  produceCase('records of tomorrow, allowed', buildBatch({ records: [record(NOW + 86_400_000n)] }), {
    topic: 'bounded',
  }),
  configured(BROKER, '', { 'log.message.timestamp.before.max.ms': '1000' }),
  topicWith('bounded-by-default', {}),
  produceCase('old records, bounded by default', buildBatch({ records: [record(NOW - 600_000n)] }), {
    topic: 'bounded-by-default',
  }),
  configured(BROKER, '', { 'log.message.timestamp.before.max.ms': null }),
]

const replicas: ParityCase[] = [
  topicWith('careful', { 'min.insync.replicas': '2' }),
  ...[-1, 1, 0].map(acks =>
    produceCase(`acks ${acks} with more in-sync replicas than replicas`, two(), { topic: 'careful', acks }),
  ),
  topicWith('compacted', { 'cleanup.policy': 'compact,delete', 'compression.type': 'zstd' }),
  produceCase('no key where keys are needed', buildBatch({ records: [record(NOW, null)] }), { topic: 'compacted' }),
  configured(TOPIC, 'compacted', { 'cleanup.policy': 'delete' }),
  produceCase('no key where keys were needed', buildBatch({ records: [record(NOW, null)] }), { topic: 'compacted' }),
  ...['segment.bytes', 'retention.ms', 'min.insync.replicas', 'compression.zstd.level', 'compression.gzip.level'].map(
    key => topicWith('refused', { [key]: '-999999' }),
  ),
]

export const topicConfigCases: readonly ParityCase[] = [...compression, ...sizes, ...times, ...replicas]
