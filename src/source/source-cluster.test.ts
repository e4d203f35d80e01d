/** The questions that a source cluster answers, against a fake cluster. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SourceError } from '../link/ports.ts'
import { ErrorCode } from '../protocol/errors.ts'
import { during, failure } from './fakes/answers.ts'
import { entriesOf } from './fakes/fake-fetch.ts'
import { startBench } from './fakes/fetch-bench.ts'

test('the cluster is described over a new connection to a bootstrap server', async t => {
  const { kafka, source, until } = await startBench(t, { brokers: 2 })
  const facts = await during(until, source.describeCluster())
  const port = (id: number) => kafka.brokers.get(id)?.server.port
  assert.deepEqual(facts, {
    clusterId: 'fake-cluster',
    brokers: [
      { id: 1, host: '127.0.0.1', port: port(1), rack: 'r' },
      { id: 2, host: '127.0.0.1', port: port(2), rack: 'r' },
    ],
  })
  await until(() => [...kafka.brokers.values()].every(broker => broker.server.connectionCount === 0))
})

test('a source without DescribeCluster is described by its metadata', async t => {
  const { kafka, source, until } = await startBench(t)
  kafka.missingApis.add(60)
  const facts = await during(until, source.describeCluster())
  assert.equal(facts.clusterId, 'fake-cluster')
  assert.deepEqual(kafka.requests, ['Metadata@1', 'Metadata@1'])
})

test('one reachable bootstrap server is enough; without any, the failure names them all', async t => {
  const { kafka, open, until } = await startBench(t)
  const good = `127.0.0.1:${kafka.brokers.get(1)?.server.port}`
  const some = open({ bootstrapServers: ['127.0.0.1:1', '127.0.0.1:2', good] })
  assert.equal((await during(until, some.describeCluster())).clusterId, 'fake-cluster')
  const dnsLookup = async () => []
  const none = open({ bootstrapServers: ['127.0.0.1:1', 'nowhere.example:9092'], dnsLookup })
  await assert.rejects(during(until, none.describeCluster()), failure('tcp', /127\.0\.0\.1:1.*nowhere|nowhere.*127/))
  const unknown = open({ bootstrapServers: ['nowhere.example:9092'], dnsLookup })
  await assert.rejects(during(until, unknown.describeCluster()), failure('dns', /nowhere\.example has no address/))
  const wrong = open({ bootstrapServers: ['nowhere.example'] })
  await assert.rejects(during(until, wrong.describeCluster()), failure('dns', /"nowhere\.example" .* is not host:port/))
})

test('another cluster than the pinned one answers no question', async t => {
  const { open, until } = await startBench(t)
  const other = open({ clusterId: 'expected' })
  const expected = failure('cluster-id', /belongs to cluster fake-cluster, the link is bound to cluster expected/)
  await assert.rejects(during(until, other.describeCluster()), expected)
  await assert.rejects(during(until, other.describeTopics('all')), expected)
  const free = open({ clusterId: undefined })
  assert.equal((await during(until, free.describeCluster())).clusterId, 'fake-cluster')
})

test('topics are described by name or all together; missing ones are absent', async t => {
  const { kafka, source, until } = await startBench(t)
  const orders = kafka.addTopic('orders', [1, -1])
  kafka.addTopic('other', [1])
  const found = await during(until, source.describeTopics(['orders', 'nowhere']))
  assert.deepEqual(found, [
    {
      name: 'orders',
      topicId: orders.topicId,
      internal: false,
      partitions: [
        { partition: 0, leader: 1, leaderEpoch: 1 },
        { partition: 1, leader: -1, leaderEpoch: 1 },
      ],
    },
  ])
  const all = await during(until, source.describeTopics('all'))
  assert.deepEqual(all.map(topic => topic.name).sort(), ['orders', 'other'])
  assert.deepEqual(await source.describeTopics([]), [])
})

test('a topic that may not be described fails the question', async t => {
  const { kafka, source, until } = await startBench(t)
  kafka.addTopic('orders', [1]).errorCode = ErrorCode.TOPIC_AUTHORIZATION_FAILED
  await assert.rejects(during(until, source.describeTopics(['orders'])), failure('authorization', /topic orders/))
  await assert.rejects(during(until, source.describeTopicConfigs(['orders'])), failure('authorization', /orders/))
})

test('configs tell what the topic itself overrides', async t => {
  const { kafka, source, until } = await startBench(t)
  kafka.addTopic('orders', [1]).configs = [
    { name: 'retention.ms', value: '5', configSource: 1 },
    { name: 'cleanup.policy', value: 'delete', configSource: 5 },
  ]
  const configs = await during(until, source.describeTopicConfigs(['orders', 'nowhere']))
  assert.deepEqual([...configs.keys()], ['orders'])
  assert.deepEqual(Object.fromEntries(configs.get('orders') ?? []), {
    'retention.ms': { value: '5', overridden: true },
    'cleanup.policy': { value: 'delete', overridden: false },
  })
})

test('offsets are asked of each leader; a timestamp past the end gives the end', async t => {
  const { kafka, source, until } = await startBench(t, { brokers: 2 })
  const topic = kafka.addTopic('orders', [1, 2])
  Object.assign(topic.partitions[0] ?? {}, { logStart: 3, end: 10 })
  Object.assign(topic.partitions[1] ?? {}, { logStart: 0, end: 4 })
  const list = async (spec: Parameters<typeof source.listOffsets>[2]['spec']) => {
    const query = { spec, isolation: 'read_uncommitted' } as const
    return Object.fromEntries(await during(until, source.listOffsets('orders', [0, 1], query)))
  }
  assert.deepEqual(await list('earliest'), { 0: 3, 1: 0 })
  assert.deepEqual(await list('latest'), { 0: 10, 1: 4 })
  assert.deepEqual(await list({ timestampMs: 6n }), { 0: 6, 1: 4 })
  assert.ok(kafka.requests.includes('ListOffsets@1') && kafka.requests.includes('ListOffsets@2'))
})

test('a question to a leader that has moved, or died, is asked again', async t => {
  const { kafka, source, until } = await startBench(t, { brokers: 2 })
  const partition = kafka.addTopic('orders', [1]).partitions[0] ?? assert.fail()
  partition.end = 10
  const query = { spec: 'latest', isolation: 'read_committed' } as const
  partition.leader = -1
  const answer = source.listOffsets('orders', [0], query)
  await until(() => kafka.requests.filter(name => name.startsWith('Metadata')).length >= 3)
  partition.leader = 2
  assert.deepEqual(Object.fromEntries(await during(until, answer)), { 0: 10 })
  await kafka.stopBroker(2)
  const later = source.listOffsets('orders', [0], query)
  await until(() => kafka.requests.filter(name => name.startsWith('Metadata')).length >= 7)
  partition.leader = 1
  assert.deepEqual(Object.fromEntries(await during(until, later)), { 0: 10 })
})

test('a question about a topic or partition that is not there fails', async t => {
  const { kafka, source, until } = await startBench(t)
  kafka.addTopic('orders', [1])
  const query = { spec: 'latest', isolation: 'read_uncommitted' } as const
  const about = (topic: string, partition: number) => during(until, source.listOffsets(topic, [partition], query))
  await assert.rejects(about('nowhere', 0), failure('unknown-topic', /has no topic nowhere/))
  await assert.rejects(about('orders', 9), failure('unknown-topic', /topic orders of the source has no partition 9/))
})

test('raw batches are read from an offset on, also by way of another replica', async t => {
  const { kafka, source, until } = await startBench(t, { brokers: 2 })
  kafka.addTopic('orders', [1])
  kafka.append('orders', 0, 8)
  const read = (offset: number) => during(until, source.readBatches('orders', 0, { offset, maxBytes: 1000 }))
  assert.deepEqual(await read(3), entriesOf(3, 8))
  assert.deepEqual(await read(8), Buffer.alloc(0))
  kafka.onFetch = ({ brokerId }) => (brokerId === 1 ? { preferredReadReplica: 2 } : { serve: true })
  assert.deepEqual(await read(5), entriesOf(5, 8))
})

test('an advertised address that cannot be resolved is told apart from an outage', async t => {
  const dnsLookup = async () => []
  const { kafka, source, until } = await startBench(t, { dnsLookup })
  const broker = kafka.brokers.get(1) ?? assert.fail()
  broker.advertised.host = 'internal.example'
  kafka.addTopic('orders', [1])
  await during(until, source.describeTopics('all'))
  const query = { spec: 'latest', isolation: 'read_uncommitted' } as const
  await assert.rejects(
    during(until, source.listOffsets('orders', [0], query)),
    failure('advertised-listener', /advertises broker 1 at internal\.example:\d+, which cannot be reached from here/),
  )
})

test('the leader says where an epoch ends, also after it has moved', async t => {
  const { kafka, source, until } = await startBench(t, { brokers: 2 })
  const partition = kafka.addTopic('orders', [2]).partitions[0] ?? assert.fail()
  partition.epochEnds.set(3, { epoch: 2, endOffset: 40 })
  assert.deepEqual(await during(until, source.endOfEpoch('orders', 0, { epoch: 3 })), { epoch: 2, endOffset: 40 })
  assert.deepEqual(await during(until, source.endOfEpoch('orders', 0, { epoch: 9 })), { epoch: -1, endOffset: -1 })
  assert.ok(kafka.requests.includes('OffsetForLeaderEpoch@2'))
  await assert.rejects(
    during(until, source.endOfEpoch('orders', 7, { epoch: 3 })),
    failure('unknown-topic', /no partition 7/),
  )
})

test('a question can be given up, and closing the source fails what is under way', async t => {
  const { kafka, source } = await startBench(t)
  const gone = new AbortController()
  gone.abort(new Error('not needed'))
  await assert.rejects(source.describeTopics('all', gone.signal), new Error('not needed'))
  kafka.addTopic('orders', [1])
  const answer = assert.rejects(source.describeTopics('all'), SourceError)
  await source.close()
  await answer
  await assert.rejects(source.describeCluster(), failure('retriable', /is closed/))
})
