/** Restores that are killed at each of their effects, and long random histories of two clusters that fail over, restore and crash. */
import { deepEqual, equal, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { type Random, seededRandom } from '../core/random.ts'
import { batchesIn } from '../protocol/batches/batch-iteration.ts'
import { batchAt, mirrorRequest } from './fakes/engine-world.ts'
import { type PeerCluster, PeerWorld } from './fakes/peer-clusters.ts'

/** More effects than a restore has. */
const effectsMax = 40

const ask = (side: PeerCluster, verb: 'failover' | 'truncate-and-restore', more: { exportDivergent?: boolean } = {}) =>
  side.engine.alterMirrors('twin', verb, { selection: { names: ['orders'] }, validateOnly: false, ...more })

async function mirrored(): Promise<PeerWorld> {
  const world = new PeerWorld()
  await world.start()
  world.east.cluster.addTopic('orders', 1)
  world.east.write('orders', batchAt(0, 3))
  await world.west.engine.createMirror('twin', mirrorRequest('orders'))
  await world.pass(1000)
  return world
}

test('a restore that is killed anywhere is finished, or was never begun', async () => {
  const reached: string[] = []
  for (const side of ['before', 'after'] as const)
    for (let at = 0; at < effectsMax; at++) {
      const world = await mirrored()
      const { east, west } = world
      await ask(west, 'failover')
      await world.pass(500)
      east.write('orders', batchAt(3, 4, { producerId: 1n }))
      west.write('orders', batchAt(3, 2, { producerId: 2n }))
      east.process.planCrash({ at, side })
      const answer = ask(east, 'truncate-and-restore', { exportDivergent: true }).catch(() => {})
      await world.pass(2000)
      await answer
      const { killed, effects } = east.process
      const killedAt = `${side} ${at}: ${effects.at(-1)}`
      await east.start()
      await world.pass(16_000, 4000)
      if (east.isWritable('orders')) equal(east.end('orders'), 7, killedAt)
      else {
        equal(east.status('orders'), 'ACTIVE', killedAt)
        deepEqual(east.contents('orders'), west.contents('orders'), killedAt)
        deepEqual([...east.exported.keys()], ['orders/0/3'], killedAt)
      }
      await world.stop()
      if (!killed) break
      reached.push(`${side}: ${effects.at(-1)}`)
    }
  for (const effect of ['append state', 'enclose', 'append status', 'export', 'truncate', 'flush'])
    for (const side of ['before', 'after']) ok(reached.includes(`${side}: ${effect}`), `${side}: ${effect}`)
})

/** One step of a random history; writers are told apart by their producer ids. */
async function step(world: PeerWorld, random: Random, acknowledged: bigint[]): Promise<string> {
  const side = random() < 0.5 ? world.east : world.west
  const { clusterId } = side.cluster
  const chance = random()
  if (chance < 0.4) {
    if (!side.isWritable('orders')) return `${clusterId} refuses`
    const producerId = BigInt(acknowledged.length + 100)
    side.write('orders', batchAt(side.end('orders') ?? 0, 1, { producerId }))
    acknowledged.push(producerId)
    return `${clusterId} takes ${producerId}`
  }
  if (chance < 0.8) {
    const verb = chance < 0.55 ? 'failover' : 'truncate-and-restore'
    const answer = ask(side, verb, { exportDivergent: true }).catch(() => [])
    await world.pass(1000)
    const [row] = await answer
    return `${clusterId} ${verb} ${row?.errorMessage ?? row?.messagesTruncated ?? ''}`
  }
  if (chance < 0.9) await side.start()
  else await world.pass(3000, 1000)
  return chance < 0.9 ? `${clusterId} crashes` : 'time passes'
}

/** Producer ids of everything that is in a log, or was exported from one. */
function found({ cluster, exported }: PeerCluster): bigint[] {
  const logs = cluster.topicNamed('orders')?.logs ?? []
  const batches = [...logs.flatMap(log => log.batches.map(({ bytes }) => bytes)), ...exported.values()]
  return batches.flatMap(bytes => [...batchesIn(bytes)].map(({ producerId }) => producerId))
}

test('after any history of failovers, restores and crashes both are made the same, and nothing acknowledged is lost silently', async () => {
  for (let seed = 1; seed <= 8; seed++) {
    const world = await mirrored()
    const { east, west } = world
    const acknowledged: bigint[] = []
    const random = seededRandom(seed)
    const steps: string[] = []
    for (let count = 0; count < 25; count++) steps.push(await step(world, random, acknowledged))
    await world.pass(20_000, 2000)
    const told = `seed ${seed}: ${steps.join('; ')}`
    // Whoever wants one writer gets it.
    if (!east.isWritable('orders') && !west.isWritable('orders')) await ask(west, 'failover')
    if (east.isWritable('orders') && west.isWritable('orders')) {
      const [row] = await ask(east, 'truncate-and-restore', { exportDivergent: true })
      equal(row?.errorMessage ?? '', '', told)
    }
    await world.pass(20_000, 2000)
    equal([east, west].filter(side => side.isWritable('orders')).length, 1, told)
    deepEqual(east.contents('orders'), west.contents('orders'), told)
    const kept = new Set([...found(east), ...found(west)])
    deepEqual(
      acknowledged.filter(producerId => !kept.has(producerId)),
      [],
      told,
    )
    await world.stop()
  }
})
