/** What the fetcher tells its sinks when leaders move, brokers die, topics change or access is lost. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Uuid } from '../../core/uuid.ts'
import type { FetchTrouble } from '../../link/ports.ts'
import { ErrorCode } from '../../protocol/errors.ts'
import { FakeSink } from '../fakes/fake-sink.ts'
import { startBench } from '../fakes/fetch-bench.ts'

const upTo = (end: number, from = 0) => Array.from({ length: end - from }, (_, i) => from + i)
const kinds = (sink: FakeSink) => sink.troubles.map(trouble => trouble.kind)

test('a leader change is followed without a trouble', async t => {
  const { kafka, source, until } = await startBench(t, { brokers: 2 })
  const topic = kafka.addTopic('orders', [1])
  kafka.append('orders', 0, 5)
  const sink = new FakeSink()
  source.fetcher.start('orders', 0, sink)
  await until(() => sink.offset === 5)
  Object.assign(topic.partitions[0] ?? {}, { leader: 2, leaderEpoch: 2 })
  kafka.append('orders', 0, 5)
  await until(() => sink.offset === 10)
  assert.deepEqual(sink.received, upTo(10))
  assert.equal(sink.batches.at(-1)?.leaderEpoch, 2)
  assert.deepEqual(sink.troubles, [])
})

test('a stale broker does not lead back to the old leader', async t => {
  const { kafka, source, until } = await startBench(t, { brokers: 2 })
  const topic = kafka.addTopic('orders', [1])
  const partition = topic.partitions[0] ?? assert.fail()
  Object.assign(partition, { leader: 2, leaderEpoch: 7 })
  kafka.append('orders', 0, 5)
  const sink = new FakeSink()
  source.fetcher.start('orders', 0, sink)
  await until(() => sink.offset === 5)
  // The metadata tells an older leader while broker 2 goes on serving.
  partition.leader = 1
  partition.leaderEpoch = 6
  kafka.onFetch = asked => (asked.brokerId === 2 ? { serve: true } : undefined)
  kafka.addTopic('other', [1])
  source.fetcher.start('other', 0, new FakeSink())
  kafka.append('orders', 0, 5)
  await until(() => sink.offset === 10)
  assert.equal(sink.batches.at(-1)?.leaderEpoch, 7)
})

test('a source restored from a copy, whose epochs went backwards, is read again', async t => {
  const { kafka, source, until } = await startBench(t)
  const partition = kafka.addTopic('orders', [1]).partitions[0] ?? assert.fail()
  partition.leaderEpoch = 9
  kafka.append('orders', 0, 5)
  const sink = new FakeSink()
  source.fetcher.start('orders', 0, sink)
  await until(() => sink.offset === 5)
  partition.leaderEpoch = 3
  kafka.onFetch = ({ currentLeaderEpoch }) =>
    currentLeaderEpoch > 3 ? { errorCode: ErrorCode.UNKNOWN_LEADER_EPOCH } : undefined
  kafka.append('orders', 0, 5)
  await until(() => sink.offset === 10)
  assert.equal(sink.batches.at(-1)?.leaderEpoch, 3)
})

test('a broker that dies is reported, tried for ever, and resumed from when it is back', async t => {
  const { kafka, source, until, pass } = await startBench(t)
  kafka.addTopic('orders', [1])
  kafka.append('orders', 0, 5)
  const sink = new FakeSink()
  source.fetcher.start('orders', 0, sink)
  await until(() => sink.offset === 5)
  const port = kafka.brokers.get(1)?.server.port
  await kafka.stopBroker(1)
  await pass(60_000)
  assert.ok(sink.troubles.length > 5 && sink.troubles.length < 100, `${sink.troubles.length} troubles`)
  assert.deepEqual(new Set(kinds(sink)), new Set(['unreachable']))
  const last = sink.troubles.at(-1)
  assert.equal(last?.kind === 'unreachable' && last.failure, 'tcp')
  await kafka.addBroker(1, port)
  kafka.append('orders', 0, 5)
  await until(() => sink.offset === 10)
  assert.deepEqual(sink.received, upTo(10))
})

test('a source that comes back at other addresses is found through its name', async t => {
  const addresses = ['127.0.0.1']
  const dnsLookup = async () => addresses
  const { kafka, until, open } = await startBench(t)
  const source = open({ dnsLookup, bootstrapServers: [`kafka.example:${kafka.brokers.get(1)?.server.port}`] })
  const advertised = kafka.brokers.get(1)?.advertised ?? assert.fail()
  advertised.host = 'kafka.example'
  kafka.addTopic('orders', [1])
  kafka.append('orders', 0, 5)
  const sink = new FakeSink()
  source.fetcher.start('orders', 0, sink)
  await until(() => sink.offset === 5)
  addresses[0] = '127.0.0.99'
  const port = kafka.brokers.get(1)?.server.port
  await kafka.stopBroker(1)
  await until(() => sink.troubles.length > 0)
  const broker = await kafka.addBroker(1, port)
  broker.advertised.host = 'kafka.example'
  addresses[0] = '127.0.0.1'
  kafka.append('orders', 0, 5)
  await until(() => sink.offset === 10)
})

test('an offset out of range is reported with what the leader has, and the sink decides where to go on', async t => {
  const { kafka, source, until } = await startBench(t)
  const topic = kafka.addTopic('orders', [1])
  kafka.append('orders', 0, 40)
  Object.assign(topic.partitions[0] ?? {}, { logStart: 30 })
  const sink = new FakeSink({ offset: 10 })
  sink.decide = about => {
    if (typeof about === 'object' && about.kind === 'offset-out-of-range') sink.offset = about.earliest
    return 'continue'
  }
  source.fetcher.start('orders', 0, sink)
  await until(() => sink.offset === 40)
  const expected: FetchTrouble = { kind: 'offset-out-of-range', fetchOffset: 10, earliest: 30, latest: 40 }
  assert.deepEqual(sink.troubles, [expected])
  assert.deepEqual(sink.received, upTo(40, 30))
})

test('a sink that stays out of range is asked again with growing pauses', async t => {
  const { kafka, source, pass } = await startBench(t)
  kafka.addTopic('orders', [1])
  const sink = new FakeSink({ offset: 99 })
  source.fetcher.start('orders', 0, sink)
  await pass(60_000)
  assert.ok(sink.troubles.length >= 5 && sink.troubles.length <= 12, `${sink.troubles.length} troubles`)
  assert.deepEqual(sink.troubles[0], { kind: 'offset-out-of-range', fetchOffset: 99, earliest: 0, latest: 0 })
})

test('a topic that was recreated stops being read at once', async t => {
  const { kafka, source, until, pass } = await startBench(t)
  const before = kafka.addTopic('orders', [1]).topicId
  kafka.append('orders', 0, 5)
  const sink = new FakeSink({ topicId: before })
  source.fetcher.start('orders', 0, sink)
  await until(() => sink.offset === 5)
  const after = 'recreated____________Q' as Uuid
  kafka.addTopic('orders', [1], after)
  kafka.append('orders', 0, 100)
  await until(() => sink.troubles.length > 0)
  assert.deepEqual(sink.troubles[0], { kind: 'topic-id-changed', expected: before, found: after })
  await pass(5000)
  assert.deepEqual(sink.received, upTo(5))
  assert.deepEqual(new Set(kinds(sink)), new Set(['topic-id-changed']))
})

test('a topic that is gone is reported until it is there again', async t => {
  const { kafka, source, until } = await startBench(t)
  const topic = kafka.addTopic('orders', [1])
  kafka.append('orders', 0, 5)
  const sink = new FakeSink({ topicId: topic.topicId })
  source.fetcher.start('orders', 0, sink)
  await until(() => sink.offset === 5)
  kafka.topics.delete('orders')
  kafka.wake()
  await until(() => sink.troubles.length >= 2)
  assert.deepEqual(new Set(kinds(sink)), new Set(['topic-missing']))
  kafka.topics.set('orders', topic)
  kafka.append('orders', 0, 1)
  await until(() => sink.offset === 6)
})

test('a topic that never existed, and a partition beyond its topic, are missing', async t => {
  const { kafka, source, until } = await startBench(t)
  kafka.addTopic('orders', [1])
  const [nowhere, beyond] = [new FakeSink(), new FakeSink()]
  source.fetcher.start('nowhere', 0, nowhere)
  source.fetcher.start('orders', 1, beyond)
  await until(() => nowhere.troubles.length > 0 && beyond.troubles.length > 0)
  assert.deepEqual(nowhere.troubles[0], { kind: 'topic-missing', message: 'the source has no topic nowhere' })
  assert.deepEqual(beyond.troubles[0], {
    kind: 'partition-missing',
    message: 'topic orders of the source has no partition 1',
  })
})

test('below Kafka 3.1 topics are fetched by name', async t => {
  const { kafka, until, open } = await startBench(t)
  kafka.fetchVersionMax = 11
  const versions = new Set<number>()
  kafka.onFetch = asked => {
    versions.add(asked.version)
    return undefined
  }
  const topic = kafka.addTopic('orders', [1])
  kafka.append('orders', 0, 15)
  const sink = new FakeSink({ topicId: topic.topicId })
  open().fetcher.start('orders', 0, sink)
  await until(() => sink.offset === 15)
  assert.deepEqual(versions, new Set([11]))
})

test('lost access is reported as authorization, by fetch and by metadata', async t => {
  const { kafka, source, until } = await startBench(t)
  const topic = kafka.addTopic('orders', [1])
  kafka.onFetch = () => ({ errorCode: ErrorCode.TOPIC_AUTHORIZATION_FAILED })
  const sink = new FakeSink()
  source.fetcher.start('orders', 0, sink)
  await until(() => sink.troubles.length === 1)
  topic.errorCode = ErrorCode.TOPIC_AUTHORIZATION_FAILED
  await until(() => sink.troubles.length === 2)
  assert.deepEqual(kinds(sink), ['authorization', 'authorization'])
  topic.errorCode = 0
  kafka.onFetch = undefined
  kafka.append('orders', 0, 1)
  await until(() => sink.offset === 1)
})

test('a trouble of one partition does not hold up the others of its connection', async t => {
  const { kafka, source, until } = await startBench(t)
  kafka.addTopic(
    'orders',
    upTo(8).map(() => 1),
  )
  kafka.onFetch = ({ partition }) => (partition === 3 ? { errorCode: ErrorCode.CORRUPT_MESSAGE } : undefined)
  const sinks = upTo(8).map(() => new FakeSink())
  for (const [partition, sink] of sinks.entries()) {
    kafka.append('orders', partition, 15)
    source.fetcher.start('orders', partition, sink)
  }
  await until(() => sinks.every((sink, i) => i === 3 || sink.offset === 15))
  const broken = sinks[3] ?? assert.fail()
  assert.equal(broken.offset, 0)
  assert.equal(kinds(broken)[0], 'corrupt')
})

test('a partition without a leader waits and is reported when that lasts', async t => {
  const { kafka, source, until } = await startBench(t)
  const partition = kafka.addTopic('orders', [-1]).partitions[0] ?? assert.fail()
  const sink = new FakeSink()
  source.fetcher.start('orders', 0, sink)
  await until(() => sink.troubles.length > 2)
  assert.match(JSON.stringify(sink.troubles[0]), /orders-0 has no leader at the source/)
  Object.assign(partition, { leader: 1, leaderEpoch: 2 })
  kafka.append('orders', 0, 5)
  await until(() => sink.offset === 5)
})

test('a throttled connection stays silent for as long as the source asks', async t => {
  const { kafka, source, until, clock } = await startBench(t)
  kafka.addTopic('orders', [1])
  kafka.append('orders', 0, 15)
  kafka.onFetch = ({ fetchOffset }) => (fetchOffset === 0 ? { throttleTimeMs: 3000 } : undefined)
  const sink = new FakeSink()
  source.fetcher.start('orders', 0, sink)
  await until(() => sink.offset === 10)
  const startMs = clock.monotonicMs()
  await until(() => sink.offset === 15)
  const waitedMs = clock.monotonicMs() - startMs
  assert.ok(waitedMs > 2900 && waitedMs < 3200, `${waitedMs} ms`)
})

test('another cluster at the address is never read', async t => {
  const { kafka, source, until } = await startBench(t)
  kafka.addTopic('orders', [1])
  kafka.append('orders', 0, 5)
  kafka.clusterId = 'another-cluster'
  const sink = new FakeSink()
  source.fetcher.start('orders', 0, sink)
  await until(() => sink.troubles.length >= 2)
  const [trouble] = sink.troubles
  assert.equal(trouble?.kind === 'unreachable' && trouble.failure, 'cluster-id')
  assert.equal(sink.batches.length, 0)
})
