/** Reverses that are killed at each of their effects, and long random histories of two clusters that change roles. */
import { deepEqual, equal, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { seededRandom } from '../core/random.ts'
import { batchAt } from './fakes/engine-world.ts'
import type { PeerWorld } from './fakes/peer-clusters.ts'
import { answered, ask, mirroredPeers, states, writable } from './fakes/reversed-peers.ts'

/** More effects than either side has in a reverse. */
const effectsMax = 60

test('a reverse that is killed anywhere at either side is driven to its end, and never are both writable', async () => {
  const reached = new Set<string>()
  for (const name of ['east', 'west'] as const)
    for (const side of ['before', 'after'] as const)
      for (let at = 0; at < effectsMax; at++) {
        const world = await mirroredPeers()
        const { east, west } = world
        east.write('orders', batchAt(3, 2))
        const { process } = world[name]
        process.planCrash({ at, side })
        const answer = ask(west, 'reverse-and-start-mirror').catch(() => [])
        for (let round = 0; round < 8; round++) {
          await world.pass(1000)
          ok(writable(world).filter(Boolean).length <= 1)
        }
        const [row] = await answer
        const { killed, effects } = process
        const killedAt = `${name} ${side} ${at}: ${effects.at(-1)}`
        if (killed) {
          reached.add(`${name} ${side}: ${effects.at(-1)}`)
          await world[name].start()
          for (let round = 0; round < 8; round++) {
            await world.pass(1000)
            ok(writable(world).filter(Boolean).length <= 1, killedAt)
          }
        }
        // What was not accepted has not begun.
        const [, ofEast] = states(world)
        if (row?.errorCode !== null && ofEast === undefined) deepEqual(writable(world), [false, true], killedAt)
        else deepEqual(states(world), ['STOPPED', 'ACTIVE'], killedAt)
        deepEqual(east.contents('orders'), west.contents('orders'), killedAt)
        await world.stop()
        if (!killed) break
      }
  for (const effect of [
    'east before: enclose',
    'east after: append state',
    'west before: release',
    'west after: flush',
  ])
    ok(reached.has(effect), effect)
})

/** One step of a random history; writers are told apart by their producer ids. */
async function step(world: PeerWorld, random: () => number, acknowledged: bigint[]): Promise<string> {
  const side = random() < 0.5 ? world.east : world.west
  const { clusterId } = side.cluster
  const chance = random()
  if (chance < 0.35) {
    if (!side.isWritable('orders')) return `${clusterId} refuses`
    const producerId = BigInt(acknowledged.length + 100)
    side.write('orders', batchAt(side.end('orders') ?? 0, 1, { producerId }))
    acknowledged.push(producerId)
    return `${clusterId} takes ${producerId}`
  }
  if (chance < 0.75) {
    const verbs = ['reverse-and-start-mirror', 'failover', 'truncate-and-restore'] as const
    const verb = chance < 0.6 ? verbs[0] : chance < 0.67 ? verbs[1] : verbs[2]
    const row = await answered(world, ask(side, verb, verb === verbs[2] ? { exportDivergent: true } : {})).catch(
      () => undefined,
    )
    return `${clusterId} ${verb} ${row?.errorMessage ?? ''}`
  }
  if (chance < 0.85) await side.start()
  else await world.pass(3000, 1000)
  return chance < 0.85 ? `${clusterId} crashes` : 'time passes'
}

test('after any history of reverses, failovers, restores and crashes there is a way to one writer, and nothing is lost silently', async () => {
  for (let seed = 1; seed <= 10; seed++) {
    const world = await mirroredPeers()
    const { east, west } = world
    const acknowledged: bigint[] = []
    const random = seededRandom(seed)
    const steps: string[] = []
    for (let count = 0; count < 25; count++) steps.push(await step(world, random, acknowledged))
    await world.pass(20_000, 1000)
    const told = `seed ${seed}: ${steps.join('; ')}`
    if (writable(world).every(is => !is)) {
      const row = await answered(world, ask(west, 'failover'))
      equal(row?.errorMessage ?? '', '', told)
    }
    await world.pass(8000, 1000)
    const isDone = () => writable(world).filter(Boolean).length === 1 && states(world).includes('ACTIVE')
    if (!isDone()) {
      const loser = east.isWritable('orders') && !west.isWritable('orders') ? west : east
      const row = await answered(world, ask(loser, 'truncate-and-restore', { exportDivergent: true }))
      equal(row?.errorMessage ?? '', '', `${told} | ${states(world)} ${writable(world)}`)
      await world.pass(20_000, 1000)
    }
    equal(writable(world).filter(Boolean).length, 1, told)
    deepEqual(east.contents('orders'), west.contents('orders'), told)
    await world.stop()
  }
})
