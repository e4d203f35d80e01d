// One data directory, written by Lockstep and gone on with by Apache Kafka 4.3.1 and back, and the other way round: nothing is lost.
import { deepStrictEqual, match, ok } from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { eventually } from '../eventually.ts'
import { JavaDriver } from '../java/driver.ts'
import { KafkaCluster, shortSession } from '../kafka/cluster.ts'
import { LockstepNode } from '../lockstep-process.ts'
import { Opened } from '../opened.ts'
import { skipWithout } from '../requirements.ts'
import { contentOptions, fillDirectory, fillNewerKinds, newerKinds, oneByOne } from '../scenarios/directory-content.ts'
import { type DirectoryView, viewOf } from '../scenarios/directory-view.ts'
import { TopicSide } from '../scenarios/topic-side.ts'

const skip = skipWithout('java')
const opened = new Opened()
const folders: string[] = []
let driver: JavaDriver

before(async () => {
  if (skip === false) driver = await opened.add(JavaDriver.start({ version: '4.3.1', heapMb: 512 }))
})
after(async () => {
  await opened.close()
  for (const folder of folders) await rm(folder, { recursive: true, force: true })
})

const properties = {
  'offsets.topic.num.partitions': '4',
  'offsets.topic.replication.factor': '1',
  'transaction.state.log.num.partitions': '4',
  'transaction.state.log.replication.factor': '1',
  'transaction.state.log.min.isr': '1',
  'group.initial.rebalance.delay.ms': '0',
  'group.min.session.timeout.ms': '1000',
  ...shortSession,
  'authorizer.class.name': 'org.apache.kafka.metadata.authorizer.StandardAuthorizer',
  'super.users': 'User:ANONYMOUS',
}

interface Data {
  readonly directory: string
  readonly clusterId: string
}

async function freshDirectory(): Promise<Data> {
  const folder = await mkdtemp(join(tmpdir(), 'lockstep-directory-'))
  folders.push(folder)
  return { directory: join(folder, 'data'), clusterId: 'MkU3OEVBNTcwNTJENDM2Qg' }
}

interface Stay {
  readonly kind: 'kafka' | 'lockstep'
  readonly data: Data
  /** How it ends; default a clean stop. */
  readonly end?: 'stop' | 'kill'
}

/** A node of either kind on a directory, for the time of `work`. */
async function on<T>({ kind, data, end = 'stop' }: Stay, work: (bootstrap: string) => Promise<T>): Promise<T> {
  const { bootstrap, stop, close } = kind === 'kafka' ? await startKafka(data) : await startLockstep(data)
  try {
    const result = await work(bootstrap)
    if (end === 'stop') await stop()
    return result
  } finally {
    await close()
  }
}

async function startKafka(data: Data) {
  const cluster = await KafkaCluster.start({ version: '4.3.1', data, properties })
  return { bootstrap: cluster.bootstrap, stop: () => cluster.node(1).stop(), close: () => cluster.close() }
}

async function startLockstep(data: Data) {
  const node = await LockstepNode.start({ data, properties })
  return { bootstrap: node.bootstrap, stop: () => node.stop(), close: () => node.close() }
}

/** The view once every transaction that ends has ended, which comes a moment after the commit is acknowledged, and no group is in between. */
const settledView = (bootstrap: string): Promise<DirectoryView> =>
  eventually(
    async () => {
      const view = await viewOf(driver, bootstrap, contentOptions)
      ok(!JSON.stringify(view.transactions).includes('Prepare'), 'a transaction is being ended')
      ok(!/Stable|Rebalance|Assigning|Reconciling/.test(JSON.stringify(view.groups)), 'a group has members')
      return view
    },
    { timeoutMs: 120_000, intervalMs: 500 },
  )

/** Waits until the node shows what is expected: coordinators load after a node listens, and Kafka after its controller leads. */
async function assertView(bootstrap: string, expected: DirectoryView): Promise<void> {
  await eventually(async () => deepStrictEqual(await viewOf(driver, bootstrap, contentOptions), expected), {
    timeoutMs: 120_000,
    intervalMs: 500,
  })
}

/** Clients go on: an idempotent producer, the transaction that was left open is aborted by its successor, a group commits. */
async function goOn(bootstrap: string, round: string): Promise<void> {
  const side = new TopicSide(driver, { bootstrap, dataDirectory: '' })
  const id = `${round}-open`
  await side.produce('records', { partition: 0, generate: { count: 20, seed: 7 } })
  const transaction = { id: 'open', end: 'commit' } as const
  await side.produce('transactional', { partition: 1, records: [{ value: round }], transaction })
  const [partition] = (await side.describe('transactional')).partitions
  deepStrictEqual(partition?.lastStable, partition?.highWatermark, 'the open transaction is still open')
  const consumer = (op: string, args: object = {}) => driver.call('consumer', { bootstrap, id, op, ...args })
  await consumer('open', { properties: { 'group.id': 'members' } })
  await consumer('subscribe', { topics: ['compacted'] })
  await eventually(
    async () => ok(((await consumer('state')) as { assignment: string[] }).assignment.length === 1, 'no assignment'),
    { timeoutMs: 90_000 },
  )
  await consumer('commit', { offsets: { 'compacted-0': [round.length, round] } })
  await consumer('close')
}

for (const [first, second] of [
  ['lockstep', 'kafka'],
  ['kafka', 'lockstep'],
] as const)
  test(`a directory of ${first} is gone on with by ${second}, and after a kill by ${first} again`, {
    skip,
  }, async () => {
    const data = await freshDirectory()
    const written = await on({ kind: first, data }, async bootstrap => {
      await fillDirectory(driver, bootstrap)
      return settledView(bootstrap)
    })
    const changed = await on({ kind: second, data, end: 'kill' }, async bootstrap => {
      await assertView(bootstrap, written)
      await goOn(bootstrap, `there, ${second}`)
      return settledView(bootstrap)
    })
    await on({ kind: first, data }, async bootstrap => {
      await assertView(bootstrap, changed)
      await goOn(bootstrap, `and back, ${first}`)
    })
  })

test('groups and quotas that only Kafka has come back from Lockstep as they were, also after a kill', {
  skip,
}, async () => {
  const data = await freshDirectory()
  const written = await on({ kind: 'kafka', data }, async bootstrap => {
    await fillNewerKinds(driver, bootstrap)
    // Two equal looks: members that have left are gone, and a quota is known.
    return eventually(
      async () => {
        const first = await newerKinds(driver, bootstrap)
        deepStrictEqual(await newerKinds(driver, bootstrap), first)
        ok(!/Stable|Assigning|Reconciling/.test(JSON.stringify(first)), 'a group has members')
        match(JSON.stringify(first), /12345/)
        return first
      },
      { timeoutMs: 120_000, intervalMs: 500 },
    )
  })
  // Enough of its own in the same internal topics, some of it deleted again, and the log killed in the middle.
  await on({ kind: 'lockstep', data, end: 'kill' }, async bootstrap => {
    const side = new TopicSide(driver, { bootstrap, dataDirectory: '' })
    await side.produce('newer', { records: [{ value: 'v10' }] })
    for (const group of ['a', 'b', 'c', 'd', 'e']) {
      const call = (op: string, args: object) => driver.call('admin-groups', { bootstrap, op, ...args })
      await call('alter-offsets', { group, offsets: { 'newer-0': 3 } })
      await call('delete', { groups: [group] })
      await call('alter-offsets', { group, offsets: { 'newer-0': 2 } })
    }
  })
  await on({ kind: 'kafka', data }, async bootstrap => {
    await eventually(async () => deepStrictEqual(await newerKinds(driver, bootstrap), written), {
      timeoutMs: 120_000,
      intervalMs: 500,
    })
    const shared = { group: 'shared', topic: 'newer', count: 7, properties: oneByOne }
    const rest = await driver.call('share-consume', { bootstrap, ...shared })
    deepStrictEqual(
      rest,
      [4, 5, 6, 7, 8, 9, 10].map(offset => `${offset} v${offset}`),
    )
  })
})
