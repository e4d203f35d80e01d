// One run of the simulation of two sides, from its seed alone: random actions with checks after each, then healing, and the way back to one writer and a mirror that is the same.
import { equal } from 'node:assert/strict'
import { bringTogether } from './bring-together.ts'
import { actAtRandom, heal } from './peer-actions.ts'
import { PeersRun } from './peers-run.ts'

/** Random actions of one run; between two of them up to 5 s pass. */
const actionsPerRun = 50

/** Last steps in the message of a failure; the environment variable STEPS asks for more. */
const stepsShown = Number(process.env['STEPS'] ?? 60)

export interface PeersReport {
  readonly seed: number
  readonly forks: number
  readonly restores: number
  readonly lives: number
  readonly acknowledged: number
  readonly consumed: number
  readonly trace: readonly string[]
}

/** A run that broke a rule; the message ends with the last things that happened. */
export class PeersFailure extends Error {
  constructor({ world }: PeersRun, cause: unknown) {
    const text = cause instanceof Error ? cause.message : String(cause)
    super(`seed ${world.seed}: ${text}\n  ${world.trace.slice(-stepsShown).join('\n  ')}`, { cause })
    this.name = 'PeersFailure'
  }
}

export async function simulatePeers(seed: number): Promise<PeersReport> {
  const run = new PeersRun(seed)
  const { world, clients, groups, forks, losses } = run
  try {
    await world.begin(topic => clients.produce(world.east, topic))
    for (let action = 0; action < actionsPerRun; action++) {
      actAtRandom(run)
      await world.step(250 + Math.round(world.random() ** 3 * 5000), () => run.look())
    }
    heal(run)
    await world.step(100_000, () => run.look())
    await bringTogether(run)
    losses.nothingLost()
    await groupsAtRest(run)
  } catch (error) {
    throw new PeersFailure(run, error)
  }
  for (const side of world.sides) side.cluster.process.kill()
  const lives = world.sides.reduce((sum, side) => sum + side.lives, 0)
  const counts = { forks: forks.forks, restores: losses.restores, lives, consumed: groups.consumed }
  return { seed, ...counts, acknowledged: clients.acknowledged.length, trace: world.trace }
}

/** While nobody consumes, nothing swings, and wherever somebody goes on, nothing is skipped. */
async function groupsAtRest({ world, groups }: PeersRun): Promise<void> {
  await world.step(20_000)
  groups.checkEnds()
  groups.checkBoth()
  const before = groups.snapshot()
  await world.step(10_000)
  equal(groups.snapshot(), before, 'offsets of groups swing')
}
