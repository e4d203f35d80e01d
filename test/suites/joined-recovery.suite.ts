/** What happens to mirrors in a complete Apache Kafka 4.3.1 when others lose or change something: racks, a truncated source, partitions that another tool adds, a node that dies and loses its disk. */
import { deepStrictEqual, doesNotMatch, match, ok, strictEqual } from 'node:assert/strict'
import { mkdir, rm } from 'node:fs/promises'
import { after, before, test } from 'node:test'
import { eventually } from '../eventually.ts'
import type { LockstepNode } from '../lockstep-process.ts'
import { skipWithout } from '../requirements.ts'
import { loseLastBatch } from '../scenarios/damage.ts'
import { JoinedMirrors, javaReplicasOf } from '../scenarios/joined-mirrors.ts'
import { type JoinedWorld, startJoinedWorld } from '../scenarios/joined-world.ts'
import { MirrorLink } from '../scenarios/mirror-link.ts'

const skip = skipWithout('java')
const [FIRST, SECOND] = [1001, 1002]
const racks = ['a', 'a', 'b']
const session = { 'broker.session.timeout.ms': '9000', 'broker.heartbeat.interval.ms': '1000' }
const configs = { 'metadata.max.age.ms': '1000', 'mirror.unclean.truncation.policy': 'truncate' }
let world: JoinedWorld
let mirrors: JoinedMirrors
let first: LockstepNode
let link: MirrorLink

before(async () => {
  if (skip !== false) return
  world = await startJoinedWorld({ brokers: 3, racks, properties: { 'default.replication.factor': '2', ...session } })
  mirrors = new JoinedMirrors(world)
  first = await world.join({ nodeId: FIRST })
  link = await eventually(() => world.link(first, configs))
})
after(() => world?.close())

const move = (node: LockstepNode, topic: string, to: number): Promise<unknown> =>
  node.rest.call('POST', `/links/${link.name}/mirrors:move`, { mirror_topic_names: [topic], node_id: to })

test('brokers that follow a mirror are in different racks, and the node takes a rack that is there', {
  skip,
}, async () => {
  const { there } = world
  await there.createTopic('orders')
  await there.produce('orders', { generate: { count: 50 }, batch: 10 })
  await link.mirror('orders')
  await eventually(() => mirrors.areLedBy('orders', FIRST))
  for (const placed of await mirrors.view('orders'))
    deepStrictEqual(new Set(javaReplicasOf(placed).map(id => racks[id - 1])), new Set(racks))
  await mirrors.areEqualEverywhere('orders', first)
})

test('a source that lost its tail: every replica is cut, by an epoch that tells followers, and goes on', {
  skip,
}, async () => {
  const { source, there } = world
  const [before] = await mirrors.view('orders')
  await source.node(1).kill()
  await loseLastBatch(there, 'orders', 0)
  await source.node(1).start()
  await eventually(() => there.produce('orders', { generate: { count: 3, keyPrefix: 'other' } }))
  await mirrors.areEqualEverywhere('orders', first)
  await eventually(async () => {
    const [now] = await mirrors.view('orders')
    deepStrictEqual([now?.replicas, now?.leader], [before?.replicas, FIRST])
    ok((now?.leaderEpoch ?? 0) > (before?.leaderEpoch ?? 0))
    match(JSON.stringify(await link.history('orders')), /were cut off/)
  })
  await link.waitForStatus('orders', 'ACTIVE')
})

test('partitions that another tool adds are shown and cannot be written; the mirror takes them when it is moved', {
  skip,
}, async () => {
  const { there, here } = world
  const grow = ['--alter', '--topic', 'orders', '--partitions', '2']
  // It asks any broker, and this node refuses.
  await eventually(() => mirrors.runTool('org.apache.kafka.tools.TopicCommand', ...grow))
  await eventually(async () => deepStrictEqual(await mirrors.conditions('orders', first), [[1, 'OFF_LOCKSTEP']]))
  const written = await here
    .produce('orders', { partition: 1, generate: { count: 1, valueBytes: 100 } })
    .then(() => 'written', String)
  match(written, /RecordTooLarge/)
  await move(first, 'orders', FIRST)
  await there.createPartitions('orders', 2)
  await eventually(() => there.produce('orders', { partition: 1, generate: { count: 20 } }))
  await eventually(() => mirrors.areLedBy('orders', FIRST))
  await mirrors.areEqualEverywhere('orders', first)
})

test('a mirror whose only node is dead is led by a Kafka broker, which another node tells; the disk that was lost is copied, and both nodes share the mirror', {
  skip,
}, async () => {
  await first.kill()
  const second = await world.join({ nodeId: SECOND })
  await eventually(async () => {
    deepStrictEqual(await mirrors.conditions('orders', second), [
      [0, 'LED_BY_KAFKA'],
      [1, 'LED_BY_KAFKA'],
    ])
    const { body } = await second.rest.request('GET', '/metrics')
    match(String(body), /lockstep_mirror_partitions_misplaced\{condition="LED_BY_KAFKA"\} 2/)
    match(second.output, /a mirror partition is not led by a Lockstep node/)
  })
  // Somebody removes its registration, too: what it held is still ours.
  const through = MirrorLink.of(second, link.name)
  await eventually(() => through.waitForStatus('orders', 'ACTIVE'))
  const { here, cluster } = world
  const args = ['unregister', '--bootstrap-server', cluster.bootstrap, '--id', String(FIRST)]
  await here.driver.call('run-tool', { tool: 'org.apache.kafka.tools.ClusterTool', args })
  await eventually(async () =>
    deepStrictEqual(await mirrors.conditions('orders', second), [
      [0, 'OFF_LOCKSTEP'],
      [1, 'OFF_LOCKSTEP'],
    ]),
  )
  await rm(first.dataDirectory, { recursive: true, force: true })
  await mkdir(first.dataDirectory)
  await world.there.produce('orders', { partition: 0, generate: { count: 20 } })
  await first.start()
  // The first node leads both as soon as it has copied them, then the other one stands in for it or takes its place.
  await eventually(async () => {
    const placed = await mirrors.view('orders')
    deepStrictEqual(new Set(placed.map(({ leader }) => leader)), new Set([FIRST, SECOND]))
    for (const { isr, replicas } of placed) {
      deepStrictEqual(new Set(replicas.slice(0, 2)), new Set([FIRST, SECOND]))
      strictEqual(isr.length, replicas.length)
    }
  })
  await world.there.produce('orders', { partition: 1, generate: { count: 20 } })
  await mirrors.areEqualEverywhere('orders', first)
  await mirrors.areEqualEverywhere('orders', second)
  doesNotMatch(JSON.stringify(await eventually(() => through.history('orders'))), /taken_away|FAILED/)
})
