/** Two halves of a bidirectional link that were created at the same moment come to one id, whatever happens in between. */
import { deepEqual, equal, match, notEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { batchAt, mirrorRequest } from './fakes/engine-world.ts'
import { type PeerCluster, PeerWorld } from './fakes/peer-clusters.ts'

/** Neither can read of the other yet. */
async function createdAtOnce(configs: Record<string, string> = {}): Promise<PeerWorld> {
  const world = new PeerWorld()
  const sides = [world.east, world.west]
  for (const side of sides) await side.start()
  await world.settle()
  for (const { asSource } of sides) asSource.failure = { failure: 'tcp', message: 'cut' }
  for (const side of sides) await side.link('twin', configs, false)
  notEqual(idOf(world.east), idOf(world.west))
  return world
}

const idOf = ({ engine }: PeerCluster) => engine.describeLink('twin').linkId

const heal = (world: PeerWorld) => {
  for (const { asSource } of [world.east, world.west]) asSource.failure = undefined
}

const peerCheck = ({ engine }: PeerCluster) =>
  engine.describeLink('twin').tasks.find(({ name }) => name === 'PeerCheck')?.errors ?? []

const mirror = async (source: PeerCluster, destination: PeerCluster, topic: string) => {
  source.cluster.addTopic(topic, 1)
  source.write(topic, batchAt(0, 3))
  await destination.engine.createMirror('twin', mirrorRequest(topic))
}

test('the smaller id holds where neither half has mirrors, and both work with it', async () => {
  const world = await createdAtOnce()
  const [smaller] = [idOf(world.east), idOf(world.west)].sort()
  heal(world)
  await world.pass(40_000)
  deepEqual([idOf(world.east), idOf(world.west)], [smaller, smaller])
  deepEqual([peerCheck(world.east), peerCheck(world.west)], [[], []])
  await mirror(world.east, world.west, 'orders')
  await mirror(world.west, world.east, 'payments')
  await world.pass(2000)
  deepEqual(world.west.contents('orders'), world.east.contents('orders'))
  // Also after a restart: the old id is gone for good.
  for (const side of [world.east, world.west]) await side.start()
  await world.pass(6000)
  deepEqual([idOf(world.east), idOf(world.west)], [smaller, smaller])
  await world.stop()
})

test('the half that has mirrors keeps its id, whichever is the smaller one', async () => {
  for (const which of ['east', 'west'] as const) {
    const world = await createdAtOnce()
    const [with_, without] = which === 'east' ? [world.east, world.west] : [world.west, world.east]
    const kept = idOf(with_)
    without.asSource.failure = undefined
    await mirror(without, with_, 'orders')
    await world.pass(6000)
    heal(world)
    await world.pass(40_000)
    deepEqual([idOf(world.east), idOf(world.west)], [kept, kept])
    equal(with_.status('orders'), 'ACTIVE')
    await world.stop()
  }
})

test('where both have mirrors both say what to do', async () => {
  const world = await createdAtOnce()
  heal(world)
  await mirror(world.east, world.west, 'orders')
  await mirror(world.west, world.east, 'payments')
  await world.pass(40_000)
  notEqual(idOf(world.east), idOf(world.west))
  for (const side of [world.east, world.west]) match(peerCheck(side)[0]?.message ?? '', /delete one of both/)
  await world.stop()
})

test('a side that crashes while it takes the id has one of both, and takes it after its restart', async () => {
  for (let at = 0; at < 12; at++) {
    const world = await createdAtOnce()
    const [smaller] = [idOf(world.east), idOf(world.west)].sort()
    const taking = idOf(world.east) === smaller ? world.west : world.east
    taking.process.planCrash({ at, side: at % 2 === 0 ? 'before' : 'after' })
    heal(world)
    await world.pass(10_000)
    await taking.start()
    await world.pass(40_000)
    deepEqual([idOf(world.east), idOf(world.west)], [smaller, smaller])
    equal(taking.engine.listLinks().length, 1)
    await world.stop()
  }
})
