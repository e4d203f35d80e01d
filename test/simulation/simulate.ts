/** One run of the simulation, from its seed alone: random steps with checks after each, then healing and the final checks. */
import { actAtRandom } from './actions.ts'
import { Checks } from './checks.ts'
import { sourceTopicNames } from './link-names.ts'
import { createLinks, createMirrors } from './operator-actions.ts'
import { Promises } from './promises.ts'
import { soundDisk } from './simulated-process.ts'
import { soundNetwork, World } from './world.ts'

/** Random steps of one run; between two of them up to 2.5 s pass. */
export const stepsPerRun = 300

/** Last steps in the message of a failure; the environment variable STEPS asks for more. */
const stepsShown = Number(process.env['STEPS'] ?? 40)

export interface SimulationReport {
  readonly seed: number
  /** How often our node was started. */
  readonly lives: number
  /** Effects on disks and state of our node. */
  readonly effects: number
  readonly simulatedMs: number
  readonly stateRecords: number
  readonly incidents: string
  /** Everything that was done and answered, in order. */
  readonly trace: readonly string[]
}

/** A run that broke a rule; the message ends with the last things that happened. */
export class SimulationFailure extends Error {
  constructor(world: World, cause: unknown) {
    const text = cause instanceof Error ? cause.message : String(cause)
    const steps = world.trace.slice(-stepsShown).join('\n  ')
    super(`seed ${world.seed}: ${text}\n  ${steps}`, { cause })
    this.name = 'SimulationFailure'
  }
}

export async function simulate(seed: number): Promise<SimulationReport> {
  const world = new World(seed)
  const promises = new Promises()
  const checks = new Checks(world, promises)
  try {
    await run(world, promises, checks)
  } catch (error) {
    throw new SimulationFailure(world, error)
  }
  const events = checks.mirrors.flatMap(mirror => mirror.history.map(({ event }) => event))
  return {
    seed,
    lives: world.lives,
    effects: world.effects + world.process.effects.length,
    simulatedMs: world.clock.monotonicMs(),
    stateRecords: world.stateRecords.length,
    incidents: [...new Set(events)].sort().join(' '),
    trace: world.trace,
  }
}

async function run(world: World, promises: Promises, checks: Checks): Promise<void> {
  for (const name of sourceTopicNames)
    if (world.random() < 0.8) world.modelOfTopic(name).create(name, 1 + world.below(2))
  world.kill()
  await world.clock.advance(1000)
  await createLinks(world, promises)
  createMirrors(world, promises)
  await world.clock.advance(1000)
  for (let step = 0; step < stepsPerRun; step++) {
    actAtRandom(world, promises)
    sample(world)
    await world.clock.advance(Math.round(world.random() ** 3 * 2500))
    for (const source of world.sources) source.settleElections(world.clock.monotonicMs())
    sample(world)
    checks.afterStep()
  }
  await heal(world, promises, checks)
  checks.atEnd()
  for (const source of world.sources) source.wake()
  await stopped(world)
}

const sample = (world: World) => {
  for (const source of world.sources) source.sample(world.clock.monotonicMs())
}

/** All faults end; the link goes on, failed and paused mirrors are resumed if they can be. */
async function heal(world: World, promises: Promises, checks: Checks): Promise<void> {
  world.note('everything heals')
  if (world.isStopping || world.process.killed) world.kill()
  world.process.planCrash({ at: Number.POSITIVE_INFINITY, side: 'before' })
  Object.assign(world.localFaults, soundDisk)
  Object.assign(world.networkFaults, soundNetwork)
  world.slow()
  for (const source of world.sources) {
    source.outage = undefined
    source.damagedAnswers = 0
    source.forbidden.clear()
    for (const topic of source.topics.values())
      for (const log of topic.partitions) {
        // Ends the open transaction, and a hole at the end that no fetch would tell of.
        log.append({ count: 1, hole: 0, kind: 'abort', serial: world.batches++ })
        log.settleHighWatermark()
      }
    source.wake()
  }
  sample(world)
  for (const group of world.cluster.groups.values()) group.hasMembers = false
  await world.clock.advance(15_000)
  checks.afterStep()
  promises.configs.clear()
  promises.mirrors.clear()
  const change = { name: 'cluster.link.paused', operation: 'SET', value: 'false' } as const
  const altered = world.engine.alterLinkConfigs('west', [change], { validateOnly: false })
  await world.clock.advance(100)
  await altered
  for (let round = 0; round < 2; round++) {
    const request = { selection: { pattern: '.*' }, validateOnly: false }
    const links = world.engine.listLinks().map(({ name }) => name)
    const resumed = Promise.all(links.map(name => world.engine.alterMirrors(name, 'resume', request)))
    await world.clock.advance(30_000)
    for (const { mirrorTopicName, errorMessage } of (await resumed).flat())
      if (errorMessage?.includes('cannot be resumed')) promises.cannotResume.set(mirrorTopicName, errorMessage)
    checks.afterStep()
  }
}

async function stopped(world: World): Promise<void> {
  let isStopped = false
  const stopping = world.engine.stop().then(() => {
    isStopped = true
  })
  for (let waited = 0; !isStopped; waited++) {
    if (waited === 100) throw new Error('the engine does not stop')
    await world.clock.advance(200)
  }
  await stopping
}
