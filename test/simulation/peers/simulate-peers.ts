// One run of the simulation of two sides, from its seed alone: random actions with checks after each, then healing, and the way back to one writer and a mirror that is the same.
import { deepEqual } from 'node:assert/strict'
import { ForkWatch } from './fork-watch.ts'
import { actAtRandom, ask, heal } from './peer-actions.ts'
import { PeersWorld, type SimulatedPeer, topic } from './peers-world.ts'

/** Random actions of one run; between two of them up to 5 s pass. */
const actionsPerRun = 40

/** Last steps in the message of a failure; the environment variable STEPS asks for more. */
const stepsShown = Number(process.env['STEPS'] ?? 60)

/** An operator tries so often to bring both sides together. */
const attemptsMax = 8

export interface PeersReport {
  readonly seed: number
  readonly forks: number
  readonly lives: number
  readonly acknowledged: number
  readonly trace: readonly string[]
}

/** A run that broke a rule; the message ends with the last things that happened. */
export class PeersFailure extends Error {
  constructor(world: PeersWorld, cause: unknown) {
    const text = cause instanceof Error ? cause.message : String(cause)
    super(`seed ${world.seed}: ${text}\n  ${world.trace.slice(-stepsShown).join('\n  ')}`, { cause })
    this.name = 'PeersFailure'
  }
}

export async function simulatePeers(seed: number): Promise<PeersReport> {
  const world = new PeersWorld(seed)
  const forks = new ForkWatch(world)
  try {
    await world.begin()
    for (let action = 0; action < actionsPerRun; action++) {
      actAtRandom(world, forks)
      await world.step(250 + Math.round(world.random() ** 3 * 5000), () => forks.look())
    }
    heal(world)
    await world.step(100_000, () => forks.look())
    await bringTogether(world, forks)
    nothingLost(world)
  } catch (error) {
    throw new PeersFailure(world, error)
  }
  for (const side of world.sides) side.cluster.process.kill()
  const lives = world.sides.reduce((sum, side) => sum + side.lives, 0)
  return { seed, forks: forks.forks, lives, acknowledged: world.acknowledged.length, trace: world.trace }
}

const writers = (world: PeersWorld): SimulatedPeer[] => world.sides.filter(side => side.isWritable)

const told = (world: PeersWorld): string =>
  world.sides.map(({ name, status, isWritable }) => `${name} ${status}${isWritable ? ' writable' : ''}`).join(', ')

/** What an operator does who finds the two like this after an outage. Throws where that does not lead to one writer and its mirror. */
async function bringTogether(world: PeersWorld, forks: ForkWatch): Promise<void> {
  const refusals: string[] = []
  for (let attempt = 0; attempt < attemptsMax; attempt++) {
    if (isTogether(world)) return
    const move = moveOf(world)
    const answer = await world.until(ask(world, forks, move))
    if (answer) refusals.push(`${move.side.name} ${move.verb}: ${answer}`)
    await world.step(30_000)
  }
  throw new Error(`there is no way to one writer and its mirror (${told(world)}): ${refusals.join('; ')}`)
}

function moveOf(world: PeersWorld): Parameters<typeof ask>[2] {
  const { east, west } = world
  const [writer, second] = writers(world)
  const paused = world.sides.find(({ status }) => status === 'PAUSED' || status === 'PENDING_SYNCHRONIZE')
  if (!writer) {
    // Nobody may write: whoever was the mirror takes over, or the source stays what it was.
    const failing = [west, east].find(({ status }) => status !== undefined && status !== 'STOPPED') ?? west
    return { side: failing, verb: 'failover' }
  }
  const loser = second ? (world.seed % 2 === 0 ? world.east : world.west) : world.other(writer)
  if (paused && !second && paused !== writer) return { side: paused, verb: 'resume' }
  if (loser.status === 'FAILED' || loser.status === 'PENDING_STOPPED') return { side: loser, verb: 'failover' }
  return { side: loser, verb: 'truncate-and-restore' }
}

/** One writes, the other follows, and has the same. */
function isTogether(world: PeersWorld): boolean {
  const [writer, second] = writers(world)
  if (!writer || second || world.other(writer).status !== 'ACTIVE') return false
  const contents = world.sides.map(({ cluster }) => cluster.contents(topic))
  try {
    deepEqual(contents[0], contents[1])
    return true
  } catch {
    return false
  }
}

function nothingLost(world: PeersWorld): void {
  const kept = world.kept()
  const lost = world.acknowledged.filter(({ producerId }) => !kept.has(producerId))
  if (lost.length > 0)
    throw new Error(`lost without a word: ${lost.map(({ producerId, by }) => `${producerId} of ${by}`).join(', ')}`)
}
