/** Reverse between two real nodes: roles change under load, with transactions open, given up from either side, and with kill -9 at every step of the walk. */
import { deepStrictEqual, match, ok, rejects, strictEqual } from 'node:assert/strict'
import { after, before, type TestContext, test } from 'node:test'
import { Partitioners } from 'kafkajs'
import { seededRandom } from '../../src/core/random.ts'
import { patientKafkaJs } from '../clients/kafkajs.ts'
import { eventually } from '../eventually.ts'
import { chosenRounds, chosenSeed, pick } from '../scenarios/chance.ts'
import { lockstep } from '../scenarios/command-line.ts'
import type { AlterMirrorRow, MirrorData } from '../scenarios/mirror-link.ts'
import {
  batchesOnDisk,
  createTopic,
  fill,
  type Peer,
  type PeersWorld,
  startPeersWorld,
  valuesOf,
} from '../scenarios/peers-world.ts'
import { WritersOfBoth } from '../scenarios/writers-of-both.ts'

const topic = 'orders'
const partitions = [0, 1]
/** What is done to a transaction that is open has to be done within it. */
const waitMs = 10_000
let world: PeersWorld

before(async () => {
  const properties = { 'mirror.reverse.transaction.wait.ms': String(waitMs) }
  world = await startPeersWorld({ 'metadata.max.age.ms': '1000' }, properties)
})
after(() => world?.close())

/** Whose copy clients can write, by its states: it alone is no mirror, or a stopped one. */
const other = (peer: Peer): Peer => (peer === world.east ? world.west : world.east)

const mirrorOf = (peer: Peer): Promise<MirrorData | undefined> => peer.link.describe(topic).catch(() => undefined)

const statusOf = async (peer: Peer): Promise<string> => (await mirrorOf(peer))?.mirror_status ?? 'none'

async function inStep(): Promise<void> {
  const { east, west } = world
  await eventually(async () => {
    for (const partition of partitions) {
      const [here, there] = [await batchesOnDisk(east, topic, partition), await batchesOnDisk(west, topic, partition)]
      ok(here.length > 0)
      deepStrictEqual(here, there)
    }
  })
}

/** A node that has just started has not read of the other side yet. */
const accepted = (peer: Peer, verb: string): Promise<AlterMirrorRow> =>
  eventually(async () => {
    const [row] = await peer.link.ask(verb, [topic])
    ok(row)
    // It may have been accepted before a crash took the answer.
    if ((await statusOf(peer)) !== 'ACTIVE') return row
    strictEqual(row.error_code, null, row.error_message ?? '')
    return row
  })

/** The mirror is writable, its source follows. */
async function changedRoles(mirror: Peer): Promise<void> {
  await mirror.link.waitForStatus(topic, 'STOPPED')
  await other(mirror).link.waitForStatus(topic, 'ACTIVE')
  await inStep()
}

async function openTransaction(peer: Peer, transactionalId: string) {
  const producer = patientKafkaJs(peer.node.bootstrap, { retry: { retries: 3 } }).producer({
    ...{ transactionalId, idempotent: true, maxInFlightRequests: 1 },
    createPartitioner: Partitioners.DefaultPartitioner,
  })
  await producer.connect()
  const transaction = await producer.transaction()
  await transaction.send({ topic, messages: partitions.map(partition => ({ partition, value: transactionalId })) })
  return { transaction, close: () => producer.disconnect() }
}

test('a mirror takes over by one command, which shows both sides and how long nobody could write', async () => {
  const { east, west } = world
  await createTopic(east, topic, partitions.length)
  await fill(east, topic, 'a')
  await west.link.mirror(topic)
  await inStep()
  const writers = new WritersOfBoth(
    [east, west].map((peer, index) => ({ name: `first ${index}`, bootstrap: peer.node.bootstrap })),
    topic,
  )
  await eventually(() => ok(writers.acknowledged.length > 20))
  const verb = ['mirror', 'reverse-and-start', topic, '--link', 'twin']
  await eventually(async () => {
    const dry = await lockstep(west.node, [...verb, '--dry-run'])
    strictEqual(dry.status, 0, dry.stderr)
  })
  const done = await lockstep(west.node, [...verb, '--force', '--wait=90s'])
  strictEqual(done.status, 0, done.stderr)
  match(done.stderr, /orders: .*; other side: [A-Z_]{2,}/)
  match(done.stderr, /Nobody could write for \d+ ms; 0 transactions aborted\./)
  await eventually(() => ok(writers.acknowledged.some(({ at }) => at === 'first 1')))
  await writers.stop()
  await changedRoles(west)
  const kept = new Set(await valuesOf(east, topic))
  deepStrictEqual(
    writers.acknowledged.filter(({ value }) => !kept.has(value)),
    [],
  )
})

test('a transaction that ends in time is kept, one that does not is aborted, counted, and its producer told', async () => {
  const { east, west } = world
  const [ending, hanging] = [await openTransaction(west, 'in-time'), await openTransaction(west, 'too-late')]
  try {
    await eventually(async () => strictEqual((await mirrorOf(east))?.mirror_status, 'ACTIVE'))
    await accepted(east, 'reverse-and-start-mirror')
    await west.link.waitForStatus(topic, 'PENDING_MIRROR')
    await ending.transaction.commit()
    await changedRoles(east)
    await rejects(hanging.transaction.commit())
  } finally {
    await Promise.all([ending.close(), hanging.close()])
  }
  const mirror = await eventually(async () => {
    const found = (await mirrorOf(east)) as MirrorData & { reversal: { aborted_transactions: number } }
    strictEqual(found.reversal.aborted_transactions, 1)
    return found
  })
  strictEqual(mirror.mirror_status, 'STOPPED')
  const committed = await valuesOf(east, topic)
  deepStrictEqual([committed.includes('in-time'), committed.includes('too-late')], [true, false])
})

test('a reverse is given up at the source, whose transactions go on', async () => {
  const { east, west } = world
  const open = await openTransaction(east, 'goes-on')
  try {
    const command = ['mirror', 'reverse-and-start', topic, '--link', 'twin', '--force', '--wait=5m']
    const waiting = lockstep(west.node, command)
    await east.link.waitForStatus(topic, 'PENDING_MIRROR')
    const [row] = await east.link.must('failover', [topic])
    match(row?.warnings?.[0] ?? '', /writable/)
    // Whoever waits for it is told.
    const { status, stderr } = await waiting
    deepStrictEqual([status, /after/.test(stderr)], [1, false], stderr)
    await west.link.waitForStatus(topic, 'ACTIVE')
    await eventually(async () => ok(['none', 'STOPPED'].includes(await statusOf(east))))
    await open.transaction.send({ topic, messages: [{ partition: 0, value: 'goes-on' }] })
    await open.transaction.commit()
  } finally {
    await open.close()
  }
  await inStep()
})

test('a failover without the other side says that two may be writable, and they become one again', async () => {
  const { east, west } = world
  const open = await openTransaction(east, 'cut-off')
  try {
    await accepted(west, 'reverse-and-start-mirror')
    await east.link.waitForStatus(topic, 'PENDING_MIRROR')
    await west.node.kill()
    const [row] = await east.link.must('failover', [topic])
    match(row?.warnings?.[0] ?? '', /may be writable, too/)
    strictEqual((await east.link.waitForStatus(topic, 'STOPPED')).mirror_status, 'STOPPED')
    await open.transaction.commit()
  } finally {
    await open.close()
  }
  await fill(east, topic, 'alone')
  await west.node.start()
  await west.link.waitForStatus(topic, 'ACTIVE')
  await inStep()
})

/** Moments of the walk, as states that either side shows. */
const moments: Readonly<Record<string, (mirror: Peer) => Promise<boolean>>> = {
  'the mirror waits': async mirror => (await statusOf(mirror)) !== 'ACTIVE',
  'the source refuses writers': async mirror => (await statusOf(other(mirror))) === 'PENDING_MIRROR',
  'the source is closed': async mirror => /^closed at/.test((await mirrorOf(other(mirror)))?.reason ?? ''),
  'the mirror has everything': async mirror => /^(PENDING_STOPPED|STOPPED)$/.test(await statusOf(mirror)),
  'the mirror is writable': async mirror => (await statusOf(mirror)) === 'STOPPED',
  'the source follows': async mirror => (await statusOf(other(mirror))) === 'ACTIVE',
}

async function killedAt(mirror: Peer, victim: Peer, moment: (mirror: Peer) => Promise<boolean>): Promise<void> {
  // A moment may be over before anybody looks: then the next one is as good.
  await eventually(async () => ok((await moment(mirror)) || (await statusOf(mirror)) === 'STOPPED'), { intervalMs: 5 })
  await victim.node.crash()
}

test('roles change whoever is killed at which step, and what was acknowledged is there', async (t: TestContext) => {
  const seed = chosenSeed()
  t.diagnostic(`LOCKSTEP_SEED=${seed}`)
  const random = seededRandom(seed)
  const { east, west } = world
  const places = [east, west].map((peer, index) => ({ name: `second ${index}`, bootstrap: peer.node.bootstrap }))
  const writers = new WritersOfBoth(places, topic)
  try {
    let mirror = west
    const steps = Object.keys(moments).toSorted(() => random() - 0.5)
    for (let round = 0; round < chosenRounds(6); round++) {
      const name = steps[round % steps.length] ?? 'the mirror waits'
      const victim = pick([east, west], random)
      t.diagnostic(`${name}: kill ${victim === mirror ? 'the mirror' : 'its source'}`)
      const before = writers.acknowledged.length
      await eventually(() => ok(writers.acknowledged.length > before + 5))
      await accepted(mirror, 'reverse-and-start-mirror')
      await killedAt(mirror, victim, moments[name] ?? (async () => true))
      await accepted(mirror, 'reverse-and-start-mirror')
      await mirror.link.waitForStatus(topic, 'STOPPED')
      await other(mirror).link.waitForStatus(topic, 'ACTIVE')
      mirror = other(mirror)
    }
  } finally {
    await writers.stop()
  }
  await inStep()
  const kept = new Set(await valuesOf(east, topic))
  deepStrictEqual(
    writers.acknowledged.filter(({ value }) => !kept.has(value)),
    [],
  )
})
