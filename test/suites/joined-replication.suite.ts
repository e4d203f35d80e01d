/** Replicas of a joined node in complete Apache Kafka: it leads for Java followers, follows Java leaders and other nodes, and keeps every replica equal. */
import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { type BatchInput, buildBatch } from '../../src/protocol/batches/build-batch.ts'
import { buildEndMarker } from '../../src/protocol/batches/control-batch.ts'
import type { MirrorPartition } from '../../src/replica/mirror-partition.ts'
import { eventually } from '../eventually.ts'
import { JavaDriver } from '../java/driver.ts'
import { JoinedReplicaNode } from '../joined-replica-node.ts'
import { KafkaCluster } from '../kafka/cluster.ts'
import { Opened } from '../opened.ts'
import { skipWithout } from '../requirements.ts'
import { dumpLog } from '../scenarios/logs.ts'
import { TopicSide } from '../scenarios/topic-side.ts'

const skip = skipWithout('java')
const opened = new Opened()
after(() => opened.close())

/** With `3.9.2` the same is tried on that version. */
const VERSION = process.env['LOCKSTEP_REPLICATION_KAFKA'] === '3.9.2' ? '3.9.2' : '4.3.1'
/** A follower is out of the ISR long before the session of its broker ends. */
const LAG_MS = '3000'
const session = { 'broker.session.timeout.ms': '15000', 'broker.heartbeat.interval.ms': '1000' }

interface Stage {
  readonly cluster: KafkaCluster
  readonly driver: JavaDriver
  readonly folder: string
  /** What the cluster's clients see. */
  readonly side: TopicSide
  /** Its present life. */
  node: JoinedReplicaNode
}

let shared: Promise<Stage> | undefined

/** One cluster and one node for all tests of this suite. */
function stage(): Promise<Stage> {
  shared ??= prepare()
  return shared
}

async function prepare(): Promise<Stage> {
  const folder = await mkdtemp(join(tmpdir(), 'lockstep-replication-'))
  await opened.add(Promise.resolve({ close: () => rm(folder, { recursive: true, force: true }) }))
  const properties = { ...session, 'replica.lag.time.max.ms': LAG_MS }
  const [cluster, driver] = await opened.all([
    KafkaCluster.start({ version: VERSION, brokers: 2, properties }),
    JavaDriver.start({ version: '4.3.1' }),
  ])
  const side = new TopicSide(driver, { bootstrap: cluster.bootstrap, dataDirectory: cluster.node(1).dataDirectory })
  const scene = { cluster, driver, folder, side, node: await startNode({ cluster, folder }, 1001) }
  await opened.add(Promise.resolve({ close: () => scene.node.close() }))
  return scene
}

const startNode = ({ cluster, folder }: Pick<Stage, 'cluster' | 'folder'>, nodeId: number, port?: number) =>
  JoinedReplicaNode.start({
    cluster,
    nodeId,
    directory: join(folder, String(nodeId)),
    file: new Map([['replica.lag.time.max.ms', LAG_MS]]),
    ...(port === undefined ? {} : { port }),
  })

/** The replicas in one data directory, as DumpLogSegments sees them. */
const sideOf = ({ driver, cluster }: Stage, dataDirectory: string) =>
  new TopicSide(driver, { bootstrap: cluster.bootstrap, dataDirectory })

/** Waits until every follower has what the node has, and holds the dumps against each other: all but the leader epoch is equal. */
async function assertReplicasEqual(scene: Stage, topic: string, options: { fromOffset?: number } = {}): Promise<void> {
  const { cluster, folder, node } = scene
  // What clients were acknowledged by the leader before it, a new one has a moment before it leads.
  const partition = await eventually(() => node.partition(topic))
  await eventually(() => {
    const { logEndOffset } = partition.log
    deepStrictEqual(new Set(partition.followerEnds.values()), new Set([logEndOffset]))
    strictEqual(partition.highWatermark, logEndOffset)
  })
  await partition.log.flush()
  const ours = await dumpLog(sideOf(scene, join(folder, '1001/data')), topic, options)
  ok(ours.length > 0)
  for (const broker of cluster.brokers) {
    const theirs = sideOf(scene, broker.dataDirectory)
    await eventually(async () => deepStrictEqual(await dumpLog(theirs, topic, options), ours))
  }
}

/** Waits until the metadata says that this broker leads, with that ISR. */
const led = (node: JoinedReplicaNode, topic: string, as: { readonly by: number; readonly isr: readonly number[] }) =>
  eventually(() => {
    const { leader, isr } = node.placed(topic)
    deepStrictEqual({ by: leader, isr: [...isr].sort() }, { by: as.by, isr: [...as.isr].sort() })
  })

const produce = ({ side }: Stage, topic: string, count = 20) =>
  side.produce(topic, { batch: 5, generate: { count, valueBytes: 100 } })

test('what clients produce to a topic led by the node is on every Java replica', { skip }, async () => {
  const scene = await stage()
  await scene.side.createTopic('produced', { assignments: [[1001, 1, 2]] })
  for (const codec of ['none', 'zstd'] as const)
    await scene.side.produce('produced', { codec, batch: 10, generate: { count: 50, valueBytes: 100 } })
  strictEqual(scene.node.partition('produced').highWatermark, 100)
  await assertReplicasEqual(scene, 'produced')
})

const START = 1_000_000_007

function batch(baseOffset: number, count: number, more: Partial<BatchInput> = {}): Buffer {
  const records = Array.from({ length: count }, (_, i) => ({
    timestamp: 1_700_000_000_000n + BigInt(i),
    key: Buffer.from(`key ${i}`),
    value: Buffer.from(`value ${baseOffset + i}`),
  }))
  return buildBatch({ baseOffset, records, ...more })
}

/** Appends one batch after the other. */
async function mirrored(mirror: MirrorPartition, batches: readonly Buffer[]): Promise<void> {
  for (const one of batches) {
    const { logEndOffset: endOffset, leaderEpoch } = mirror.state()
    await mirror.append(one, { endOffset, leaderEpoch })
  }
}

test('a mirror that begins inside a batch at a high offset, with holes and an aborted transaction, is on every Java replica as it is', {
  skip,
}, async () => {
  const scene = await stage()
  const { side, node } = scene
  await side.createTopic('mirrored', { assignments: [[1001, 1, 2]], configs: { 'retention.ms': '-1' } })
  await led(node, 'mirrored', { by: 1001, isr: [1001, 1, 2] })
  // The metadata is there a moment before the log.
  const mirror = await eventually(async () => node.mirror('mirrored'))
  await mirror.startAt(START)
  const transaction = { producerId: 7n, producerEpoch: 0, baseSequence: 0, transactional: true }
  const marker = { type: 'abort', producerId: 7n, producerEpoch: 0, coordinatorEpoch: 0, leaderEpoch: 0 } as const
  await mirrored(mirror, [
    batch(START - 5, 10),
    batch(START + 505, 3),
    batch(START + 508, 4, transaction),
    batch(START + 512, 2, { compression: 'lz4' }),
    buildEndMarker({ ...marker, offset: START + 514, timestamp: 1_700_000_000_000n }),
    // Further away than one segment can express.
    batch(START + 3_000_000_000, 2),
  ])
  await assertReplicasEqual(scene, 'mirrored')
  const [consumed] = Object.values(await side.consume('mirrored', { isolation: 'read_committed', from: START }))
  deepStrictEqual(
    consumed?.records.map(([offset]) => offset - START),
    [0, 1, 2, 3, 4, 505, 506, 507, 512, 513, 3_000_000_000, 3_000_000_001],
  )
  // The source trims: followers drop what is below, and go on.
  await mirror.raiseLogStart(START + 508)
  await mirrored(mirror, [batch(START + 3_000_000_002, 5)])
  await assertReplicasEqual(scene, 'mirrored', { fromOffset: START + 508 })
})

test('a follower that hangs leaves the ISR, the high watermark goes on without it, and it comes back', {
  skip,
}, async () => {
  const scene = await stage()
  const { side, node, cluster } = scene
  await side.createTopic('shrinking', { assignments: [[1001, 1, 2]] })
  await produce(scene, 'shrinking')
  await led(node, 'shrinking', { by: 1001, isr: [1001, 1, 2] })
  cluster.node(2).freeze()
  try {
    await led(node, 'shrinking', { by: 1001, isr: [1001, 1] })
    const mirror = node.mirror('shrinking')
    await mirrored(mirror, [batch(20, 10)])
    await eventually(() => strictEqual(node.partition('shrinking').highWatermark, 30))
  } finally {
    cluster.node(2).thaw()
  }
  await led(node, 'shrinking', { by: 1001, isr: [1001, 1, 2] })
  await assertReplicasEqual(scene, 'shrinking')
})

test('after a crash of the node others lead, another Lockstep node first; it comes back as a follower, is in sync and leads again', {
  skip,
}, async () => {
  const scene = await stage()
  const { side, folder } = scene
  const second = await opened.add(startNode(scene, 1002))
  await side.createTopic('returning', { assignments: [[1001, 1, 2]] })
  await side.createTopic('handed', { assignments: [[1001, 1002, 1, 2]] })
  const topics = ['returning', 'handed']
  for (const topic of topics) await produce(scene, topic)
  for (const topic of topics) await mirrored(scene.node.mirror(topic), [batch(20, 10)])
  await led(second, 'returning', { by: 1001, isr: [1001, 1, 2] })
  await led(second, 'handed', { by: 1001, isr: [1001, 1002, 1, 2] })
  await eventually(() => strictEqual(second.replica('handed').highWatermark, 30))

  const { port } = scene.node
  await scene.node.crash()
  await led(second, 'returning', { by: 1, isr: [1, 2] })
  await led(second, 'handed', { by: 1002, isr: [1002, 1, 2] })
  for (const topic of topics) await produce(scene, topic)
  strictEqual(second.partition('handed').log.logEndOffset, 50)

  scene.node = await startNode({ ...scene, folder }, 1001, port)
  await led(scene.node, 'returning', { by: 1, isr: [1001, 1, 2] })
  await led(scene.node, 'handed', { by: 1002, isr: [1001, 1002, 1, 2] })
  await eventually(() => {
    for (const topic of topics) strictEqual(scene.node.replica(topic).highWatermark, 50)
  })
  const elected = await scene.node.client.controller.cluster.electLeaders(
    'preferred',
    topics.map(topic => ({ topic, partition: 0 })),
  )
  deepStrictEqual(
    elected.map(({ errorCode }) => errorCode),
    [0, 0],
  )
  for (const topic of topics) {
    await produce(scene, topic)
    await assertReplicasEqual(scene, topic)
  }
  const ours = await dumpLog(sideOf(scene, join(folder, '1001/data')), 'handed')
  await eventually(async () => deepStrictEqual(await dumpLog(sideOf(scene, join(folder, '1002/data')), 'handed'), ours))
})
