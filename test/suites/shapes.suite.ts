/** The shapes in which links are used (semantics §9), with real processes: fan-out, chains, loops, aggregation, edge to centre, compaction. */
import { deepStrictEqual, match, ok, rejects, strictEqual } from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { kafkaJsGroupReader } from '../clients/group-reader.ts'
import { readTopicsByPattern } from '../clients/kafkajs.ts'
import { eventually } from '../eventually.ts'
import { sourceVersion } from '../kafka/jars.ts'
import { skipWithout } from '../requirements.ts'
import { fillCompacted } from '../scenarios/compacted-topic.ts'
import { assertEqualReads, assertEqualTopics, type Sides, waitUntilInStep } from '../scenarios/equality.ts'
import type { MirrorLink } from '../scenarios/mirror-link.ts'
import { type ShapeCluster, type ShapesWorld, startShapesWorld } from '../scenarios/shapes-world.ts'

const skip = skipWithout('java')
const quick = { 'metadata.max.age.ms': '1000', 'topic.config.sync.ms': '1000' }
const groups = {
  'consumer.offset.sync.enable': 'true',
  'consumer.offset.sync.ms': '1000',
  'consumer.offset.group.filters': JSON.stringify({
    groupFilters: [{ name: 'chain-', patternType: 'PREFIXED', filterType: 'INCLUDE' }],
  }),
}
let world: ShapesWorld
/** From Kafka to each node, and from the first node to the second. */
let links: { readonly toFirst: MirrorLink; readonly toSecond: MirrorLink; readonly chained: MirrorLink }

before(async () => {
  if (skip !== false) return
  world = await startShapesWorld(sourceVersion())
  const { kafka, first, second } = world
  links = {
    toFirst: await first.linkTo(kafka, 'from-kafka', { ...quick, ...groups }),
    toSecond: await second.linkTo(kafka, 'from-kafka', quick),
    chained: await second.linkTo(first, 'from-first', { ...quick, ...groups }),
  }
})
after(() => world?.close())

const between = (source: ShapeCluster, { side: mirror, replicas }: ShapeCluster): Sides => ({
  source: source.side,
  mirror,
  replicas,
})

/** Records of every kind: plain, compressed, committed and aborted. */
async function fill({ side }: ShapeCluster, topic: string, id: string): Promise<void> {
  for (const partition of [0, 1]) await side.produce(topic, { partition, generate: { count: 40, valueBytes: 100 } })
  await side.produce(topic, { codec: 'gzip', batch: 10, generate: { count: 40, keys: 10 } })
  for (const end of ['commit', 'abort'] as const)
    await side.produce(topic, { transaction: { id: `${topic}-${id}-${end}`, end }, generate: { count: 10 } })
}

test('a topic that is mirrored to two clusters is the same in both', { skip }, async () => {
  const { kafka, first, second } = world
  await kafka.side.createTopic('fanned', { partitions: 2 })
  await fill(kafka, 'fanned', 'a')
  await links.toFirst.mirror('fanned')
  await links.toSecond.mirror('fanned')
  await fill(kafka, 'fanned', 'b')
  for (const mirror of [first, second]) await assertEqualTopics(between(kafka, mirror), 'fanned')
})

test('a chain of three clusters holds the same through kills, with its groups, and each end is promoted by itself', {
  skip,
}, async () => {
  const { kafka, first, second } = world
  const topic = 'chained'
  await kafka.side.createTopic(topic, { partitions: 2, configs: { 'retention.ms': '86400001' } })
  await fill(kafka, topic, 'a')
  await links.toFirst.mirror(topic)
  // Brokers between the two may hear of it a moment later.
  await eventually(() => links.chained.mirror(topic))
  // KafkaJS takes a coordinator that is just loading for an error of its own.
  const { bootstrap } = kafka
  await eventually(() => kafkaJsGroupReader.read({ bootstrap, topic, group: 'chain-readers', count: 20 }))
  await first.node.crash()
  await fill(kafka, topic, 'b')
  await assertEqualTopics(between(kafka, second), topic)
  await eventually(async () => {
    const { configs } = await second.side.describe(topic)
    strictEqual(configs['retention.ms'], '86400001')
  })
  await eventually(async () => {
    const groupRows = (await second.node.rest.call('GET', '/links/from-first/groups')) as {
      data: { group_id: string; state: string; synced_offset: number | null; source_offset: number }[]
    }
    const rows = groupRows.data.filter(({ group_id: group }) => group === 'chain-readers')
    ok(rows.length > 0 && rows.every(row => row.state === 'SYNCED' && row.synced_offset === row.source_offset))
    strictEqual(
      rows.reduce((sum, row) => sum + row.source_offset, 0) >= 20,
      true,
      'what was read at the origin is known at the end of the chain',
    )
  })
  await links.toFirst.must('promote', [topic])
  await links.toFirst.waitForStatus(topic, 'STOPPED')
  await eventually(() => fill(first, topic, 'of-first'))
  await first.node.stop()
  await first.node.start()
  await assertEqualTopics(between(first, second), topic)
  await links.chained.must('promote', [topic])
  await links.chained.waitForStatus(topic, 'STOPPED')
  await assertEqualReads(between(first, second), topic)
  await second.side.produce(topic, { generate: { count: 5 }, properties: { 'enable.idempotence': 'true' } })
})

test('a topic is not mirrored back to where it came from, until the mirror there has ended', { skip }, async () => {
  const { first, second } = world
  await first.side.createTopic('ring')
  await first.side.produce('ring', { generate: { count: 10 } })
  await links.chained.mirror('ring')
  await waitUntilInStep(between(first, second), 'ring')
  // What it is a mirror of is published a moment after it is one.
  await eventually(async () => {
    const published = await second.side.consume('__lockstep_status', { content: true })
    match(JSON.stringify(published[0]?.records), /ring/)
  })
  await first.side.deleteTopic('ring')
  const back = await first.linkTo(second, 'from-second', quick)
  await rejects(back.mirror('ring'), /would be a mirror of itself: its source is a mirror of ring of cluster/)
  await links.chained.failOver(['ring'])
  await eventually(() => back.mirror('ring'))
  await waitUntilInStep(between(second, first), 'ring')
})

test('what a cluster mirrors is published for clients to read and for nobody to write', { skip }, async () => {
  const { first } = world
  // Who leads it may change at any moment, its node has just come back.
  await eventually(async () => {
    const published = await first.side.consume('__lockstep_status', { content: true })
    ok((published[0]?.records.length ?? 0) > 0, JSON.stringify(published))
  })
  // Among Kafka brokers nodes write it as clients do, and so may whoever has the right.
  if (first.isJoined) return
  const refused = await first.side
    .produce('__lockstep_status', { records: [{ key: 'a', value: 'b' }] })
    .catch(error => error)
  match(String(refused), /PolicyViolation/)
})

test('two clusters are gathered in one under prefixes, and read there with one pattern', { skip }, async () => {
  const { kafka, first, second } = world
  const clusters = [
    { remote: kafka, prefix: 'west.' },
    { remote: first, prefix: 'east.' },
  ]
  for (const { remote, prefix } of clusters) {
    await remote.side.createTopic('sales')
    await remote.side.produce('sales', { records: [{ key: 'k', value: `of ${prefix}` }] })
    const link = await second.linkTo(remote, `gather-${prefix}`, { ...quick, 'cluster.link.prefix': prefix })
    await link.mirror('sales')
  }
  const { bootstrap } = second
  const expected = ['east.sales: of east.', 'west.sales: of west.']
  await eventually(async () => {
    const values = await readTopicsByPattern({ bootstrap, pattern: /^.*\.sales$/, count: 2 })
    deepStrictEqual(values.sort(), expected)
  })
})

test('the centre keeps what the edge has removed, by a retention of its own', { skip }, async () => {
  const { kafka, second } = world
  const include = 'delete.retention.ms,min.compaction.lag.ms,max.compaction.lag.ms'
  const link = await second.linkTo(kafka, 'from-edge', {
    ...quick,
    'cluster.link.prefix': 'edge-',
    'topic.config.sync.include': include,
  })
  await kafka.side.createTopic('readings', { configs: { 'retention.ms': '60000' } })
  await kafka.side.produce('readings', { batch: 10, generate: { count: 100 } })
  await link.mirror('readings', { 'retention.ms': '31536000000' })
  const centre = async () => (await second.side.describe('edge-readings')).partitions[0]
  await eventually(async () => strictEqual((await centre())?.highWatermark, 100))
  await kafka.side.deleteRecords('readings', { 0: 90 })
  await kafka.side.produce('readings', { generate: { count: 10 } })
  await eventually(async () => strictEqual((await centre())?.highWatermark, 110))
  strictEqual((await kafka.side.describe('readings')).partitions[0]?.logStart, 90)
  strictEqual((await centre())?.logStart, 0)
  strictEqual((await second.side.consume('edge-readings'))[0]?.records.length, 110)
  strictEqual((await second.side.describe('edge-readings')).configs['retention.ms'], '31536000000')
})

test('a compacted topic stays compacted through a chain', { skip }, async () => {
  const { kafka, first, second } = world
  const configs = { 'cleanup.policy': 'compact', 'segment.ms': '1000', 'min.cleanable.dirty.ratio': '0.01' }
  await kafka.side.createTopic('table', { configs })
  await fillCompacted(kafka.side, 'table')
  await links.toFirst.mirror('table')
  await eventually(() => links.chained.mirror('table'))
  await assertEqualTopics(between(kafka, first), 'table')
  await assertEqualTopics(between(kafka, second), 'table')
  for (const { side } of [first, second])
    strictEqual((await side.describe('table')).configs['cleanup.policy'], 'compact')
})
