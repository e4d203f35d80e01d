/** Clients of every kind that know only the Lockstep node of an Apache Kafka cluster: they read its mirrors from the Kafka brokers, work in groups, administer, and stay across a promote. */
import { deepStrictEqual, match, ok, rejects, strictEqual } from 'node:assert/strict'
import { after, test } from 'node:test'
import type { BrokerConnection } from '../../src/network/broker-connection.ts'
import { errorName } from '../../src/protocol/errors.ts'
import { FetchApi } from '../../src/protocol/messages/01-fetch.ts'
import { MetadataApi } from '../../src/protocol/messages/03-metadata.ts'
import { FindCoordinatorApi } from '../../src/protocol/messages/10-find-coordinator.ts'
import { CreateTopicsApi } from '../../src/protocol/messages/19-create-topics.ts'
import { InitProducerIdApi } from '../../src/protocol/messages/22-init-producer-id.ts'
import { DescribeClusterApi } from '../../src/protocol/messages/60-describe-cluster.ts'
import { DescribeTopicPartitionsApi } from '../../src/protocol/messages/75-describe-topic-partitions.ts'
import type { ClientReader } from '../clients/client-record.ts'
import { confluentReader } from '../clients/confluent.ts'
import { askBroker } from '../clients/direct.ts'
import {
  confluentGroupReader,
  type GroupReader,
  kafkaJsGroupReader,
  kcatGroupReader,
  platformaticGroupReader,
} from '../clients/group-reader.ts'
import { javaReader } from '../clients/java.ts'
import { kcatReader } from '../clients/kcat.ts'
import { eventually } from '../eventually.ts'
import { JavaError } from '../java/driver.ts'
import { skipWithout, type Tool } from '../requirements.ts'
import { type ClientsStage, RECORDS, startClientsStage, TOPIC } from '../scenarios/clients-stage.ts'

const skip = skipWithout('java')
let started: Promise<ClientsStage> | undefined
after(async () => (await started?.catch(() => undefined))?.close())

function stage(): Promise<ClientsStage> {
  started ??= startClientsStage()
  return started
}

const readers: readonly { name: string; needs: readonly Tool[]; reader: (on: ClientsStage) => ClientReader }[] = [
  { name: 'Java', needs: ['java'], reader: ({ java }) => javaReader(java) },
  { name: 'kcat', needs: ['java', 'kcat'], reader: () => kcatReader },
  { name: 'confluent-kafka', needs: ['java', 'python'], reader: () => confluentReader },
]

for (const { name, needs, reader } of readers)
  test(`${name} is sent to the Kafka brokers, and reads a mirror there to the last record`, {
    skip: skipWithout(...needs),
  }, async () => {
    const on = await stage()
    const before = await on.reads()
    const expected = await reader(on).read(on.source, TOPIC, 'read_committed')
    strictEqual(expected.length, RECORDS)
    // A Kafka broker that has a record lets clients read it once the next answer of its leader has told it to.
    await eventually(async () => deepStrictEqual(await reader(on).read(on.node, TOPIC, 'read_committed'), expected))
    const { redirected, served } = await on.reads()
    ok(redirected > before.redirected)
    strictEqual(served, before.served)
  })

const groupReaders: readonly { reader: GroupReader; needs: readonly Tool[] }[] = [
  { reader: kcatGroupReader, needs: ['java', 'kcat'] },
  { reader: confluentGroupReader, needs: ['java', 'python'] },
  { reader: kafkaJsGroupReader, needs: ['java'] },
  { reader: platformaticGroupReader, needs: ['java'] },
]

for (const { reader, needs } of groupReaders)
  test(`${reader.name} reads a mirror in a group of the Kafka brokers that it found through the node`, {
    skip: skipWithout(...needs),
  }, async () => {
    const on = await stage()
    const group = `group-of-${reader.name.replaceAll(/[^a-z-]/gi, '')}`
    const before = await on.reads()
    const seen = await reader.read({ bootstrap: on.node.bootstrap, topic: TOPIC, group, count: RECORDS })
    strictEqual(new Set(seen).size, RECORDS)
    ok((await on.reads()).redirected > before.redirected)
  })

for (const protocol of ['classic', 'consumer'])
  test(`Java consumers share a mirror in a group of the ${protocol} protocol, and commit`, { skip }, async () => {
    const { java, node } = await stage()
    const ids = [1, 2].map(index => `${protocol}-${index}`)
    const ask = <T>(id: string, op: string, args: object = {}) => java.call<T>('consumer', { id, op, ...args })
    const properties = { 'group.id': `java-${protocol}`, 'group.protocol': protocol }
    for (const id of ids) {
      await ask(id, 'open', { bootstrap: node.bootstrap, properties })
      await ask(id, 'subscribe', { topics: [TOPIC] })
    }
    await eventually(async () => {
      for (const id of ids) strictEqual((await ask<{ assignment: string[] }>(id, 'state')).assignment.length, 1)
    })
    const seen = new Set<string>()
    await eventually(async () => {
      for (const id of ids)
        for (const [partition, offset] of await ask<[string, number][]>(id, 'take')) seen.add(`${partition}:${offset}`)
      strictEqual(seen.size, RECORDS)
    })
    const partitions = [`${TOPIC}-0`, `${TOPIC}-1`]
    for (const id of ids) await ask(id, 'commit')
    const committed = await ask<Record<string, [number, string] | null>>(ids[0] ?? '', 'committed', { partitions })
    strictEqual(
      partitions.reduce((sum, partition) => sum + (committed[partition]?.[0] ?? 0), 0),
      RECORDS,
    )
    for (const id of ids) await ask(id, 'close')
  })

test('who does not follow is served, and so is whoever speaks an old version', { skip }, async () => {
  const on = await stage()
  const wanted = { partition: 0, fetchOffset: 0n, partitionMaxBytes: 1 << 20 }
  const fields = { maxWaitMs: 100, minBytes: 1, maxBytes: 1 << 20 }
  const request = { ...fields, topics: [{ topic: TOPIC, partitions: [wanted] }], forgottenTopicsData: [] }
  await askBroker(on.node.bootstrap, async connection => {
    const ask = async (version: number) => {
      const { response } = await connection.send(FetchApi, request, { version })
      const [one] = response.responses[0]?.partitions ?? []
      strictEqual(one?.errorCode, 0)
      return { sentTo: one.preferredReadReplica, bytes: one.records?.length ?? 0 }
    }
    const first = await ask(12)
    ok([1, 2].includes(first.sentTo))
    strictEqual(first.bytes, 0)
    const again = await ask(12)
    strictEqual(again.sentTo, -1)
    ok(again.bytes > 0)
    deepStrictEqual(await ask(10), again)
    deepStrictEqual(await ask(4), again)
  })
  ok((await on.reads()).served > 0)
})

test('offsets by time are those of the source', { skip }, async () => {
  const { java, node, source } = await stage()
  const timestamps = [0, 1_700_000_010_500, 1_800_000_000_000]
  for (const partition of [0, 1]) {
    const ask = ({ bootstrap }: { bootstrap: string }) =>
      java.call('offsets-for-times', { bootstrap, topic: TOPIC, partition, timestamps })
    deepStrictEqual(await ask(node), await ask(source))
  }
})

/** What a broker says of the cluster; Kafka names any broker as the controller. */
const clusterSeenBy = (address: string) =>
  askBroker(address, async connection => {
    const byId = <T extends { nodeId?: number; brokerId?: number }>(brokers: readonly T[]) =>
      brokers.toSorted((a, b) => (a.nodeId ?? a.brokerId ?? 0) - (b.nodeId ?? b.brokerId ?? 0))
    const { response: metadata } = await connection.send(MetadataApi, { topics: null }, { version: 12 })
    const { response: cluster } = await connection.send(DescribeClusterApi, {
      includeClusterAuthorizedOperations: true,
      endpointType: 1,
    })
    const { response: topics } = await connection.send(DescribeTopicPartitionsApi, {
      topics: [{ name: TOPIC }],
      cursor: null,
    })
    const keys = Array.from({ length: 12 }, (_, index) => `key-${index}`)
    const coordinators = []
    for (const keyType of [0, 1]) {
      const { response } = await connection.send(FindCoordinatorApi, { keyType, coordinatorKeys: keys })
      coordinators.push(...response.coordinators.map(({ errorMessage: _, ...found }) => ({ ...found, keyType })))
    }
    return {
      metadata: {
        ...metadata,
        controllerId: -1,
        brokers: byId(metadata.brokers),
        topics: metadata.topics.toSorted((a, b) => (a.name ?? '').localeCompare(b.name ?? '')),
      },
      cluster: { ...cluster, controllerId: -1, brokers: byId(cluster.brokers) },
      topics,
      coordinators,
    }
  })

test('the node tells of cluster, topics and coordinators what the Kafka brokers tell', { skip }, async () => {
  const { node, cluster } = await stage()
  await eventually(async () => {
    const ours = await clusterSeenBy(node.bootstrap)
    deepStrictEqual(ours, await clusterSeenBy(cluster.node(1).address))
    for (const { errorCode, nodeId } of ours.coordinators) deepStrictEqual([errorCode, nodeId < 1000], [0, true])
  })
})

test('producer ids of the node are nobody else’s', { skip }, async () => {
  const { node, cluster } = await stage()
  const given = new Set<bigint>()
  for (const address of [node.bootstrap, cluster.node(1).address, node.bootstrap])
    await askBroker(address, connection =>
      eventually(async () => {
        const request = { transactionalId: null, transactionTimeoutMs: 60_000 }
        const { response } = await connection.send(InitProducerIdApi, request)
        strictEqual(response.errorCode, 0)
        given.add(response.producerId)
      }),
    )
  strictEqual(given.size, 3)
})

test('what the controller decides the node passes on, and tells the answer', { skip }, async () => {
  const on = await stage()
  const before = await on.figure('requests_forwarded')
  const plan = { numPartitions: 3, replicationFactor: 2, assignments: [], configs: [] }
  const ask = (name: string) =>
    askBroker(on.node.bootstrap, async connection => {
      const { response } = await connection.send(CreateTopicsApi, { topics: [{ name, ...plan }] }, { version: 7 })
      return response.topics.map(({ errorCode, numPartitions }) => [errorName(errorCode), numPartitions])
    })
  deepStrictEqual(await ask('made-here'), [['NONE', 3]])
  deepStrictEqual(await ask('made-here'), [['TOPIC_ALREADY_EXISTS', -1]])
  strictEqual(await on.figure('requests_forwarded'), before + 2)
})

test("Kafka's tools work at the node", { skip }, async () => {
  const on = await stage()
  const topics = 'org.apache.kafka.tools.TopicCommand'
  const configs = 'kafka.admin.ConfigCommand'
  await on.tool(topics, ['--create', '--topic', 'made-by-tool', '--partitions', '3', '--replication-factor', '2'])
  await eventually(async () =>
    match(await on.tool(topics, ['--describe', '--topic', 'made-by-tool']), /PartitionCount: 3\tReplicationFactor: 2/),
  )
  const described = await on.tool(topics, ['--describe', '--topic', TOPIC])
  match(described, /Leader: 1001\tReplicas: 1001,[12],[12]\tIsr: 1001,[12],[12]/)
  const ofTopic = ['--entity-type', 'topics', '--entity-name', 'made-by-tool']
  await on.tool(configs, [...ofTopic, '--alter', '--add-config', 'retention.ms=12345'])
  await eventually(async () => match(await on.tool(configs, [...ofTopic, '--describe']), /retention.ms=12345/))
  const ofNode = ['--entity-type', 'brokers', '--entity-name', '1001']
  await on.tool(configs, [...ofNode, '--alter', '--add-config', 'log.cleaner.backoff.ms=20000'])
  await eventually(async () => match(await on.tool(configs, [...ofNode, '--describe']), /backoff.ms=20000/))
  match(await on.tool('org.apache.kafka.tools.consumer.group.ConsumerGroupCommand', ['--list']), /group-of-KafkaJS/)
  match(await on.tool('org.apache.kafka.tools.MetadataQuorumCommand', ['describe', '--status']), /LeaderId:\s+100/)
  match(await on.tool('org.apache.kafka.tools.LogDirsCommand', ['--describe']), /"broker":1001/)
  match(await on.tool('org.apache.kafka.tools.BrokerApiVersionsCommand', []), /id: 1001/)
  await on.tool(topics, ['--delete', '--topic', 'made-by-tool'])
})

test('a quota that is set through the node holds there', { skip }, async () => {
  const on = await stage()
  const ask = (...what: string[]) =>
    on.tool('kafka.admin.ConfigCommand', ['--entity-type', 'clients', '--entity-name', 'suite', ...what])
  await ask('--alter', '--add-config', 'request_percentage=0.001')
  await eventually(async () => match(await ask('--describe'), /request_percentage=0.001/))
  const metadata = async (at: BrokerConnection) => (await at.send(MetadataApi, { topics: null })).response
  await eventually(async () => ok((await askBroker(on.node.bootstrap, metadata)).throttleTimeMs > 0))
  await ask('--alter', '--delete-config', 'request_percentage')
})

test('a mirror takes no records of clients, a topic of the Kafka brokers those of an idempotent producer', {
  skip,
}, async () => {
  const { java, node } = await stage()
  const { bootstrap } = node
  const properties = { 'max.block.ms': '20000', 'delivery.timeout.ms': '20000', 'request.timeout.ms': '10000' }
  await rejects(
    java.call('produce', { bootstrap, topic: TOPIC, records: [{ value: 'no' }], properties }),
    (error: unknown) => error instanceof JavaError && /PolicyViolation/.test(error.javaClass),
  )
  await java.call('create-topics', { bootstrap, topics: [{ name: 'plain', partitions: 1, replicationFactor: 2 }] })
  await java.call('produce', { bootstrap, topic: 'plain', idempotent: true, acks: 'all', records: [{ value: 'yes' }] })
  strictEqual((await javaReader(java).read({ bootstrap }, 'plain', 'read_committed')).length, 1)
})

test('a share consumer that subscribed to a mirror stays, and has its first record after the promote', {
  skip,
}, async () => {
  const { java, node, cluster, link, tool } = await stage()
  const groups = 'org.apache.kafka.tools.consumer.group.ShareGroupCommand'
  const ask = <T>(op: string, args: object = {}) => java.call<T>('share-consumer', { id: 'sharing', op, ...args })
  const { bootstrap } = node
  await java.call('admin-topics', {
    ...{ bootstrap, op: 'alter', type: 'group', name: 'sharing' },
    ops: [['SET', 'share.auto.offset.reset', 'earliest']],
  })
  await ask('open', { bootstrap, properties: { 'group.id': 'sharing' } })
  await ask('subscribe', { topics: [TOPIC] })
  // It polls: it joins its group, is given the partitions, and is told why there is nothing.
  deepStrictEqual(await ask('take', { count: 1, seconds: 3 }), [])
  await eventually(async () => {
    deepStrictEqual(await ask('take', { count: 1, seconds: 1 }), [])
    match(await tool(groups, ['--describe', '--members', '--group', 'sharing']), new RegExp(TOPIC))
  })
  type Row = readonly [partition: string, offset: number, value: string]
  const taken = ask<Row[]>('take', { count: 1, seconds: 120 })
  await link.must('promote', [TOPIC])
  await link.waitForStatus(TOPIC, 'STOPPED')
  const stoppedMs = performance.now()
  const first = await taken
  const tookMs = performance.now() - stoppedMs
  ok(tookMs < 30_000, `${tookMs} ms`)
  const rows = [...first, ...(await ask<Row[]>('take', { count: RECORDS - first.length }))]
  strictEqual(new Set(rows.map(([partition, offset]) => `${partition}:${offset}`)).size, RECORDS)
  await java.call('produce', {
    bootstrap: cluster.bootstrap,
    topic: TOPIC,
    partition: 0,
    records: [{ value: 'after' }],
  })
  const [last] = await ask<Row[]>('take', { count: 1 })
  strictEqual(last?.[2], 'after')
  await ask('close')
})
