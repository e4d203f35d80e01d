/** Promotes of mirrors of a real Kafka: under load, with an open transaction, together, through kill -9; and configs that follow. */
import { deepStrictEqual, match, ok, strictEqual } from 'node:assert/strict'
import { after, before, type TestContext, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { seededRandom } from '../../src/core/random.ts'
import { eventually } from '../eventually.ts'
import { sourceVersion } from '../kafka/jars.ts'
import { skipWithout } from '../requirements.ts'
import { chosenSeed, integerBelow } from '../scenarios/chance.ts'
import { assertEqualReads, waitUntilInStep } from '../scenarios/equality.ts'
import { assertHandedOver } from '../scenarios/handed-over.ts'
import { Load } from '../scenarios/load.ts'
import { type MirrorWorld, startMirrorWorld } from '../scenarios/mirror-world.ts'

const skip = skipWithout('java')
let world: MirrorWorld

before(async () => {
  if (skip === false) world = await startMirrorWorld(sourceVersion(), { link: { 'metadata.max.age.ms': '1000' } })
})
after(() => world?.close())

async function mirrored(...topics: string[]): Promise<void> {
  for (const topic of topics) {
    await world.sides.source.createTopic(topic, { partitions: 2 })
    await world.link.mirror(topic)
  }
}

test('a promote waits for an open transaction and says so, then the mirror is written on', { skip }, async () => {
  const { sides, link } = world
  await mirrored('orders')
  await sides.source.produce('orders', { generate: { count: 50 } })
  await sides.source.produce('orders', { generate: { count: 10 }, transaction: { id: 'slow', end: 'open' } })
  await waitUntilInStep(sides, 'orders')
  await link.must('promote', ['orders'])
  await eventually(async () => {
    const { mirror_status: status, reason } = await link.describe('orders')
    strictEqual(status, 'PENDING_STOPPED')
    match(reason ?? '', /a transaction at the source \(transactional id 'slow'\) is open since offset/)
  })
  await sides.source.endTransaction('slow', 'commit')
  await link.waitForStatus('orders', 'STOPPED')
  await assertEqualReads(sides, 'orders')
  const before = await sides.source.describe('orders')
  const after = await sides.mirror.describe('orders')
  deepStrictEqual(
    after.partitions.map(({ highWatermark }) => highWatermark),
    before.partitions.map(({ highWatermark }) => highWatermark),
    'nothing of ours was added',
  )
  await assertHandedOver(world, 'orders')
  await sides.mirror.produce('orders', { generate: { count: 5 }, properties: { 'enable.idempotence': 'true' } })
})

test('topics that are promoted together while they are written end with everything, through kills of the node', {
  skip,
}, async (t: TestContext) => {
  const { sides, link, node } = world
  const topics = ['left', 'right']
  await mirrored(...topics)
  const seed = chosenSeed()
  t.diagnostic(`LOCKSTEP_SEED=${seed}`)
  const random = seededRandom(seed)
  // However slowly is written, there is something to wait for.
  await sides.source.produce('left', { generate: { count: 10 }, transaction: { id: 'lasting', end: 'open' } })
  const load = new Load(sides.source, { topics, partitions: 2, random: seededRandom(seed + 1) })
  await node.rest.call('POST', `/links/${link.name}/mirrors:promote`, { mirror_topic_names: topics, together: true })
  for (let kill = 0; kill < 3; kill++) {
    // Not waiting for something: this is the moment.
    await delay(integerBelow(500, random))
    await node.crash()
  }
  // A node that has just started first reads the state of its links.
  const statuses = () =>
    eventually(() => Promise.all(topics.map(async topic => (await link.describe(topic)).mirror_status)))
  deepStrictEqual([...new Set(await statuses())], ['PENDING_STOPPED'], 'a source that is written to is waited for')
  await load.stop()
  await sides.source.endTransaction('lasting', 'commit')
  for (const topic of topics) await link.waitForStatus(topic, 'STOPPED')
  for (const topic of topics) await assertEqualReads(sides, topic)
  for (const topic of topics) await assertHandedOver(world, topic)
  for (const topic of topics) await sides.mirror.produce(topic, { generate: { count: 5 } })
})

/** Overrides that hold, or will once a write fence is gone. */
async function meantConfigs(topic: string): Promise<Record<string, string>> {
  const { 'message.timestamp.after.max.ms': _ofKafka3, ...rest } = world.joined
    ? await overridesInRest(topic)
    : (await world.sides.mirror.describe(topic)).configs
  return rest
}

async function overridesInRest(topic: string): Promise<Record<string, string>> {
  const { data } = (await world.node.rest.call('GET', `/topics/${topic}/configs`)) as {
    data: { name: string; value: string; source: string }[]
  }
  const overrides = data.filter(({ source }) => source === 'DYNAMIC_TOPIC_CONFIG')
  return Object.fromEntries(overrides.map(({ name, value }) => [name, value]))
}

/** What a Kafka broker lets somebody change is taken back, and told. */
async function assertTakenBack(topic: string, change: Readonly<Record<string, string>>): Promise<void> {
  const before = await meantConfigs(topic)
  const changed = await world.sides.mirror.alterConfigs(topic, change).then(
    () => true,
    error => {
      match(String(error), /PolicyViolation/)
      return false
    },
  )
  await eventually(async () => deepStrictEqual(await meantConfigs(topic), before))
  if (!changed) return
  await eventually(async () => {
    const [newest] = await world.link.history(topic)
    deepStrictEqual([newest?.event, newest?.reason], ['config_changed', `restored: ${Object.keys(change).join(', ')}`])
  })
}

test('configs that change at the source change at the mirror, and changes made at the mirror are refused', {
  skip,
}, async () => {
  const { sides, link } = world
  await mirrored('configured')
  await sides.source.alterConfigs('configured', { 'retention.ms': '7200000', 'cleanup.policy': 'compact' })
  await eventually(async () =>
    deepStrictEqual(await meantConfigs('configured'), { 'cleanup.policy': 'compact', 'retention.ms': '7200000' }),
  )
  await sides.source.alterConfigs('configured', { 'retention.ms': '604800000' })
  await eventually(async () => deepStrictEqual(await meantConfigs('configured'), { 'cleanup.policy': 'compact' }))
  const change = { 'cleanup.policy': 'delete' }
  if (world.joined) await assertTakenBack('configured', change)
  else {
    const refused = await sides.mirror.alterConfigs('configured', change).catch(error => error)
    match(String(refused), /PolicyViolation/)
  }
  await link.must('promote', ['configured'])
  await link.waitForStatus('configured', 'STOPPED')
  await assertHandedOver(world, 'configured')
  await sides.mirror.alterConfigs('configured', change)
  await eventually(async () => ok((await sides.mirror.describe('configured')).configs['cleanup.policy'] !== 'compact'))
})
