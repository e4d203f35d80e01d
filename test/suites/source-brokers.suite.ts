/** A source of three brokers: kills, new leaders, readers sent to followers (KIP-392), unclean elections, other addresses. */
import { deepStrictEqual, match, ok, strictEqual } from 'node:assert/strict'
import { after, before, type TestContext, test } from 'node:test'
import { seededRandom } from '../../src/core/random.ts'
import { eventually } from '../eventually.ts'
import { driverClasses } from '../java/driver.ts'
import { sourceVersion } from '../kafka/jars.ts'
import type { KafkaNode } from '../kafka/node.ts'
import { skipWithout } from '../requirements.ts'
import { chosenRounds, chosenSeed, pick } from '../scenarios/chance.ts'
import { assertEqualTopics, waitUntilInStep } from '../scenarios/equality.ts'
import { Load, patient } from '../scenarios/load.ts'
import { MirrorLink } from '../scenarios/mirror-link.ts'
import { type MirrorWorld, startMirrorWorld } from '../scenarios/mirror-world.ts'
import { TopicSide } from '../scenarios/topic-side.ts'

const skip = skipWithout('java')
const quick = {
  'metadata.max.age.ms': '1000',
  'replica.fetch.backoff.ms': '100',
  'availability.check.ms': '500',
  'request.timeout.ms': '5000',
}
/** Readers of the second one are always sent to a follower. */
const replicated = ['moving', 'redirected']
/** Once is enough: of the other version one broker is stopped. */
const rollsOver = sourceVersion() === '4.3.1'
let world: MirrorWorld

before(async () => {
  if (skip !== false) return
  const properties = { 'replica.selector.class': 'lockstep.FollowerSelector', 'replica.lag.time.max.ms': '3000' }
  const plugins = await driverClasses(sourceVersion())
  world = await startMirrorWorld(sourceVersion(), { brokers: 3, properties, plugins, link: quick })
  for (const topic of replicated) {
    const options = { partitions: 2, replicationFactor: 3, configs: { 'min.insync.replicas': '2' } }
    await world.sides.source.createTopic(topic, options)
    await world.link.mirror(topic)
  }
})
after(() => world?.close())

const leadersOf = async (topic: string) =>
  (await world.sides.source.describe(topic)).partitions.map(partition => partition.leader)

/** Every replica of the topics is in sync: the next kill loses nothing. */
async function waitUntilInSync(): Promise<void> {
  for (const topic of replicated)
    await eventually(
      async () => {
        const { partitions } = await world.sides.source.describe(topic)
        ok(partitions.every(({ isr }) => isr.length === 3))
      },
      { timeoutMs: 120_000, intervalMs: 200 },
    )
}

/** Whoever leads a partition while that broker is away, what is written to it reaches the mirror. */
async function waitForNews(): Promise<void> {
  const { source, mirror } = world.sides
  for (const topic of replicated)
    for (const partition of [0, 1]) {
      // Not what the load writes: its transactions may wait for minutes for brokers that wait for the one that stands still.
      const { last } = await source.produce(topic, { partition, properties: patient, generate: { count: 5 } })
      await eventually(
        async () =>
          ok(((await mirror.describe(topic)).partitions[partition]?.highWatermark ?? 0) > (last[partition] ?? 0)),
        { timeoutMs: 120_000 },
      )
    }
}

const faults: Readonly<Record<string, (broker: KafkaNode) => Promise<void>>> = {
  'kill -9': async broker => {
    await broker.kill()
    await waitForNews()
    await broker.start()
  },
  'rolling restart that begins with a clean stop': async first => {
    const others = rollsOver ? world.cluster.brokers.filter(other => other !== first) : []
    for (const broker of [first, ...others]) {
      await waitUntilInSync()
      await broker.stop()
      await waitForNews()
      await broker.start()
    }
  },
  freeze: async broker => {
    broker.freeze()
    try {
      await waitForNews()
    } finally {
      broker.thaw()
    }
  },
}

test('leaders that are killed, stopped and frozen while acks=all producers write leave equal mirrors', {
  skip,
}, async t => {
  const { sides, cluster, link } = world
  const seed = chosenSeed()
  t.diagnostic(`LOCKSTEP_SEED=${seed}`)
  const random = seededRandom(seed)
  const load = new Load(sides.source, { topics: replicated, partitions: 2, random: seededRandom(seed + 1) })
  const names = Object.keys(faults)
  const rounds = chosenRounds(names.length)
  for (let round = 0; round < rounds; round++) {
    await waitUntilInSync()
    const name = names[round % names.length] ?? ''
    const leader = pick(await leadersOf(pick(replicated, random)), random)
    t.diagnostic(`${name} of broker ${leader} after ${load.records} records`)
    await faults[name]?.(cluster.node(leader))
    await waitUntilInSync()
    // A broker that has just come back may fall out of sync once more.
    for (const topic of replicated)
      await eventually(() => sides.source.electLeaders(topic, 'preferred'), { timeoutMs: 120_000, intervalMs: 500 })
  }
  await load.stop()
  for (const topic of replicated) {
    await assertEqualTopics(sides, topic)
    await link.waitForStatus(topic, 'ACTIVE')
    deepStrictEqual(
      (await link.history(topic)).map(({ event }) => event),
      ['create'],
    )
  }
})

test('another bootstrap server is used by a live link, also when the old one is gone', { skip }, async () => {
  const { sides, cluster, link, node } = world
  const produce = () => sides.source.produce('moving', { batch: 10, generate: { count: 100 } })
  const [first, second] = cluster.brokers
  ok(first && second)
  await link.alter({ 'bootstrap.servers': first.address })
  await produce()
  await waitUntilInStep(sides, 'moving')
  await node.kill()
  await first.kill()
  await node.start()
  await produce()
  await eventually(async () => {
    const { link_error: error, link_state: state } = await link.describeLink()
    deepStrictEqual([error, state], ['BOOTSTRAP_TCP_CONNECTION_FAILED_ERROR', 'UNAVAILABLE'])
  })
  await link.waitForStatus('moving', 'SOURCE_UNAVAILABLE')
  await link.alter({ 'bootstrap.servers': second.address })
  await waitUntilInStep(sides, 'moving')
  await link.waitForStatus('moving', 'ACTIVE')
  await eventually(async () => strictEqual((await link.describeLink()).link_error, 'NO_ERROR'))
  await first.start()
  await waitUntilInSync()
})

const lost = { kept: 'lost-kept', cut: 'lost-cut' }

test('an unclean election at the source fails a mirror, or cuts it where they part, as its link says', {
  skip,
}, async (t: TestContext) => {
  const { sides, cluster, link, node } = world
  const { source, mirror } = sides
  const { bootstrap, clusterId } = cluster
  const configs = { ...quick, 'mirror.unclean.truncation.policy': 'truncate' }
  const cutting = await MirrorLink.create(node, 'cutting', { bootstrap, clusterId, configs })
  for (const topic of Object.values(lost)) {
    await source.createTopic(topic, { assignments: [[2, 3]], configs: { 'min.insync.replicas': '1' } })
    await source.produce(topic, { batch: 10, generate: { count: 100 } })
    await (topic === lost.cut ? cutting : link).mirror(topic)
    // The one that is killed has the 100.
    await eventually(async () => strictEqual((await source.describe(topic)).partitions[0]?.isr.length, 2))
  }
  await cluster.node(3).kill()
  for (const topic of Object.values(lost)) {
    await source.produce(topic, { batch: 10, generate: { count: 50, seed: 2 } })
    await waitUntilInStep(sides, topic)
  }
  const had = await mirror.consume(lost.kept)
  // The last one that has the 50 goes, and the one that never had them comes back.
  await cluster.node(2).kill()
  await cluster.node(3).start()
  for (const topic of Object.values(lost)) {
    await eventually(
      async () => {
        await source.electLeaders(topic, 'unclean')
        strictEqual((await source.describe(topic)).partitions[0]?.leader, 3)
      },
      { timeoutMs: 120_000, intervalMs: 200 },
    )
    await source.produce(topic, { batch: 7, generate: { count: 20, seed: 3 } })
  }
  await cluster.node(2).start()

  const failed = await link.waitForStatus(lost.kept, 'FAILED')
  strictEqual(failed.mirror_topic_error, 'UNEXPECTED_TRUNCATION')
  deepStrictEqual(await mirror.consume(lost.kept), had)
  const dataDirectory = cluster.node(3).dataDirectory
  const survivor = new TopicSide(source.driver, { bootstrap, dataDirectory })
  await assertEqualTopics({ source: survivor, mirror }, lost.cut)
  await cutting.waitForStatus(lost.cut, 'ACTIVE')
  const cut = (await cutting.history(lost.cut))[0]
  strictEqual(cut?.event, 'truncation')
  match(cut.reason, /offsets 100 to 149 \(50\) were cut off$/)
  t.diagnostic(cut.reason)
  const metrics = await node.rest.request('GET', '/metrics')
  match(String(metrics.body), /^lockstep_incidents_total\{kind="truncation"\} 2$/m)
  const [refused] = await link.ask('resume', [lost.kept])
  match(refused?.error_message ?? '', /cannot be resumed/)
})
