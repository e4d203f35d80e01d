/** Mirrors whose partitions two Lockstep nodes of a complete Apache Kafka 4.3.1 lead: figures, verify, groups, pause, promote and failover reach all of them, and either node may die. */
import { deepStrictEqual, match, ok, strictEqual } from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { eventually } from '../eventually.ts'
import type { LockstepNode } from '../lockstep-process.ts'
import { skipWithout } from '../requirements.ts'
import { assertEqualBatches, assertEqualReads, waitUntilInStep } from '../scenarios/equality.ts'
import { type JoinedWorld, startJoinedWorld } from '../scenarios/joined-world.ts'
import { dumpLog } from '../scenarios/logs.ts'
import { MirrorLink } from '../scenarios/mirror-link.ts'

const skip = skipWithout('java')
const PARTITIONS = [0, 1, 2, 3]
const COUNT = 100
let world: JoinedWorld
/** The link coordinator, until it is killed. */
let first: LockstepNode
let second: LockstepNode
let folder: string | undefined
/** The same link, asked through either node. */
let links: readonly [MirrorLink, MirrorLink]

before(async () => {
  if (skip !== false) return
  folder = await mkdtemp(join(tmpdir(), 'lockstep-key-'))
  const file = join(folder, 'secret.key')
  await writeFile(file, `${randomBytes(32).toString('base64')}\n`)
  const properties = { 'lockstep.secret.key.file': file }
  // The last test is about sessions that end.
  world = await startJoinedWorld({
    properties: { 'default.replication.factor': '2', 'broker.session.timeout.ms': '9000' },
  })
  first = await world.join({ nodeId: 1001, properties })
  second = await world.join({ nodeId: 1002, properties })
  const groupFilters = [{ name: 'readers', patternType: 'LITERAL', filterType: 'INCLUDE' }]
  const configs = {
    'metadata.max.age.ms': '1000',
    'consumer.offset.sync.enable': 'true',
    'consumer.offset.sync.ms': '1000',
    'consumer.offset.group.filters': JSON.stringify({ groupFilters }),
  }
  const link = await eventually(() => world.link(first, configs))
  links = [link, MirrorLink.of(second, link.name)]
})
after(async () => {
  await world?.close()
  if (folder !== undefined) await rm(folder, { recursive: true, force: true })
})

async function fill(topic: string): Promise<void> {
  for (const partition of PARTITIONS) await world.there.produce(topic, { partition, generate: { count: COUNT } })
}

/** A mirror with partitions on both nodes, in step with its source. */
async function mirrored(topic: string): Promise<void> {
  const { there, here } = world
  await there.createTopic(topic, { partitions: PARTITIONS.length })
  await fill(topic)
  await eventually(() => links[1].mirror(topic))
  await waitUntilInStep({ source: there, mirror: here }, topic)
  await eventually(async () => deepStrictEqual(new Set(await leadersOf(topic)), new Set([1001, 1002])))
}

const leadersOf = async (topic: string): Promise<readonly number[]> =>
  (await world.here.describe(topic)).partitions
    .toSorted((a, b) => a.partition - b.partition)
    .map(({ leader }) => leader)

/** Every partition has caught up, as both nodes tell. */
async function assertNoLag(topic: string, end: number, through: readonly MirrorLink[] = links): Promise<void> {
  for (const link of through)
    await eventually(async () => {
      const { mirror_lags: lags } = await link.describe(topic)
      deepStrictEqual(
        lags.map(({ lag, log_end_offset: at }) => [lag, at]),
        PARTITIONS.map(() => [0, end]),
      )
    })
}

async function committedHere(): Promise<Record<string, number>> {
  const args = { bootstrap: world.cluster.bootstrap, op: 'offsets', group: 'readers' }
  const answer = await world.here.driver.call<Record<string, number | readonly number[]>>('admin-groups', args)
  return Object.fromEntries(Object.entries(answer).map(([partition, offset]) => [partition, [offset].flat()[0] ?? -1]))
}

async function verify(topic: string): Promise<{ readonly outcome: string | null; readonly topics: unknown }> {
  const path = `/links/${links[0].name}`
  const begun = await second.rest.call('POST', `${path}/mirrors:verify`, { mirror_topic_names: [topic] })
  const { verification_id: id } = begun as { readonly verification_id: string }
  return await eventually(async () => {
    const found = await second.rest.call('GET', `${path}/verifications/${id}`)
    const verification = found as { state: string; outcome: string | null; topics: unknown }
    strictEqual(verification.state, 'COMPLETED')
    return verification
  })
}

/** Partitions of which a node tells the bytes in its metrics. */
async function partitionsInMetrics(node: LockstepNode, topic: string): Promise<number[]> {
  const { body } = await node.rest.request('GET', '/metrics')
  const lines = String(body).matchAll(
    new RegExp(`^lockstep_mirror_bytes_total\\{.*topic="${topic}",partition="(\\d)"\\}`, 'gm'),
  )
  return Array.from(lines, ([, partition]) => Number(partition)).sort()
}

/** What the source had is on every Java broker, which lead now, and whoever writes is let. */
async function assertReleased(topic: string, end: number): Promise<void> {
  const { there, here, replica, cluster } = world
  await eventually(async () => ok((await leadersOf(topic)).every(leader => leader < 1001)))
  for (const partition of PARTITIONS) {
    const expected = await dumpLog(there, topic, { partition })
    for (const { id } of cluster.brokers)
      await eventually(async () => {
        const found = await dumpLog(replica(id), topic, { partition })
        assertEqualBatches(found.slice(0, expected.length), expected, `${topic}-${partition} on broker ${id}`)
      })
    const { highWatermark = -1 } = (await here.describe(topic)).partitions.find(at => at.partition === partition) ?? {}
    ok(highWatermark >= end)
    // The broker that leads may hear a moment later that the fence is gone.
    await eventually(() => here.produce(topic, { partition, generate: { count: 1 } }))
  }
}

test('both nodes tell the lags of all partitions, each in its metrics those that it leads, and verify compares all', {
  skip,
}, async () => {
  await mirrored('orders')
  await assertNoLag('orders', COUNT)
  const { outcome, topics } = await verify('orders')
  strictEqual(outcome, 'EQUAL', JSON.stringify(topics))
  const leaders = await leadersOf('orders')
  const ledBy = (node: number) => PARTITIONS.filter(partition => leaders[partition] === node)
  deepStrictEqual(await partitionsInMetrics(first, 'orders'), ledBy(1001))
  deepStrictEqual(await partitionsInMetrics(second, 'orders'), ledBy(1002))
  const states = await Promise.all(
    [first, second].map(async ({ rest }) => String((await rest.request('GET', '/metrics')).body)),
  )
  match(states[0] ?? '', /lockstep_mirror_state\{[^}]*state="ACTIVE"\} 1/)
  ok(!(states[1] ?? '').includes('lockstep_mirror_state{'))
})

test('offsets of a group reach all partitions; a pause stops and a resume goes on with all of them', {
  skip,
}, async () => {
  const offsets = Object.fromEntries(PARTITIONS.map(partition => [`orders-${partition}`, 40 + partition]))
  const { there } = world
  await there.driver.call('admin-groups', {
    bootstrap: there.bootstrap,
    op: 'alter-offsets',
    group: 'readers',
    offsets,
  })
  await eventually(async () => deepStrictEqual(await committedHere(), offsets))
  await links[1].must('pause', ['orders'])
  await fill('orders')
  await links[1].must('resume', ['orders'])
  await assertNoLag('orders', 2 * COUNT)
  await assertEqualReads({ source: there, mirror: world.here }, 'orders')
})

test('a promote waits for all partitions and leaves all to the Java brokers, with the offsets of groups', {
  skip,
}, async () => {
  const offsets = Object.fromEntries(PARTITIONS.map(partition => [`orders-${partition}`, 2 * COUNT - partition]))
  const { there } = world
  await there.driver.call('admin-groups', {
    bootstrap: there.bootstrap,
    op: 'alter-offsets',
    group: 'readers',
    offsets,
  })
  await links[1].must('promote', ['orders'])
  await links[1].waitForStatus('orders', 'STOPPED')
  deepStrictEqual(await committedHere(), offsets)
  await assertReleased('orders', 2 * COUNT)
})

test('a failover ends transactions that are open in partitions of either node', { skip }, async () => {
  const { there, here } = world
  await mirrored('payments')
  for (const partition of PARTITIONS)
    await there.produce('payments', {
      partition,
      generate: { count: 5 },
      transaction: { id: `open-${partition}`, end: 'open' },
    })
  await waitUntilInStep({ source: there, mirror: here }, 'payments')
  const [row] = await links[1].failOver(['payments'])
  strictEqual(row?.open_transactions, PARTITIONS.length)
  for (const { highWatermark, lastStable } of (await here.describe('payments')).partitions)
    strictEqual(lastStable, highWatermark)
  await assertReleased('payments', COUNT + 6)
})

test('either node is killed: the other one mirrors everything, and coordinates', { skip }, async () => {
  await mirrored('parcels')
  await second.kill()
  await fill('parcels')
  await assertNoLag('parcels', 2 * COUNT, [links[0]])
  await second.start()
  await eventually(async () => deepStrictEqual(new Set(await leadersOf('parcels')), new Set([1001, 1002])))
  await first.kill()
  await fill('parcels')
  await assertNoLag('parcels', 3 * COUNT, [links[1]])
  await eventually(() => links[1].must('failover', ['parcels']))
  await links[1].waitForStatus('parcels', 'STOPPED')
  await assertReleased('parcels', 3 * COUNT)
})
