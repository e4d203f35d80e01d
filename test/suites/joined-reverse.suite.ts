/** Reverse whose source is a topic of a joined cluster of complete Apache Kafka 4.3.1: under load, with transactions of Kafka's coordinators, given up from either side, and with kill -9 of either node. */
import { deepStrictEqual, match, ok, rejects, strictEqual } from 'node:assert/strict'
import { after, before, type TestContext, test } from 'node:test'
import { seededRandom } from '../../src/core/random.ts'
import { eventually } from '../eventually.ts'
import { skipWithout } from '../requirements.ts'
import { topicConfigAt } from '../scenarios/broker-view.ts'
import { chosenRounds, chosenSeed, pick } from '../scenarios/chance.ts'
import { lockstep } from '../scenarios/command-line.ts'
import { assertSameCopies, endsOf, fill, javaOf, leadersIn, partitions } from '../scenarios/joined-copies.ts'
import { type JoinedPeersWorld, startJoinedPeers } from '../scenarios/joined-peers-world.ts'
import type { MirrorData } from '../scenarios/mirror-link.ts'
import type { TopicSide } from '../scenarios/topic-side.ts'
import { WritersOfBoth } from '../scenarios/writers-of-both.ts'

const skip = skipWithout('java')
const topic = 'orders'
const reversed = 'reverse-and-start-mirror'
const configs = { 'retention.ms': '86400000', 'max.message.bytes': '500000' }
let world: JoinedPeersWorld

before(async () => {
  if (skip) return
  // What is done to a transaction that is open has to be done within it.
  world = await startJoinedPeers({}, { 'mirror.reverse.transaction.wait.ms': '10000' })
})
after(() => world?.close())

const java = (): TopicSide => javaOf(world)

const mirrorAt = (side: 'original' | 'survivor'): Promise<MirrorData | undefined> =>
  world[side].link.describe(topic).catch(() => undefined)

const statusAt = async (side: 'original' | 'survivor') => (await mirrorAt(side))?.mirror_status ?? 'none'

/** An ordinary topic has no copy at the node. */
async function inStep(copies: readonly TopicSide[] = world.copies.slice(0, 2)): Promise<void> {
  await eventually(async () => deepStrictEqual(await endsOf(java(), topic), await endsOf(world.there, topic)))
  await assertSameCopies({ ...world, copies }, topic)
}

/** A node that has just started has not read of the other side yet. */
const accepted = (side: 'original' | 'survivor', verb: string) =>
  eventually(async () => {
    const [row] = await world[side].link.ask(verb, [topic])
    if ((await statusAt(side)) !== 'ACTIVE') return
    strictEqual(row?.error_code, null, row?.error_message ?? '')
  })

/** Kafka brokers lead it alone, with the configs that it had. */
async function isOrdinary(): Promise<void> {
  await eventually(async () => {
    const described = await java().describe(topic)
    for (const { leader, isr } of described.partitions) {
      ok(leader !== 1001)
      deepStrictEqual(isr.toSorted(), [1, 2])
    }
    for (const [key, value] of Object.entries(configs)) strictEqual(described.configs[key], value)
  })
}

/** The Kafka cluster has the mirror. */
async function follows(): Promise<void> {
  await world.survivor.link.waitForStatus(topic, 'STOPPED')
  await world.original.link.waitForStatus(topic, 'ACTIVE')
  await inStep(world.copies)
  await eventually(async () => deepStrictEqual(await leadersIn(java(), topic), [1001, 1001]))
}

/** The Kafka cluster has the source. */
async function goesBack(): Promise<void> {
  await accepted('original', reversed)
  await world.original.link.waitForStatus(topic, 'STOPPED')
  await world.survivor.link.waitForStatus(topic, 'ACTIVE')
  await isOrdinary()
  await inStep()
}

/** Values are too long for what the write fence lets through. */
const writersOfBoth = (name: string) =>
  new WritersOfBoth(
    [world.cluster, world.survivor.node].map(({ bootstrap }, index) => ({
      name: `${name} at cluster number ${index}`,
      bootstrap,
    })),
    topic,
  )

async function assertKept(writers: WritersOfBoth): Promise<void> {
  const read = await world.there.consume(topic, { content: true })
  const kept = new Set(Object.values(read).flatMap(({ records }) => records.map(row => row[7])))
  deepStrictEqual(
    writers.acknowledged.filter(({ value }) => !kept.has(value)),
    [],
  )
}

test('a standalone mirror takes over from a topic of Kafka brokers, which follow: nothing is lost, and the window is told', {
  skip,
}, async (t: TestContext) => {
  const { survivor } = world
  const assignments = [
    [1, 2],
    [2, 1],
  ]
  await java().createTopic(topic, { assignments, configs })
  await fill(java(), topic, 'first')
  await eventually(() => survivor.link.mirror(topic))
  await inStep()
  const writers = writersOfBoth('the first')
  await eventually(() => ok(writers.acknowledged.length > 20))
  const verb = ['mirror', 'reverse-and-start', topic, '--link', 'twin']
  const dry = await eventually(async () => {
    const answer = await lockstep(survivor.node, [...verb, '--dry-run'])
    strictEqual(answer.status, 0, answer.stderr)
    return answer
  })
  ok(dry)
  deepStrictEqual((await leadersIn(java(), topic)).toSorted(), [1, 2])
  const done = await lockstep(survivor.node, [...verb, '--force', '--wait=90s'])
  strictEqual(done.status, 0, done.stderr)
  match(done.stderr, /orders: .*; other side: [A-Z_]{2,}/)
  const [told = ''] = /Nobody could write for \d+ ms; 0 transactions aborted\./.exec(done.stderr) ?? []
  ok(told, done.stderr)
  t.diagnostic(told)
  await eventually(() => ok(writers.acknowledged.some(({ at }) => at.endsWith('1'))))
  await writers.stop()
  await follows()
  await assertKept(writers)
  await rejects(java().produce(topic, { partition: 0, records: [{ value: 'more than ten bytes' }] }))
  await goesBack()
})

test('transactions of the brokers that end in time are kept, others are aborted by their coordinators and counted', {
  skip,
}, async () => {
  for (const id of ['in-time', 'too-late'])
    for (const partition of partitions)
      await java().produce(topic, {
        ...{ partition, records: [{ value: `${id} ${partition}` }] },
        transaction: { id: `${id}-${partition}`, end: 'open' },
      })
  await accepted('survivor', reversed)
  await world.original.link.waitForStatus(topic, 'PENDING_MIRROR')
  await eventually(async () => ok(/open transaction/.test((await mirrorAt('original'))?.reason ?? '')))
  await Promise.all(partitions.map(partition => java().endTransaction(`in-time-${partition}`, 'commit')))
  await follows()
  for (const partition of partitions) await rejects(java().endTransaction(`too-late-${partition}`, 'commit'))
  await eventually(async () => {
    const found = (await mirrorAt('survivor')) as MirrorData & { reversal: { aborted_transactions: number } }
    strictEqual(found.reversal.aborted_transactions, 2)
  })
  const read = await world.there.consume(topic, { content: true, isolation: 'read_committed' })
  const values = Object.values(read).flatMap(({ records }) => records.map(row => row[7]))
  deepStrictEqual(
    partitions.flatMap(partition => [
      values.includes(`in-time ${partition}`),
      values.includes(`too-late ${partition}`),
    ]),
    [true, false, true, false],
  )
  await goesBack()
})

test('given up at the source it is as it was, and its transactions go on', { skip }, async () => {
  const transaction = { id: 'goes-on', end: 'open' } as const
  await java().produce(topic, { partition: 0, records: [{ value: 'goes on' }], transaction })
  await accepted('survivor', reversed)
  await eventually(async () => ok(/open transaction/.test((await mirrorAt('original'))?.reason ?? '')), {
    intervalMs: 20,
  })
  const [row] = await world.original.link.must('failover', [topic])
  match(row?.warnings?.[0] ?? '', /writable/)
  await world.survivor.link.waitForStatus(topic, 'ACTIVE')
  await eventually(async () => ok(['none', 'STOPPED'].includes(await statusAt('original'))))
  await isOrdinary()
  await java().endTransaction('goes-on', 'commit')
  await fill(java(), topic, 'given up')
  await inStep()
})

test('a mirror that is failed over in between has the source closed, which then follows or is restored', {
  skip,
}, async () => {
  await accepted('survivor', reversed)
  const [row] = await world.survivor.link.must('failover', [topic]).catch(() => [])
  // It may have taken over already.
  match(row?.warnings?.[0] ?? 'stays read-only', /stays read-only/)
  await world.survivor.link.waitForStatus(topic, 'STOPPED')
  await eventually(async () => {
    const mirror = await mirrorAt('original')
    if (mirror?.mirror_status === 'ACTIVE') return
    ok(/restore it/.test(mirror?.reason ?? ''), mirror?.reason ?? '')
    await world.original.link.must('truncate-and-restore', [topic])
  })
  await follows()
  await goesBack()
})

/** Moments of the walk, as either side shows them. */
const moments: Readonly<Record<string, () => Promise<boolean>>> = {
  'the mirror waits': async () => (await statusAt('survivor')) !== 'ACTIVE',
  'the source gets ready': async () => (await statusAt('original')) === 'PENDING_MIRROR',
  'clients are kept out': async () =>
    (await topicConfigAt(world.cluster.node(1).address, topic, 'max.message.bytes')) === '78',
  'the node leads': async () => (await leadersIn(java(), topic)).includes(1001),
  'the source is closed': async () => /^closed at/.test((await mirrorAt('original'))?.reason ?? ''),
  'the mirror is writable': async () => (await statusAt('survivor')) === 'STOPPED',
}

test('whoever is killed at which step, roles change, and what was acknowledged is there', {
  skip,
}, async (t: TestContext) => {
  const seed = chosenSeed()
  t.diagnostic(`LOCKSTEP_SEED=${seed}`)
  const random = seededRandom(seed)
  const writers = writersOfBoth('the second')
  try {
    const steps = Object.keys(moments).toSorted(() => random() - 0.5)
    for (let round = 0; round < chosenRounds(3); round++) {
      const name = steps[round % steps.length] ?? 'the mirror waits'
      const victim = pick(['original', 'original', 'survivor'] as const, random)
      t.diagnostic(`${name}: kill the node of the ${victim === 'original' ? 'source' : 'mirror'}`)
      const already = writers.acknowledged.length
      await eventually(() => ok(writers.acknowledged.length > already + 5))
      await accepted('survivor', reversed)
      const seen = moments[name] ?? (async () => true)
      await eventually(async () => ok((await seen()) || (await statusAt('survivor')) === 'STOPPED'), { intervalMs: 5 })
      await world[victim].node.kill()
      await world[victim].node.start()
      await accepted('survivor', reversed)
      await world.survivor.link.waitForStatus(topic, 'STOPPED')
      await world.original.link.waitForStatus(topic, 'ACTIVE')
      await accepted('original', reversed)
      await world.original.link.waitForStatus(topic, 'STOPPED')
      await world.survivor.link.waitForStatus(topic, 'ACTIVE')
    }
  } finally {
    await writers.stop()
  }
  await isOrdinary()
  await inStep()
  await assertKept(writers)
})
