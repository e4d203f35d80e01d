/** Mirrors in a complete Apache Kafka 4.3.1 with an authorizer that is open by default, and snapshots of its metadata: what another tool takes off a fence, and a promote with a broker down, among producers whose ids are the source's. */
import { deepStrictEqual, match, ok, rejects, strictEqual } from 'node:assert/strict'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { eventually } from '../eventually.ts'
import type { LockstepNode } from '../lockstep-process.ts'
import { skipWithout } from '../requirements.ts'
import { topicConfigAt } from '../scenarios/broker-view.ts'
import { JoinedMirrors } from '../scenarios/joined-mirrors.ts'
import { type JoinedWorld, startJoinedWorld } from '../scenarios/joined-world.ts'
import type { MirrorLink } from '../scenarios/mirror-link.ts'

const skip = skipWithout('java')
const NODE_ID = 1001
const CONTROLLER = 100
const session = { 'broker.session.timeout.ms': '9000', 'broker.heartbeat.interval.ms': '1000' }
/** Everybody is ANONYMOUS and may do what no ACL forbids: the DENY needs its ALLOW, or nobody could read any more. */
const authorizer = {
  'authorizer.class.name': 'org.apache.kafka.metadata.authorizer.StandardAuthorizer',
  'allow.everyone.if.no.acl.found': 'true',
}
const snapshots = { 'metadata.log.max.record.bytes.between.snapshots': '1000' }
/** As many producers write the source, each with an id of its own, from 0 on. */
const PRODUCERS = 12
const RECORDS = 5
const records = Array.from({ length: RECORDS }, (_, i) => ({ key: `k${i}`, value: 'a value of more than ten bytes' }))
let world: JoinedWorld
let mirrors: JoinedMirrors
let node: LockstepNode
let link: MirrorLink
let olds = 0

before(async () => {
  if (skip !== false) return
  const properties = { 'default.replication.factor': '2', ...session, ...authorizer, ...snapshots }
  world = await startJoinedWorld({ properties })
  mirrors = new JoinedMirrors(world)
  const { there, here } = world
  await here.createTopic('plain', { assignments: [[1]] })
  await eventually(writeWithAnIdOfTheSource)
  const log = join(world.cluster.node(CONTROLLER).dataDirectory, '__cluster_metadata-0')
  // That with which a cluster begins counts for nothing.
  await eventually(async () => ok((await readdir(log)).some(name => /^0*[1-9].*\.checkpoint$/.test(name))))
  await there.createTopic('orders')
  for (let producer = 0; producer < PRODUCERS; producer++) await there.produce('orders', { partition: 0, records })
  node = await world.join({ nodeId: NODE_ID, properties: authorizer })
  link = await eventually(() => world.link(node, { 'metadata.max.age.ms': '1000' }))
  await link.mirror('orders')
  await eventually(() => mirrors.areLedBy('orders', NODE_ID))
})
after(() => world?.close())

/** Ids come from the block of the broker that is asked, which is chance. The producer lives on. */
async function writeWithAnIdOfTheSource(): Promise<void> {
  const { here } = world
  const old = { id: `old-${++olds}`, bootstrap: here.bootstrap }
  await here.driver.call('producer', { op: 'open', ...old })
  await here.driver.call('producer', { op: 'send', topic: 'plain', records, ...old })
  const transactions = 'org.apache.kafka.tools.TransactionsCommand'
  const told = await mirrors.runTool(transactions, 'describe-producers', '--topic', 'plain', '--partition', '0')
  const ids = [...told.matchAll(/^(\d+)\s/gm)].map(([, id]) => Number(id))
  ok(
    ids.some(id => id < PRODUCERS),
    `${ids}`,
  )
}

test('a node that joins begins with the latest snapshot of the metadata', { skip }, () => {
  match(node.output, /the metadata was read from a snapshot/)
})

const write = () => world.here.produce('orders', { partition: 0, records })

async function canBeReadAndNotBeWritten(): Promise<void> {
  const { here } = world
  strictEqual((await here.consume('orders'))[0]?.records.length, PRODUCERS * RECORDS)
  await rejects(write(), /TopicAuthorization/)
}

test('what another tool takes off a fence is up again, told and counted, and readers stay', { skip }, async () => {
  const { cluster } = world
  await eventually(canBeReadAndNotBeWritten)
  const acls = 'org.apache.kafka.tools.AclCommand'
  const removal = ['--remove', '--force', '--topic', 'orders']
  await mirrors.runTool(acls, ...removal, '--deny-principal', 'User:*', '--operation', 'Write')
  await eventually(canBeReadAndNotBeWritten)
  await mirrors.runTool(acls, ...removal, '--allow-principal', 'User:*', '--operation', 'All')
  await eventually(canBeReadAndNotBeWritten)
  const entity = ['--entity-type', 'topics', '--entity-name', 'orders']
  const alter = ['--alter', ...entity, '--delete-config', 'max.message.bytes']
  // It asks any broker, and this node refuses.
  await eventually(() => mirrors.runTool('kafka.admin.ConfigCommand', ...alter))
  await eventually(async () => {
    strictEqual(await topicConfigAt(cluster.node(1).address, 'orders', 'max.message.bytes'), '78')
    const told = (await link.history('orders')).filter(({ event }) => event === 'fence_changed')
    const reasons = told.map(({ reason }) => reason).join()
    match(reasons, /restored: the ACL that denies WRITE/)
    match(reasons, /restored: the ACL that allows the rest/)
    match(reasons, /restored: max\.message\.bytes/)
    const { body } = await node.rest.request('GET', '/metrics')
    match(String(body), new RegExp(`lockstep_incidents_total\\{kind="fence_changed"\\} ${told.length}`))
  })
  await link.waitForStatus('orders', 'ACTIVE')
})

test('a promote with a broker down: the other one leads, no producer is taken for one of the source, and the one that comes back follows', {
  skip,
}, async () => {
  const { cluster, here } = world
  await mirrors.areEqualEverywhere('orders', node)
  await cluster.node(2).kill()
  await eventually(async () => deepStrictEqual((await mirrors.view('orders'))[0]?.isr.toSorted(), [1, NODE_ID]))
  await link.must('promote', ['orders'])
  await link.waitForStatus('orders', 'STOPPED')
  await eventually(async () => {
    const [placed] = await mirrors.view('orders')
    deepStrictEqual([placed?.leader, placed?.isr], [1, [1]])
  })
  const told = (await link.history('orders')).map(({ reason }) => reason).join()
  match(told, /brokers 2 could not be asked/)
  match(told, /producers of this cluster have producer ids of the source's.*\(writes topic plain\)/)
  // Whose records are taken for repetitions is told where the first ones are.
  let end = PRODUCERS * RECORDS
  for (let producer = 0; producer < PRODUCERS; producer++) {
    const { first } = await eventually(write)
    deepStrictEqual(first, { 0: end })
    end += RECORDS
  }
  strictEqual((await here.consume('orders'))[0]?.records.length, end)
  await cluster.node(2).start()
  await eventually(async () => {
    const [grown] = await mirrors.view('orders')
    deepStrictEqual([grown?.leader, grown?.replicas.toSorted(), grown?.isr.toSorted()], [1, [1, 2], [1, 2]])
  })
  ok(!(await topicConfigAt(cluster.node(1).address, 'orders', 'max.message.bytes'))?.startsWith('78'))
})
