/** What goes wrong at a real source while others are mirrored: retention, deletions, topics that go or change, damage, pauses. */
import { deepStrictEqual, match, ok, strictEqual } from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { eventually } from '../eventually.ts'
import { sourceVersion } from '../kafka/jars.ts'
import { skipWithout } from '../requirements.ts'
import { lockstep } from '../scenarios/command-line.ts'
import { flipBit } from '../scenarios/damage.ts'
import { assertEqualReads, assertEqualTopics, waitUntilInStep } from '../scenarios/equality.ts'
import { MirrorLink } from '../scenarios/mirror-link.ts'
import { type MirrorWorld, startMirrorWorld } from '../scenarios/mirror-world.ts'
import type { TopicSide } from '../scenarios/topic-side.ts'

const skip = skipWithout('java')
const quick = {
  'cluster.link.retry.timeout.ms': '1500',
  'metadata.max.age.ms': '1000',
  'replica.fetch.backoff.ms': '100',
}
let world: MirrorWorld
/** Does not copy retention, so its mirrors keep what the source deletes. */
let archive: MirrorLink

before(async () => {
  if (skip !== false) return
  const properties = { 'log.retention.check.interval.ms': '200', 'log.initial.task.delay.ms': '200' }
  world = await startMirrorWorld(sourceVersion(), { properties, link: quick })
  const { cluster, node, link, sides } = world
  const configs = { ...quick, 'topic.config.sync.include': 'delete.retention.ms' }
  archive = await MirrorLink.create(node, 'archive', {
    bootstrap: cluster.bootstrap,
    clusterId: cluster.clusterId,
    configs,
  })
  await sides.source.createTopic('bystander')
  await link.mirror('bystander')
})
after(() => world?.close())

/** Whatever happens to other topics, this one goes on. */
async function bystanderFlows(): Promise<void> {
  await world.sides.source.produce('bystander', { generate: { count: 10 } })
  await waitUntilInStep(world.sides, 'bystander')
}

async function partitionOf(side: TopicSide, topic: string) {
  const [first] = (await side.describe(topic)).partitions
  ok(first)
  return { start: first.logStart, end: first.highWatermark }
}

const recordsOf = async (side: TopicSide, topic: string) => (await side.consume(topic))['0']?.records ?? []

async function incidents(kind: string): Promise<number> {
  const { body } = await world.node.rest.request('GET', '/metrics')
  return Number(new RegExp(`^lockstep_incidents_total\\{kind="${kind}"\\} (\\d+)$`, 'm').exec(String(body))?.[1])
}

/** The newest report of lost offsets, as [first, last, how many]. */
async function reportedLoss(link: MirrorLink, topic: string): Promise<number[]> {
  const entry = (await link.history(topic)).find(({ event }) => event === 'out_of_range')
  const numbers = /offsets (\d+) to (\d+) \((\d+)\)/.exec(entry?.reason ?? '') ?? []
  return numbers.slice(1).map(Number)
}

/** A mirror that kept its history: what it had, and behind a hole what the source has. */
async function assertKept(topic: string, had: Awaited<ReturnType<typeof recordsOf>>): Promise<void> {
  const { source, mirror } = world.sides
  const { end } = await partitionOf(source, topic)
  await eventually(async () => deepStrictEqual(await partitionOf(mirror, topic), { start: 0, end }))
  // Where the source's log starts inside a batch, the mirror shows the whole batch.
  const kept = await recordsOf(mirror, topic)
  const next = await recordsOf(source, topic)
  deepStrictEqual(kept.slice(0, had.length), had)
  deepStrictEqual(kept.slice(-next.length), next)
  ok(kept.length - had.length - next.length < 10, 'there is a hole')
}

test('retention overtakes paused mirrors: one follows it, one keeps its history, both report the hole', {
  skip,
}, async () => {
  const { sides, link, node } = world
  const { source, mirror } = sides
  const topics = ['expired', 'expired-kept'] as const
  const configs = { 'segment.bytes': '1048576', 'retention.ms': '-1' }
  for (const topic of topics) {
    await source.createTopic(topic, { configs })
    await source.produce(topic, { generate: { count: 100 } })
    await (topic === 'expired' ? link : archive).mirror(topic)
    await waitUntilInStep(sides, topic)
  }
  const had = await recordsOf(mirror, 'expired-kept')
  await link.must('pause', ['expired'])
  const paused = await lockstep(node, ['mirror', 'pause', 'expired-kept', '--link', 'archive'])
  strictEqual(paused.status, 0, paused.stderr)
  match(paused.stdout, /Mirror Topic Name +Partition +Partition Mirror Lag.*\n.*expired-kept +0 +0 +100/s)
  for (const topic of topics) {
    await source.produce(topic, { batch: 100, generate: { count: 3_000, valueBytes: 1_000, random: true } })
    await source.alterConfigs(topic, { 'retention.bytes': '1' })
  }
  for (const topic of topics) await eventually(async () => ok((await partitionOf(source, topic)).start > 1_000))
  for (const topic of topics) await source.alterConfigs(topic, { 'retention.bytes': '-1' })
  await bystanderFlows()
  for (const topic of topics) strictEqual((await partitionOf(mirror, topic)).end, 100)
  strictEqual((await link.describe('expired')).mirror_status, 'PAUSED')

  await archive.must('resume', ['expired-kept'])
  const resumed = await lockstep(node, ['mirror', 'resume', 'expired', '--link', link.name])
  strictEqual(resumed.status, 0, resumed.stderr)
  await assertEqualTopics(sides, 'expired')
  await assertKept('expired-kept', had)
  for (const [owner, topic] of [
    [link, 'expired'],
    [archive, 'expired-kept'],
  ] as const) {
    const { start } = await partitionOf(source, topic)
    deepStrictEqual(await reportedLoss(owner, topic), [100, start - 1, start - 100])
    await owner.waitForStatus(topic, 'ACTIVE')
  }
  strictEqual(await incidents('out_of_range'), 2)
})

test('DeleteRecords overtakes paused mirrors in the middle of a batch, also one that has nothing left', {
  skip,
}, async () => {
  const { sides, link } = world
  const { source, mirror } = sides
  const topics = [
    ['shortened', link],
    ['shortened-kept', archive],
  ] as const
  for (const [topic, owner] of topics) {
    await source.createTopic(topic)
    await source.produce(topic, { batch: 10, generate: { count: 50 } })
    await owner.mirror(topic)
    await waitUntilInStep(sides, topic)
  }
  const had = await recordsOf(mirror, 'shortened-kept')
  for (const [topic, owner] of topics) {
    await owner.must('pause', [topic])
    await source.produce(topic, { batch: 10, generate: { count: 100 } })
    await source.deleteRecords(topic, { 0: 75 })
    await owner.must('resume', [topic])
  }
  await assertEqualTopics(sides, 'shortened')
  await assertKept('shortened-kept', had)
  for (const [topic, owner] of topics) deepStrictEqual(await reportedLoss(owner, topic), [50, 69, 20])

  await source.deleteRecords('shortened', { 0: 150 })
  await waitUntilInStep(sides, 'shortened')
  await link.must('pause', ['shortened'])
  await source.produce('shortened', { batch: 10, generate: { count: 100 } })
  await source.deleteRecords('shortened', { 0: 195 })
  await link.must('resume', ['shortened'])
  await assertEqualTopics(sides, 'shortened')
  deepStrictEqual(await reportedLoss(link, 'shortened'), [150, 194, 45])
  strictEqual(await incidents('out_of_range'), 5)
})

// The end of the transaction was never mirrored, so it stayed open here, and the last stable offset with it.
test('a transaction that ends among deleted records does not stay open in the mirror', { skip }, async () => {
  const { sides, link } = world
  const { source } = sides
  await source.createTopic('unended')
  await source.produce('unended', { batch: 10, generate: { count: 10 } })
  await source.produce('unended', { transaction: { id: 'unended', end: 'open' }, generate: { count: 5 } })
  await link.mirror('unended')
  await waitUntilInStep(sides, 'unended')
  await link.must('pause', ['unended'])
  await source.endTransaction('unended', 'commit')
  // The marker is written later than the producer is answered.
  await eventually(async () => strictEqual((await partitionOf(source, 'unended')).end, 16))
  await source.produce('unended', { batch: 10, generate: { count: 20 } })
  await source.deleteRecords('unended', { 0: 20 })
  await link.must('resume', ['unended'])
  await assertEqualTopics(sides, 'unended')
  deepStrictEqual(await reportedLoss(link, 'unended'), [15, 15, 1])
})

test('a topic that is deleted, or deleted and created anew, fails alone, and its copy stays as it was', {
  skip,
}, async () => {
  const { sides, link, node } = world
  const { source, mirror } = sides
  const topics = ['gone', 'reborn']
  for (const topic of topics) {
    await source.createTopic(topic)
    await source.produce(topic, { generate: { count: 30 } })
    await link.mirror(topic)
    await waitUntilInStep(sides, topic)
  }
  const copies = await Promise.all(topics.map(topic => mirror.consume(topic)))
  // However long it takes until the new one is there, the old one is not believed to be gone for good.
  await link.alter({ 'cluster.link.retry.timeout.ms': '600000' })
  await source.deleteTopic('reborn')
  await eventually(() => source.createTopic('reborn'))
  await source.produce('reborn', { generate: { count: 200, seed: 9 } })
  await link.alter({ 'cluster.link.retry.timeout.ms': quick['cluster.link.retry.timeout.ms'] })
  const reborn = await link.waitForStatus('reborn', 'FAILED')
  strictEqual(reborn.mirror_topic_error, 'SOURCE_TOPIC_ID_CHANGED')
  await source.deleteTopic('gone')
  await bystanderFlows()
  const gone = await link.waitForStatus('gone', 'FAILED')
  strictEqual(gone.mirror_topic_error, 'SOURCE_TOPIC_MAY_BE_DELETED')
  deepStrictEqual(await Promise.all(topics.map(topic => mirror.consume(topic))), copies)
  strictEqual(await incidents('topic_id_changed'), 1)
  strictEqual((await link.history('reborn'))[0]?.mirror_status, 'FAILED')

  // The copy is not one of what the source has now.
  await source.createTopic('gone')
  await bystanderFlows()
  await link.must('pause', ['bystander'])
  const args = ['mirror', 'resume', ...topics, 'bystander', '--link', link.name]
  const mixed = await lockstep(node, args)
  strictEqual(mixed.status, 3, mixed.stderr)
  match(mixed.stderr, /2 of 3 topics were refused/)
  match(mixed.stdout, /gone +-1 +-1 +-1.* 400/)
  strictEqual((await lockstep(node, ['mirror', 'resume', 'reborn', '--link', link.name])).status, 1)
  strictEqual((await lockstep(node, ['mirror', 'resume', '--link', link.name])).status, 2)
  await bystanderFlows()
  await link.failOver(topics)
  deepStrictEqual(await Promise.all(topics.map(topic => mirror.consume(topic))), copies)
  for (const topic of topics) strictEqual((await mirror.produce(topic, { generate: { count: 1 } })).first['0'], 30)
})

test('partitions that a topic gains at the source appear at the mirror from their first record on', {
  skip,
}, async () => {
  const { sides, link } = world
  await sides.source.createPartitions('bystander', 3)
  for (const partition of [1, 2]) {
    await eventually(() => sides.source.produce('bystander', { partition, generate: { count: 10 + partition } }))
  }
  await assertEqualTopics(sides, 'bystander')
  strictEqual((await link.history('bystander'))[0]?.event, 'partitions-added')
})

test('a batch damaged on the disk of the source stops its partition alone, until it is repaired and resumed', {
  skip,
}, async () => {
  const { sides, link, node } = world
  const { source } = sides
  await source.createTopic('damaged', { partitions: 2 })
  for (const partition of [0, 1]) await source.produce('damaged', { partition, batch: 10, generate: { count: 30 } })
  await flipBit(source, 'damaged')
  await link.mirror('damaged')
  const failed = await link.waitForStatus('damaged', 'FAILED')
  strictEqual(failed.mirror_topic_error, 'CORRUPT_BATCH')
  deepStrictEqual(
    failed.mirror_lags.map(row => row.partition_state),
    ['FAILED', 'ACTIVE'],
  )
  await source.produce('damaged', { partition: 1, generate: { count: 10 } })
  await eventually(async () => {
    const { mirror_lags: lags } = await link.describe('damaged')
    deepStrictEqual(
      lags.map(row => row.log_end_offset),
      [0, 40],
    )
  })
  strictEqual(await incidents('corruption'), 1)
  await flipBit(source, 'damaged')
  const resumed = await lockstep(node, ['mirror', 'resume', 'damaged', '--link', link.name])
  strictEqual(resumed.status, 0, resumed.stderr)
  await assertEqualTopics(sides, 'damaged')
  await link.waitForStatus('damaged', 'ACTIVE')
})

test('a paused link fetches nothing, another one goes on, and it catches up', { skip }, async () => {
  const { sides, link } = world
  const { source, mirror } = sides
  await link.alter({ 'cluster.link.paused': 'true' })
  await link.waitForState('PAUSED')
  await link.waitForStatus('bystander', 'LINK_PAUSED')
  const { end } = await partitionOf(mirror, 'bystander')
  for (const topic of ['bystander', 'shortened-kept'])
    await source.produce(topic, { partition: 0, generate: { count: 5 } })
  const there = await partitionOf(source, 'shortened-kept')
  await eventually(async () => strictEqual((await partitionOf(mirror, 'shortened-kept')).end, there.end))
  strictEqual((await partitionOf(mirror, 'bystander')).end, end)
  await link.alter({ 'cluster.link.paused': 'false' })
  await waitUntilInStep(sides, 'bystander')
  await assertEqualReads(sides, 'bystander')
  await link.waitForState('ACTIVE')
})
