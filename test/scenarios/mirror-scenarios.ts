// The tests of a mirror of a real Kafka, for one version of it; each mirror-kafka-*.suite.ts runs them.
import { deepStrictEqual, ok, rejects, strictEqual } from 'node:assert/strict'
import { after, before, type TestContext, test } from 'node:test'
import { eventually } from '../eventually.ts'
import { JavaError } from '../java/driver.ts'
import type { KafkaVersion } from '../kafka/jars.ts'
import { skipWithout } from '../requirements.ts'
import { assertEqualTopics, waitUntilInStep } from './equality.ts'
import { failOverWithOpen, failOverWithoutSource } from './failover.ts'
import { type MirrorWorld, startMirrorWorld } from './mirror-world.ts'
import { type SourceTopic, sourceTopics } from './source-topics.ts'
import type { ProduceArgs, TopicSide } from './topic-side.ts'

/** Defines the tests; they run in order and share one source, one node and one link: the world that `start` gives. */
export function mirrorScenarios(version: KafkaVersion, start = () => startMirrorWorld(version)): void {
  const skip = skipWithout('java')
  let started: MirrorWorld | undefined
  const world = () => started ?? fail()
  before(async () => {
    if (skip === false) started = await start()
  })
  after(() => started?.close())

  /** All at once: most of the time one waits for the cleaner, for markers, for flushes. */
  let mirrored: ReadonlyMap<SourceTopic, Promise<void>> | undefined
  for (const topic of sourceTopics) {
    test(`a mirror of ${topic.about} equals its source in Kafka ${version}`, { skip }, async () => {
      const { sides, link } = world()
      mirrored ??= new Map(sourceTopics.map(each => [each, fillAndMirror(world(), each)]))
      await mirrored.get(topic)
      await assertEqualTopics(sides, topic.name)
      const mirror = await link.describe(topic.name)
      strictEqual(mirror.mirror_status, 'ACTIVE')
      await eventually(async () => {
        const { mirror_lags: lags } = await link.describe(topic.name)
        deepStrictEqual(
          lags.map(row => row.lag),
          lags.map(() => 0),
        )
      })
    })
  }

  test('a node killed while it copies a backlog goes on where its log ends', { skip }, t =>
    killWhileCopying(world(), t),
  )
  test('kills and DeleteRecords during mirroring leave an equal mirror', { skip }, () => killAndDeleteLive(world()))
  test('records deleted before they were mirrored become a hole', { skip }, () => overtakenByDeletion(world()))
  test('a source that dies and comes back is followed on', { skip }, () => sourceComesBack(world()))
  test('a mirror refuses clients with a policy violation', { skip }, () => refuseClients(world()))
  test('failover ends open transactions and lets clients write on', { skip }, () => failOverWithOpen(world()))
  test('failover needs no source', { skip }, () => failOverWithoutSource(world()))
}

function fillAndMirror({ sides, link }: MirrorWorld, topic: SourceTopic): Promise<void> {
  const { name, partitions = 1, configs = {}, fill, mirrorConfigs } = topic
  const mirroring = sides.source
    .createTopic(name, { partitions, configs })
    .then(() => fill?.(sides.source, name))
    .then(() => link.mirror(name, mirrorConfigs))
  // Its own test tells.
  mirroring.catch(() => {})
  return mirroring
}

function fail(): never {
  throw new Error('the clusters did not start')
}

async function killWhileCopying({ sides, link, node }: MirrorWorld, t: TestContext): Promise<void> {
  const topic = 'backlog'
  await sides.source.createTopic(topic, { partitions: 2 })
  const generate = { count: 2_000, valueBytes: 10_000, keys: 1_000, random: true }
  await sides.source.produce(topic, { generate })
  // Slow enough for two kills before it is all copied.
  await link.alter({ 'mirror.max.bytes.per.second': '5000000' })
  await link.mirror(topic, { 'segment.bytes': '4194304', 'index.interval.bytes': '1024' })
  const target = await endOffsets(sides.source, topic)
  for (const share of [0.1, 0.5]) {
    const copied = await waitForEnd(sides.mirror, topic, target * share)
    await node.crash()
    t.diagnostic(`killed at about ${copied} of ${target} records`)
  }
  await eventually(() => link.alter({ 'mirror.max.bytes.per.second': '1000000000' }))
  await assertEqualTopics(sides, topic)
}

async function killAndDeleteLive({ sides, link, node }: MirrorWorld): Promise<void> {
  const topic = 'live'
  await sides.source.createTopic(topic, { partitions: 1 })
  await link.mirror(topic)
  const codecs = ['none', 'zstd', 'lz4', 'snappy'] as const
  for (const [round, codec] of codecs.entries()) {
    const start = await endOffsets(sides.source, topic)
    const generate = { count: 4_000, valueBytes: 200, keys: 100, seed: round }
    const producing = sides.source.produce(topic, { codec, batch: 40, generate })
    await waitForEnd(sides.mirror, topic, start + 500)
    // Not at the edge of a batch of 40.
    await sides.source.deleteRecords(topic, { 0: start + 213 })
    await node.crash()
    await producing
  }
  await assertEqualTopics(sides, topic)
}

async function overtakenByDeletion({ sides, node }: MirrorWorld): Promise<void> {
  const topic = 'live'
  const before = await endOffsets(sides.mirror, topic)
  await node.kill()
  await sides.source.produce(topic, { batch: 10, generate: { count: 500 } })
  await sides.source.deleteRecords(topic, { 0: before + 255 })
  await node.start()
  await assertEqualTopics(sides, topic)
}

/** Also brings a new leader epoch, and a gap in which nothing answers. */
async function sourceComesBack({ sides, cluster, link }: MirrorWorld): Promise<void> {
  // Not a topic with deleted records: what kill -9 makes Kafka forget of them, a mirror need not forget.
  const topic = 'revived'
  await sides.source.createTopic(topic)
  await sides.source.produce(topic, { batch: 25, generate: { count: 300 } })
  await link.mirror(topic)
  await waitUntilInStep(sides, topic)
  await cluster.node(1).kill()
  await cluster.node(1).start()
  await sides.source.produce(topic, { batch: 25, codec: 'gzip', generate: { count: 300 } })
  await assertEqualTopics(sides, topic)
  await link.waitForStatus(topic, 'ACTIVE')
}

async function refuseClients({ sides }: MirrorWorld): Promise<void> {
  const refusal = (error: unknown) => error instanceof JavaError && error.javaClass === 'PolicyViolationException'
  const attempts: ProduceArgs[] = [{}, { idempotent: false }, { acks: '1', idempotent: false, codec: 'gzip' }]
  const { partitions: before } = await sides.mirror.describe('transactions')
  for (const attempt of attempts) {
    await rejects(sides.mirror.produce('transactions', { ...attempt, generate: { count: 3 } }), refusal)
  }
  await rejects(sides.mirror.deleteRecords('transactions', { 0: 1 }), refusal)
  deepStrictEqual((await sides.mirror.describe('transactions')).partitions, before)
  await assertEqualTopics(sides, 'transactions')
}

/** Sum of the high watermarks of a topic. */
async function endOffsets(side: TopicSide, topic: string): Promise<number> {
  const { partitions } = await side.describe(topic)
  return partitions.reduce((sum, partition) => sum + partition.highWatermark, 0)
}

async function waitForEnd(side: TopicSide, topic: string, offset: number): Promise<number> {
  return eventually(
    async () => {
      const end = await endOffsets(side, topic)
      ok(end >= offset)
      return end
    },
    { intervalMs: 5 },
  )
}
