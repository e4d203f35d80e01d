/** Two Lockstep nodes and three brokers of a complete Apache Kafka 4.3.1, and a source under load: any process is killed, frozen or restarted, at moments that follow from a seed; nothing that the source acknowledged is lost or moved. */
import { deepStrictEqual, ok, rejects, strictEqual } from 'node:assert/strict'
import { after, before, type TestContext, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { seededRandom } from '../../src/core/random.ts'
import { eventually } from '../eventually.ts'
import type { LockstepNode } from '../lockstep-process.ts'
import { skipWithout } from '../requirements.ts'
import { partitionsAt } from '../scenarios/broker-view.ts'
import { chosenRounds, chosenSeed, pick } from '../scenarios/chance.ts'
import { nextBlow, type Victim } from '../scenarios/chaos.ts'
import { ChaosReaders, isShared } from '../scenarios/chaos-readers.ts'
import { CrashLoad, crashTopics } from '../scenarios/crash-load.ts'
import { assertEqualTopics } from '../scenarios/equality.ts'
import { type JoinedWorld, startJoinedWorld } from '../scenarios/joined-world.ts'
import { MirrorLink } from '../scenarios/mirror-link.ts'

const skip = skipWithout('java', 'python')
const NODES = [1001, 1002] as const
const isNode = (id: number): boolean => NODES.some(node => node === id)
const internalTopics = ['__lockstep_state', '__lockstep_inbox', '__lockstep_status', '__consumer_offsets']
const quick = {
  'availability.check.ms': '400',
  'request.timeout.ms': '2000',
  'replica.fetch.backoff.ms': '100',
  'metadata.max.age.ms': '1000',
}
/** Sessions end within a round now and then, and do not on a machine that is only slow. */
const session = { 'broker.session.timeout.ms': '6000', 'broker.heartbeat.interval.ms': '1000' }
const awayMs = 9_000
let world: JoinedWorld
let nodes: readonly LockstepNode[] = []
let link: MirrorLink
let readers: ChaosReaders | undefined

before(async () => {
  if (skip !== false) return
  world = await startJoinedWorld({ brokers: 3, properties: { 'default.replication.factor': '3', ...session } })
  nodes = await Promise.all(NODES.map(nodeId => world.join({ nodeId, patienceMs: 180_000 })))
  const [first] = nodes
  ok(first)
  link = await eventually(() => world.link(first, quick))
})
after(async () => {
  await readers?.close()
  await world?.close()
})

function victims(): Victim[] {
  const { source, cluster } = world
  return [
    ...nodes.map((process, index) => ({ name: `node ${NODES[index]}`, process })),
    ...cluster.nodes.map(process => ({ name: `${process.isBroker ? 'broker' : 'controller'} ${process.id}`, process })),
    ...source.nodes.map(process => ({ name: 'the source', process })),
  ]
}

/** Everywhere in sync; mirrors and Lockstep's own topics are led by a Lockstep node, all others have no replica on one. */
async function isWhole(topic: string): Promise<void> {
  const isOurs = !topic.startsWith('__') || topic.startsWith('__lockstep_')
  const partitions = await partitionsAt(world.cluster.node(1).address, topic)
  ok(partitions.length > 0, `${topic} is not known`)
  for (const [index, { leader, isr, replicas }] of partitions.entries()) {
    const about = `${topic}-${index}: led by ${leader}, in sync ${isr} of ${replicas}`
    ok(isr.length === replicas.length && (isOurs ? isNode(leader) : !replicas.some(isNode)), about)
  }
}

/** Who writes mirrors, in vain, whoever leads them; what succeeds all the same is a failure of the suite. */
class Intruder {
  #stopping = false
  #attempts = 0
  readonly #running: Promise<void>

  constructor() {
    this.#running = this.#run()
    this.#running.catch(() => {})
  }

  /** Resolves to how often it was refused. */
  async stop(): Promise<number> {
    this.#stopping = true
    await this.#running
    return this.#attempts
  }

  async #run(): Promise<void> {
    const generate = { count: 1, valueBytes: 100 }
    const properties = { 'request.timeout.ms': '2000', 'delivery.timeout.ms': '3000', 'max.block.ms': '3000' }
    const how = { acks: '1', idempotent: false, partition: 0, generate, properties } as const
    while (!this.#stopping) {
      await rejects(world.here.produce(crashTopics.all[this.#attempts % crashTopics.all.length] ?? '', { ...how }))
      this.#attempts++
      await delay(200)
    }
  }
}

test('whoever dies, hangs or restarts: mirrors end equal to their source on every replica, and become topics', {
  skip,
}, async (t: TestContext) => {
  const { source, there, here, replica, copies } = world
  const seed = chosenSeed()
  t.diagnostic(`LOCKSTEP_SEED=${seed}`)
  const random = seededRandom(seed)
  const load = await CrashLoad.start(there.driver, { ...source.node(1), bootstrap: source.bootstrap }, seed)
  for (const topic of crashTopics.all) await link.mirror(topic)
  const intruder = new Intruder()
  readers = await ChaosReaders.start(here.driver, [...nodes, world.cluster].map(({ bootstrap }) => bootstrap).join())
  for (let round = 1; round <= chosenRounds(3); round++) {
    const blow = nextBlow(victims(), { random, awayMs })
    t.diagnostic(`${new Date().toISOString()} ${round}: ${blow.text}`)
    await blow.strike()
  }
  t.diagnostic(`${await intruder.stop()} attempts to write a mirror`)
  const promises = await load.stop()
  t.diagnostic(
    `${promises.written.length} records, ${promises.committed.length} commits, ${promises.aborted.length} aborts`,
  )
  const at = MirrorLink.of(pick(nodes, random), link.name)
  for (const topic of [...internalTopics, ...crashTopics.all])
    await eventually(() => isWhole(topic), { timeoutMs: 180_000, intervalMs: 500 })
  for (const topic of crashTopics.all) {
    const [mirror = here, ...others] = nodes.map(copies)
    await assertEqualTopics({ source: there, mirror, replicas: [...others, ...[1, 2, 3].map(replica)] }, topic)
    await eventually(async () => strictEqual((await at.describe(topic)).mirror_status, 'ACTIVE'))
  }
  for (const node of nodes)
    await eventually(async () => {
      const placement = (await node.rest.call('GET', '/placement')) as { readonly foreign_partitions: unknown }
      deepStrictEqual(placement.foreign_partitions, [])
    })

  await eventually(() => at.must('promote', crashTopics.all))
  for (const topic of crashTopics.all) await at.waitForStatus(topic, 'STOPPED')
  await load.checkRecords(here, promises)
  for (const topic of crashTopics.all)
    await eventually(() => here.produce(topic, { partition: 0, acks: 'all', records: [{ value: 'after' }] }))
  await readers.haveAll(here)
  t.diagnostic(await readers.figures())
  await isShared(here, crashTopics.plain)
})
