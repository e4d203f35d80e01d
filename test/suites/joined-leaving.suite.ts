/** How Lockstep nodes leave a complete Apache Kafka 4.3.1, for a while or for good: stopped, drained and removed, dead under transactions of others, and back after the kill switch. */
import { deepStrictEqual, doesNotMatch, match, ok, strictEqual } from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, type TestContext, test } from 'node:test'
import { seededRandom } from '../../src/core/random.ts'
import { eventually } from '../eventually.ts'
import type { LockstepNode } from '../lockstep-process.ts'
import { skipWithout } from '../requirements.ts'
import { chosenSeed } from '../scenarios/chance.ts'
import { isLockstepId, JoinedMirrors, javaReplicasOf } from '../scenarios/joined-mirrors.ts'
import { type JoinedWorld, startJoinedWorld } from '../scenarios/joined-world.ts'
import { Load } from '../scenarios/load.ts'
import { MirrorLink } from '../scenarios/mirror-link.ts'

const skip = skipWithout('java')
const [FIRST, SECOND] = [1001, 1002]
const PARTITIONS = 2
const session = { 'broker.session.timeout.ms': '9000', 'broker.heartbeat.interval.ms': '1000' }
let world: JoinedWorld
let mirrors: JoinedMirrors
let first: LockstepNode
let second: LockstepNode
let link: MirrorLink

before(async () => {
  if (skip !== false) return
  world = await startJoinedWorld({ properties: { 'default.replication.factor': '2', ...session } })
  mirrors = new JoinedMirrors(world)
  first = await world.join({ nodeId: FIRST })
  await world.there.createTopic('orders', { partitions: PARTITIONS })
  link = await eventually(() => world.link(first, { 'metadata.max.age.ms': '1000' }))
  await link.mirror('orders')
  await eventually(() => mirrors.areLedBy('orders', FIRST))
})
after(() => world?.close())

const move = (node: LockstepNode, topic: string, to: number): Promise<unknown> =>
  node.rest.call('POST', `/links/${link.name}/mirrors:move`, { mirror_topic_names: [topic], node_id: to })

async function brokersLead(): Promise<void> {
  for (const { leader } of await mirrors.view('orders')) ok(leader > 0 && !isLockstepId(leader), `${leader} leads`)
}

test('a node that another tool unregisters registers again by itself, and its mirrors go on', { skip }, async () => {
  const { there, here, cluster } = world
  const epochs = async () => (await mirrors.view('orders')).map(({ leaderEpoch }) => leaderEpoch)
  const before = await epochs()
  const args = ['unregister', '--bootstrap-server', cluster.bootstrap, '--id', String(FIRST)]
  const tool = { tool: 'org.apache.kafka.tools.ClusterTool', args }
  const { status, out, err } = await here.driver.call<{ status: number; out: string; err: string }>('run-tool', tool)
  strictEqual(status, 0, `${out}${err}`)
  await there.produce('orders', { partition: 0, generate: { count: 20 } })
  await eventually(async () => {
    ok((await epochs()).every((epoch, partition) => epoch > (before[partition] ?? 0)))
    await mirrors.areLedBy('orders', FIRST)
  })
  await mirrors.areEqualEverywhere('orders', first)
  const told = await eventually(() => link.history('orders'))
  doesNotMatch(JSON.stringify(told), /taken_away|FAILED/)
  await link.waitForStatus('orders', 'ACTIVE')
})

test('a node that is stopped hands over once and takes nothing back while it leaves', { skip }, async () => {
  const before = await mirrors.view('orders')
  await first.stop()
  await eventually(async () => {
    const after = await mirrors.view('orders')
    deepStrictEqual(
      after.map(({ leader, leaderEpoch }, partition) => [
        leader < FIRST,
        leaderEpoch - (before[partition]?.leaderEpoch ?? 0),
      ]),
      before.map(() => [true, 1]),
    )
  })
  await first.start()
  await eventually(() => mirrors.areLedBy('orders', FIRST))
})

test('a mirror is moved to another node under load, and the one that it left is drained and unregistered', {
  skip,
}, async () => {
  const { there } = world
  second = await world.join({ nodeId: SECOND })
  const load = new Load(there, { topics: ['orders'], partitions: PARTITIONS, random: seededRandom(chosenSeed()) })
  await eventually(() => move(second, 'orders', SECOND))
  await eventually(() => mirrors.areLedBy('orders', SECOND))
  await eventually(() => second.rest.call('POST', `/nodes/${FIRST}:drain`))
  await eventually(async () => {
    for (const topic of ['orders', '__lockstep_state'])
      for (const { replicas } of await mirrors.view(topic)) ok(!replicas.includes(FIRST), `${topic} ${replicas}`)
  })
  await first.stop()
  await eventually(() => second.rest.call('DELETE', `/nodes/${FIRST}`))
  await load.stop()
  await eventually(() => mirrors.areLedBy('orders', SECOND))
  await mirrors.areEqualEverywhere('orders', second)
  const { data } = (await second.rest.call('GET', '/nodes')) as { readonly data: readonly { node_id: number }[] }
  deepStrictEqual(
    data.map(({ node_id: id }) => id),
    [SECOND],
  )
})

test('transactions of others end while the only node is dead, also one that wanted to write the mirror: its marker is cut when the node leads again', {
  skip,
}, async () => {
  const { there, here } = world
  const [{ highWatermark: end } = { highWatermark: -1 }] = (await here.describe('orders')).partitions
  await second.kill()
  await eventually(brokersLead)
  await here.createTopic('unrelated', { replicationFactor: 2 })
  const records = [{ key: 'k', value: 'a value of more than ten bytes' }]
  let attempts = 0
  // The mirror refuses the record as too large, or before that a producer whose id is that of one at the source. Whose it is, is chance.
  const application = await eventually(async () => {
    const id = `application-${++attempts}`
    const call = (op: string, args: object = {}) =>
      here.driver.call('producer', { id, op, bootstrap: here.bootstrap, ...args })
    await call('open', { properties: { 'transactional.id': id } })
    await call('init')
    await call('begin')
    const sent = JSON.stringify(await call('send', { topic: 'orders', partition: 0, records }))
    await call('abort')
    if (!sent.includes('RecordTooLarge')) await call('close')
    match(sent, /RecordTooLarge/)
    return call
  })
  await eventually(async () => {
    const [{ highWatermark, lastStable } = { highWatermark: -1, lastStable: -1 }] = (await here.describe('orders'))
      .partitions
    ok(highWatermark > end)
    strictEqual(lastStable, highWatermark)
  })
  await application('begin')
  await application('send', { topic: 'unrelated', partition: 0, records })
  await application('commit')
  await application('close')
  await eventually(async () => {
    const read = await here.consume('unrelated', { isolation: 'read_committed' })
    strictEqual(read[0]?.records.length, 1)
  })
  await there.produce('orders', { partition: 0, generate: { count: 20 } })
  await second.start()
  await eventually(() => mirrors.areLedBy('orders', SECOND))
  await mirrors.areEqualEverywhere('orders', second)
  const at = MirrorLink.of(second, link.name)
  await eventually(async () => {
    const told = (await at.history('orders')).map(({ event }) => event)
    ok(told.includes('fork'), `${told}\n${second.output}`)
  })
  await at.waitForStatus('orders', 'ACTIVE')
})

test('a node that is back after the kill switch leaves the topic to those who write it', {
  skip,
}, async (t: TestContext) => {
  const { there, here } = world
  const properties = { 'transaction.timeout.ms': '600000' }
  const transaction = { id: 'left open', end: 'open' } as const
  const { first: start } = await there.produce('orders', {
    partition: 1,
    generate: { count: 3 },
    transaction,
    properties,
  })
  await mirrors.areEqualEverywhere('orders', second)
  await second.kill()
  await eventually(brokersLead)
  const folder = await mkdtemp(join(tmpdir(), 'lockstep-kill-switch-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  const file = join(folder, 'move.json')
  const partitions = (await mirrors.view('orders')).map((placed, partition) => ({
    topic: 'orders',
    partition,
    replicas: javaReplicasOf(placed).filter(id => placed.isr.includes(id)),
  }))
  await writeFile(file, JSON.stringify({ version: 1, partitions }))
  const reassign = 'org.apache.kafka.tools.reassign.ReassignPartitionsCommand'
  await mirrors.runTool(reassign, '--reassignment-json-file', file, '--execute')
  const abort = ['abort', '--topic', 'orders', '--partition', '1', '--start-offset', String(start['1'])]
  await mirrors.runTool('org.apache.kafka.tools.TransactionsCommand', ...abort)
  await eventually(async () => {
    const [, { highWatermark, lastStable } = { highWatermark: 0, lastStable: -1 }] = (await here.describe('orders'))
      .partitions
    strictEqual(lastStable, highWatermark)
  })
  const entity = ['--entity-type', 'topics', '--entity-name', 'orders']
  const fence = 'max.message.bytes,retention.bytes,retention.ms'
  await mirrors.runTool('kafka.admin.ConfigCommand', '--alter', ...entity, '--delete-config', fence)
  // Brokers that were not restarted hand out producer ids that may be those of the source.
  const write = { partition: 0, idempotent: false, generate: { count: 5, valueBytes: 100 } }
  const { last } = await eventually(() => here.produce('orders', write))
  await second.start()
  await eventually(async () => {
    const mirror = await MirrorLink.of(second, link.name).describe('orders')
    strictEqual(mirror.mirror_status, 'FAILED', mirror.reason ?? '')
  })
  const [{ highWatermark } = { highWatermark: -1 }] = (await here.describe('orders')).partitions
  strictEqual(highWatermark, (last['0'] ?? 0) + 1)
  await here.produce('orders', write)
  for (const { replicas } of await mirrors.view('orders')) ok(replicas.every(id => id < FIRST))
})
