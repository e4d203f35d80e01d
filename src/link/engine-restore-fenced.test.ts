/** Truncate-and-restore in a cluster where others lead too: the fence comes on with the restore, and off where nothing comes of it, wherever the node is killed. */
import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { batchAt, mirrorRequest } from './fakes/engine-world.ts'
import { type PeerCluster, PeerWorld } from './fakes/peer-clusters.ts'

const parked = new Map([
  ['max.message.bytes', '78'],
  ['retention.ms', '-1'],
])

const ask = (side: PeerCluster, verb: 'failover' | 'truncate-and-restore') =>
  side.engine.alterMirrors('twin', verb, { selection: { names: ['orders'] }, validateOnly: false })

/** East is a joined cluster whose topic has a retention of its own; west took over from it. */
async function forked(): Promise<PeerWorld> {
  const world = new PeerWorld()
  for (const { cluster } of [world.east, world.west])
    for (const [key, value] of [
      ['max.message.bytes', '1048588'],
      ['retention.ms', '604800000'],
    ] as const)
      cluster.defaultConfigs.set(key, value)
  world.east.cluster.fence.park(parked)
  await world.start()
  world.east.cluster.addTopic('orders', 1, new Map([['retention.ms', '5000']]))
  world.east.write('orders', batchAt(0, 3))
  await world.west.engine.createMirror('twin', mirrorRequest('orders'))
  await world.pass(1000)
  await ask(world.west, 'failover')
  await world.pass(500)
  world.east.write('orders', batchAt(3, 4, { producerId: 1n }))
  world.west.write('orders', batchAt(3, 2, { producerId: 2n }))
  return world
}

const configsOf = ({ cluster }: PeerCluster) => [...(cluster.topicNamed('orders')?.configs ?? [])].sort()

test('a topic that is restored is fenced, and what its configs are meant to be is kept', async () => {
  const world = await forked()
  const { east, west } = world
  const [row] = await ask(east, 'truncate-and-restore')
  equal(row?.errorMessage, null)
  deepEqual(configsOf(east), [...parked])
  await world.pass(2000)
  equal(east.status('orders'), 'ACTIVE')
  deepEqual(east.contents('orders'), west.contents('orders'))
  const { topicId = '' } = east.cluster.topicNamed('orders') ?? {}
  ok(topicId)
  equal(east.engine.fences.trueConfigs(topicId as never)?.get('max.message.bytes'), null)
  // What was there before the cut counts as mirrored: nobody else may have written it.
  const leadership = east.engine.fences.leadershipOf(topicId as never, { topic: 'orders', partition: 0 })
  ok(leadership.kind === 'mirror')
  ok(leadership.ledEpochs.has(0))
  await ask(east, 'failover')
  await world.pass(1000)
  deepEqual(
    configsOf(east)
      .map(([key]) => key)
      .filter(key => key === 'max.message.bytes'),
    [],
  )
  equal(east.isWritable('orders'), true)
  await world.stop()
})

test('a restore that is given up takes the fence off before the topic is writable, wherever it is killed', async () => {
  for (const side of ['before', 'after'] as const)
    for (let at = 0; at < 20; at++) {
      const world = await forked()
      const { east } = world
      east.process.failNext('enclose', new Error('a copy is being made'))
      const [row] = await ask(east, 'truncate-and-restore')
      match(row?.errorMessage ?? '', /was accepted and is not finished/)
      east.process.planCrash({ at, side })
      const answer = ask(east, 'failover').catch(() => {})
      await world.pass(1000)
      await answer
      const { killed, effects } = east.process
      const killedAt = `${side} ${at}: ${effects.at(-1)}`
      await east.start()
      await world.pass(16_000, 4000)
      if (east.isWritable('orders')) {
        equal(east.end('orders'), 7, killedAt)
        deepEqual(configsOf(east), [['retention.ms', '5000']], killedAt)
      } else {
        // It was killed before it was decided that nothing comes of it.
        equal(east.status('orders'), 'ACTIVE', killedAt)
        equal(east.end('orders'), 5, killedAt)
      }
      await world.stop()
      if (!killed) return
    }
})
