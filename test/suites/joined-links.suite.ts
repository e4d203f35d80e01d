/** Links into a complete Apache Kafka 4.3.1 that Lockstep nodes have joined: mirrors on every Java replica, groups, and what two nodes do for each other. */
import { deepStrictEqual, match, ok, strictEqual } from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { after, before, test } from 'node:test'
import { alertRules, metricsIn } from '../alerts/alert-rules.ts'
import { eventually } from '../eventually.ts'
import type { LockstepNode } from '../lockstep-process.ts'
import { skipWithout } from '../requirements.ts'
import { topicConfigAt } from '../scenarios/broker-view.ts'
import { assertEqualBatches, assertEqualReads, waitUntilInStep } from '../scenarios/equality.ts'
import { type JoinedWorld, startJoinedWorld } from '../scenarios/joined-world.ts'
import { dumpLog } from '../scenarios/logs.ts'
import { MirrorLink } from '../scenarios/mirror-link.ts'

const skip = skipWithout('java')
let world: JoinedWorld
let first: LockstepNode
let link: MirrorLink
let folder: string | undefined
let sameKey: Readonly<Record<string, string>>

before(async () => {
  if (skip !== false) return
  folder = await mkdtemp(join(tmpdir(), 'lockstep-key-'))
  const file = join(folder, 'secret.key')
  await writeFile(file, `${randomBytes(32).toString('base64')}\n`)
  sameKey = { 'lockstep.secret.key.file': file }
  // The second test is about a session that ends.
  const session = { 'broker.session.timeout.ms': '9000' }
  const often = { 'log.retention.check.interval.ms': '500' }
  const ofBrokers = { ...often, 'log.initial.task.delay.ms': '500' }
  world = await startJoinedWorld({ properties: { 'default.replication.factor': '2', ...session, ...ofBrokers } })
  first = await world.join({ nodeId: 1001, properties: { ...sameKey, ...often } })
})
after(async () => {
  await world?.close()
  if (folder !== undefined) await rm(folder, { recursive: true, force: true })
})

/** Batches of every Java replica are those of the source, but for the leader epoch. */
async function assertOnEveryReplica(topic: string, partitions: number): Promise<void> {
  const { there, here, replica, cluster } = world
  await waitUntilInStep({ source: there, mirror: here }, topic)
  for (let partition = 0; partition < partitions; partition++) {
    const expected = await dumpLog(there, topic, { partition })
    ok(expected.length > 0)
    for (const { id } of cluster.brokers)
      await eventually(async () => {
        const found = await dumpLog(replica(id), topic, { partition })
        assertEqualBatches(found, expected, `${topic}-${partition} on broker ${id}`)
      })
  }
}

test('a mirror of a real source is on every Java replica, led by the Lockstep node', { skip }, async () => {
  const { there, here } = world
  await there.createTopic('orders', { partitions: 2 })
  for (const partition of [0, 1]) await there.produce('orders', { partition, generate: { count: 500 } })
  await there.produce('orders', { generate: { count: 20 }, transaction: { id: 'a', end: 'abort' } })
  link = await eventually(() => world.link(first, { 'metadata.max.age.ms': '1000' }))
  await link.mirror('orders')
  await assertOnEveryReplica('orders', 2)
  await assertEqualReads({ source: there, mirror: here }, 'orders')
  const { partitions } = await here.describe('orders')
  for (const { leader, isr } of partitions) {
    strictEqual(leader, 1001)
    strictEqual(isr.length, 3)
  }
})

test('a joined node tells all the figures that alerts are about', { skip }, async () => {
  const metrics = async () => String((await first.rest.request('GET', '/metrics')).body)
  // Both Kafka brokers follow, and the Lockstep node itself does not count.
  await eventually(async () => match(await metrics(), /^lockstep_mirror_java_isr\{topic="orders"\} 2$/m))
  const body = await metrics()
  match(body, /^lockstep_node_fenced\{node="1001"\} 0$/m)
  match(body, /^lockstep_link_coordinator 1$/m)
  const told = new Set([...body.matchAll(/^# TYPE (\S+) /gm)].map(([, name = '']) => name))
  const wanted = alertRules().flatMap(({ expr }) => metricsIn(expr).map(({ name }) => name))
  deepStrictEqual(
    [...new Set(wanted)].filter(name => !told.has(name)),
    ['up'],
  )
})

test('a mirror with a retention of its own is shortened by it on every replica, and told apart from its fence', {
  skip,
}, async () => {
  const { there, here, replica, cluster } = world
  const { bootstrap, clusterId } = world.source
  const include = 'delete.retention.ms,min.compaction.lag.ms,max.compaction.lag.ms'
  const configs = { 'metadata.max.age.ms': '1000', 'topic.config.sync.include': include }
  const own = await MirrorLink.create(first, 'own-retention', { bootstrap, clusterId, configs })
  await there.createTopic('readings')
  await own.mirror('readings', { 'segment.bytes': '1048576', 'retention.bytes': '1500000' })
  await there.produce('readings', { batch: 10, generate: { count: 4000, valueBytes: 1000 } })
  await eventually(async () => {
    const [partition] = (await here.describe('readings')).partitions
    strictEqual(partition?.highWatermark, 4000)
    const start = partition.logStart
    ok(start > 1000 && start < 3000, `it starts at ${start}`)
    for (const { id } of cluster.brokers) {
      const files = await replica(id).files('readings', 0, ['.log'])
      const first = Math.min(...files.map(file => Number.parseInt(basename(file), 10)))
      // It cuts its segments elsewhere.
      ok(first > 0 && first <= start, `broker ${id} begins at ${first}, not ${start}`)
    }
  })
  strictEqual(await topicConfigAt(cluster.node(1).address, 'readings', 'retention.bytes'), '-1')
  strictEqual(await topicConfigAt(first.bootstrap, 'readings', 'retention.bytes'), '1500000')
  strictEqual((await there.describe('readings')).partitions[0]?.logStart, 0)
})

test('any node takes requests, each mirrors what it leads, and the other goes on where the coordinator was killed', {
  skip,
}, async () => {
  const { there, here } = world
  const second = await world.join({ nodeId: 1002, properties: sameKey })
  await there.createTopic('payments', { partitions: 4 })
  for (const partition of [0, 1, 2, 3]) await there.produce('payments', { partition, generate: { count: 200 } })
  const through = MirrorLink.of(second, link.name)
  await eventually(() => through.mirror('payments'))
  await assertOnEveryReplica('payments', 4)
  const [state] = (await here.describe('__lockstep_state')).partitions
  strictEqual(state?.leader, 1001)
  await first.kill()
  for (const partition of [0, 1, 2, 3]) await there.produce('payments', { partition, generate: { count: 200 } })
  await eventually(async () => {
    const mirror = await through.describe('payments')
    strictEqual(mirror.mirror_status, 'ACTIVE')
    for (const { lag, log_end_offset: end } of mirror.mirror_lags) ok(lag === 0 && end === 400, `${lag} ${end}`)
  })
  await assertOnEveryReplica('payments', 4)
  await assertOnEveryReplica('orders', 2)
})
