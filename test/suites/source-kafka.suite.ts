/** The client half against real Apache Kafka 4.3.1 and 3.9.2: questions, and batches fetched byte for byte. */
import { deepStrictEqual, notStrictEqual, ok, rejects, strictEqual } from 'node:assert/strict'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { systemClock } from '../../src/core/clock.ts'
import { silentLogger } from '../../src/core/logger.ts'
import { type Uuid, ZERO_UUID } from '../../src/core/uuid.ts'
import type { FetchTrouble, SourceCluster } from '../../src/link/ports.ts'
import { BrokerConnection } from '../../src/network/broker-connection.ts'
import { ErrorCode } from '../../src/protocol/errors.ts'
import { DeleteTopicsApi } from '../../src/protocol/messages/20-delete-topics.ts'
import { kafkaSource } from '../../src/source/source-cluster.ts'
import { eventually } from '../eventually.ts'
import { JavaDriver } from '../java/driver.ts'
import { KafkaCluster, shortSession } from '../kafka/cluster.ts'
import { Opened } from '../opened.ts'
import { skipWithout } from '../requirements.ts'
import { CollectingSink } from '../scenarios/collecting-sink.ts'

const skip = skipWithout('java')
const opened = new Opened()
after(() => opened.close())

function openSource(cluster: KafkaCluster, clusterId: string | undefined = cluster.clusterId): SourceCluster {
  return kafkaSource({ clock: systemClock, random: Math.random, logger: silentLogger }).open({
    bootstrapServers: cluster.bootstrap.split(','),
    clusterId,
    clientId: 'suite',
    requestTimeoutMs: 30_000,
    connectTimeoutMs: 10_000,
    connectTimeoutMaxMs: 30_000,
    apiTimeoutMs: 60_000,
    idleMsMax: 600_000,
    bootstrapLookup: 'use_all_dns_ips',
    metadataMaxAgeMs: 300_000,
    retryBackoffMs: 100,
    security: {},
    fetch: {
      connectionsPerBroker: 1,
      partitionBytesMax: 1 << 20,
      responseBytesMax: 4 << 20,
      minBytes: 1,
      waitMaxMs: 500,
      backoffMs: 200,
      inFlightBytesMax: 64 << 20,
      timeoutMs: 30_000,
    },
  })
}

/** The bytes of a partition's log on the disk of a broker. */
async function segmentBytes(cluster: KafkaCluster, broker: number, partitionName: string): Promise<Buffer> {
  const folder = join(cluster.node(broker).dataDirectory, partitionName)
  const names = (await readdir(folder)).filter(name => name.endsWith('.log')).sort()
  return Buffer.concat(await Promise.all(names.map(name => readFile(join(folder, name)))))
}

async function deleteTopic(cluster: KafkaCluster, name: string): Promise<void> {
  const [host = '', port] = cluster.bootstrap.split(',')[0]?.split(':') ?? []
  const times = { connectTimeoutMs: 5000, requestTimeoutMs: 30_000 }
  const connection = await BrokerConnection.connect({
    host,
    port: Number(port),
    clientId: 'suite',
    ...times,
    clock: systemClock,
  })
  try {
    const request = { topics: [{ name, topicId: ZERO_UUID }], timeoutMs: 30_000 }
    const { response } = await connection.send(DeleteTopicsApi, request)
    strictEqual(response.responses[0]?.errorCode, ErrorCode.NONE)
  } finally {
    connection.close()
  }
}

for (const version of ['4.3.1', '3.9.2'] as const) {
  test(`${version}: questions are answered`, { skip }, async () => {
    const { cluster, driver, source } = await scene(version)
    const { bootstrap } = cluster
    const facts = await source.describeCluster()
    strictEqual(facts.clusterId, cluster.clusterId)
    deepStrictEqual(
      facts.brokers.map(({ id, host, port }) => ({ id, address: `${host}:${port}` })),
      cluster.brokers.map(({ id, address }) => ({ id, address })),
    )
    const topics = [{ name: 'asked', partitions: 3, configs: { 'retention.ms': '86400000' } }]
    const ids = await driver.call<Record<string, string>>('create-topics', { bootstrap, topics })
    const [topic] = await source.describeTopics(['asked', 'nowhere'])
    deepStrictEqual([topic?.name, topic?.topicId, topic?.partitions.length], ['asked', ids['asked'], 3])
    ok((await source.describeTopics('all')).some(found => found.name === 'asked'))
    const configs = (await source.describeTopicConfigs(['asked', 'nowhere'])).get('asked')
    deepStrictEqual(configs?.get('retention.ms'), { value: '86400000', overridden: true })
    strictEqual(configs?.get('cleanup.policy')?.overridden, false)
    const generate = { count: 100, timestamp: 1_000_000, timestampStep: 10 }
    await driver.call('produce', { bootstrap, topic: 'asked', partition: 1, batch: 1, generate })
    await driver.call('delete-records', { bootstrap, topic: 'asked', before: { 1: 30 } })
    const list = (spec: Parameters<SourceCluster['listOffsets']>[2]['spec']) =>
      source.listOffsets('asked', [0, 1], { spec, isolation: 'read_committed' })
    deepStrictEqual(Object.fromEntries(await list('earliest')), { 0: 0, 1: 30 })
    deepStrictEqual(Object.fromEntries(await list('latest')), { 0: 0, 1: 100 })
    deepStrictEqual(Object.fromEntries(await list({ timestampMs: 1_000_501n })), { 0: 0, 1: 51 })
    deepStrictEqual(Object.fromEntries(await list({ timestampMs: 2_000_000n })), { 0: 0, 1: 100 })
    await rejects(source.listOffsets('nowhere', [0], { spec: 'latest', isolation: 'read_committed' }), {
      failure: 'unknown-topic',
    })
    await rejects(openSource(cluster, 'another').describeCluster(), { failure: 'cluster-id' })
  })

  test(`${version}: partitions of every codec are fetched byte for byte`, { skip }, async () => {
    const { cluster, driver, source } = await scene(version)
    const { bootstrap } = cluster
    const codecs = ['none', 'gzip', 'snappy', 'lz4', 'zstd']
    const topics = [{ name: 'bytes', partitions: codecs.length }]
    const { bytes: topicId } = await driver.call<{ bytes: Uuid }>('create-topics', { bootstrap, topics })
    const sinks = codecs.map(() => new CollectingSink({ topicId }))
    for (const [partition, sink] of sinks.entries()) source.fetcher.start('bytes', partition, sink)
    for (const [partition, codec] of codecs.entries()) {
      const generate = { count: 20_000, valueBytes: 300, seed: partition }
      await driver.call('produce', { bootstrap, topic: 'bytes', partition, codec, batch: 1500, generate })
    }
    await driver.call('produce', {
      bootstrap,
      topic: 'bytes',
      partition: 0,
      transaction: { id: 'suite', end: 'abort' },
      generate: { count: 10 },
    })
    await eventually(() =>
      deepStrictEqual(
        sinks.map(sink => sink.offset),
        [20_011, 20_000, 20_000, 20_000, 20_000],
      ),
    )
    for (const [partition, sink] of sinks.entries()) {
      const onDisk = await segmentBytes(cluster, 1, `bytes-${partition}`)
      ok(onDisk.equals(sink.bytes), `partition ${partition}: ${sink.bytes.length} of ${onDisk.length} bytes`)
      ok(onDisk.equals(await readWhole(source, partition, sink.offset)))
      deepStrictEqual(sink.troubles, [])
      await source.fetcher.stop('bytes', partition)
    }
  })

  test(`${version}: deleted records, and a recreated topic, are told`, { skip }, async () => {
    const { cluster, driver, source } = await scene(version)
    const { bootstrap } = cluster
    const create = () => driver.call<{ moving: Uuid }>('create-topics', { bootstrap, topics: [{ name: 'moving' }] })
    const { moving: topicId } = await create()
    await driver.call('produce', { bootstrap, topic: 'moving', batch: 10, generate: { count: 100 } })
    await driver.call('delete-records', { bootstrap, topic: 'moving', before: { 0: 55 } })
    const sink = new CollectingSink({ topicId })
    source.fetcher.start('moving', 0, sink)
    await eventually(() => strictEqual(sink.offset, 100))
    const expected: FetchTrouble = { kind: 'offset-out-of-range', fetchOffset: 0, earliest: 55, latest: 100 }
    deepStrictEqual(sink.troubles, [expected])
    strictEqual(sink.batches.at(-1)?.logStartOffset, 55)
    await deleteTopic(cluster, 'moving')
    await eventually(() => strictEqual(sink.troubles.at(-1)?.kind, 'topic-missing'))
    const { moving: found } = await eventually(create)
    notStrictEqual(found, topicId)
    await eventually(() =>
      deepStrictEqual(sink.troubles.at(-1), { kind: 'topic-id-changed', expected: topicId, found }),
    )
    await source.fetcher.stop('moving', 0)
  })
}

test('kill -9 of a leader: fetching goes on from the next one, after a look at the epochs', { skip }, async () => {
  const [cluster, driver] = await opened.all<[KafkaCluster, JavaDriver]>([
    KafkaCluster.start({ version: '4.3.1', brokers: 2, properties: shortSession }),
    JavaDriver.start({ version: '4.3.1' }),
  ])
  const { bootstrap } = cluster
  const source = openSource(cluster)
  await opened.add(Promise.resolve({ close: () => source.close() }))
  const topics = [{ name: 'moved', replicationFactor: 2, configs: { 'min.insync.replicas': '1' } }]
  const { moved: topicId } = await driver.call<{ moved: Uuid }>('create-topics', { bootstrap, topics })
  const sink = new CollectingSink({ topicId })
  source.fetcher.start('moved', 0, sink)
  const produce = () => driver.call('produce', { bootstrap, topic: 'moved', batch: 100, generate: { count: 1000 } })
  await produce()
  await eventually(() => strictEqual(sink.offset, 1000))
  const leader = (await source.describeTopics(['moved']))[0]?.partitions[0]?.leader ?? -1
  const epoch = sink.batches.at(-1)?.leaderEpoch ?? -1
  await cluster.node(leader).kill()
  await produce()
  await eventually(() => strictEqual(sink.offset, 2000))
  const other = leader === 1 ? 2 : 1
  ok((await segmentBytes(cluster, other, 'moved-0')).equals(sink.bytes))
  ok((sink.batches.at(-1)?.leaderEpoch ?? -1) > epoch)
  deepStrictEqual(sink.epochEnds.at(-1), { requestedEpoch: epoch, epoch, endOffset: 1000 })
  strictEqual(
    sink.troubles.every(trouble => trouble.kind === 'unreachable'),
    true,
  )
  await cluster.node(leader).start()
  await produce()
  await eventually(() => strictEqual(sink.offset, 3000))
})

interface Scene {
  readonly cluster: KafkaCluster
  readonly driver: JavaDriver
  readonly source: SourceCluster
}

const scenes = new Map<string, Promise<Scene>>()

/** One combined node per version, shared by its tests. */
function scene(version: '4.3.1' | '3.9.2'): Promise<Scene> {
  const known = scenes.get(version)
  if (known) return known
  const starting = (async () => {
    const [cluster, driver] = await opened.all<[KafkaCluster, JavaDriver]>([
      KafkaCluster.start({ version }),
      JavaDriver.start({ version }),
    ])
    const source = openSource(cluster)
    await opened.add(Promise.resolve({ close: () => source.close() }))
    return { cluster, driver, source }
  })()
  scenes.set(version, starting)
  return starting
}

/** The whole partition of topic `bytes` through readBatches. */
async function readWhole(source: SourceCluster, partition: number, end: number): Promise<Buffer> {
  const sink = new CollectingSink({})
  while (sink.offset < end) {
    const records = await source.readBatches('bytes', partition, { offset: sink.offset, maxBytes: 1 << 20 })
    ok(records.length > 0)
    sink.take(records)
  }
  return sink.bytes
}
