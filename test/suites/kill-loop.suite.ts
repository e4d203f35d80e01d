/** kill -9 of a mirroring node again and again under load, at moments that follow from a seed; and a source that is away for long. */
import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict'
import { after, before, type TestContext, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { type Random, seededRandom } from '../../src/core/random.ts'
import { eventually } from '../eventually.ts'
import { sourceVersion } from '../kafka/jars.ts'
import { skipWithout } from '../requirements.ts'
import { chosenRounds, chosenSeed, integerBelow, pick } from '../scenarios/chance.ts'
import { assertEqualTopics, waitUntilInStep } from '../scenarios/equality.ts'
import { Load } from '../scenarios/load.ts'
import { type MirrorWorld, startMirrorWorld } from '../scenarios/mirror-world.ts'

const skip = skipWithout('java')
const topics = ['one', 'two'] as const
/** Nothing of it is deleted: what kill -9 makes Kafka forget of deletions, a mirror need not forget. */
const patient = 'patient'
const partitions = 2
const quick = {
  'availability.check.ms': '400',
  'request.timeout.ms': '2000',
  'replica.fetch.backoff.ms': '100',
  'metadata.max.age.ms': '1000',
  // The source is away for much longer.
  'cluster.link.retry.timeout.ms': '10000',
}
/** Once is enough. */
const outageMs = sourceVersion() === '4.3.1' ? 120_000 : 0
let world: MirrorWorld

before(async () => {
  if (skip !== false) return
  world = await startMirrorWorld(sourceVersion(), { link: quick })
  for (const topic of [...topics, patient]) {
    await world.sides.source.createTopic(topic, { partitions })
    await world.link.mirror(topic, { 'segment.bytes': '1048576' })
  }
})
after(() => world?.close())

async function mirroredEnd(): Promise<number> {
  const mirrors = await Promise.all(topics.map(topic => world.link.describe(topic)))
  return mirrors.flatMap(mirror => mirror.mirror_lags).reduce((sum, lag) => sum + (lag.log_end_offset ?? 0), 0)
}

/** The ways in which a node dies and lives again; each leaves it running. */
const deaths: Readonly<Record<string, (random: Random) => Promise<void>>> = {
  'while it copies': async random => {
    const end = (await mirroredEnd()) + integerBelow(400, random)
    await eventually(async () => ok((await mirroredEnd()) > end), { intervalMs: 5 })
    await world.node.crash()
  },
  'while it starts': async random => {
    const { node } = world
    await node.kill()
    const starting = node.start().catch(() => {})
    // Not waiting for something: this is the moment.
    await delay(integerBelow(700, random))
    await node.kill()
    await starting
    if (node.pid === undefined) await node.start()
  },
  'while it is asked to pause': async random => {
    const { node, link } = world
    const topic = pick(topics, random)
    const asked = link.ask('pause', [topic]).catch(() => {})
    await delay(integerBelow(20, random))
    await node.kill()
    await asked
    await node.start()
    const status = await eventually(async () => {
      const { mirror_status: found } = await link.describe(topic)
      ok(['ACTIVE', 'PAUSED'].includes(found), found)
      return found
    })
    if (status === 'PAUSED') await link.must('resume', [topic])
  },
}

test('a node that is killed again and again under load ends equal to its source, field by field', {
  skip,
}, async (t: TestContext) => {
  const { sides, link } = world
  const seed = chosenSeed()
  t.diagnostic(`LOCKSTEP_SEED=${seed}`)
  const random = seededRandom(seed)
  const load = new Load(sides.source, { topics, partitions, random: seededRandom(seed + 1), deletes: true })
  const ways = Object.keys(deaths)
  for (let kill = 0; kill < chosenRounds(9); kill++) {
    const when = ways[kill % ways.length] ?? ''
    t.diagnostic(`killed ${when}, after ${load.records} records`)
    await deaths[when]?.(random)
  }
  await load.stop()
  for (const topic of topics) {
    await assertEqualTopics(sides, topic)
    await link.waitForStatus(topic, 'ACTIVE')
  }
})

test('a source that is frozen, or dead for minutes, is followed on by itself', {
  skip,
}, async () => {
  const { sides, link, cluster, node } = world
  const broker = cluster.node(1)
  const away = async (error: string) => {
    await eventually(async () => {
      const { link_state: state, link_error: found } = await link.describeLink()
      deepStrictEqual([state, found], ['UNAVAILABLE', error])
    })
    await link.waitForStatus(patient, 'SOURCE_UNAVAILABLE')
  }
  const back = async () => {
    await link.waitForState('ACTIVE')
    await sides.source.produce(patient, { batch: 10, generate: { count: 100 } })
    await waitUntilInStep(sides, patient)
    await link.waitForStatus(patient, 'ACTIVE')
    await eventually(async () => strictEqual((await link.describeLink()).link_error, 'NO_ERROR'))
  }
  broker.freeze()
  await away('TIMEOUT_ERROR')
  broker.thaw()
  await back()
  await broker.kill()
  await away('BOOTSTRAP_TCP_CONNECTION_FAILED_ERROR')
  await node.crash()
  await away('BOOTSTRAP_TCP_CONNECTION_FAILED_ERROR')
  // Not waiting for something: this long it is away, while other suites use the machine.
  await delay(outageMs)
  await away('BOOTSTRAP_TCP_CONNECTION_FAILED_ERROR')
  await broker.start()
  await back()
  await assertEqualTopics(sides, patient)
})
