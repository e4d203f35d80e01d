// What happens between the two sides at random: operators change roles, clients write, processes die, disks and the network misbehave.
import type { MirrorVerb } from '../../../src/link/engine-api.ts'
import { soundDisk } from '../simulated-process.ts'
import type { ForkWatch } from './fork-watch.ts'
import { type PeersWorld, type SimulatedPeer, topic } from './peers-world.ts'

const verbs: readonly (readonly [MirrorVerb, number])[] = [
  ['reverse-and-start-mirror', 6],
  ['reverse-and-pause-mirror', 1],
  ['failover', 3],
  ['truncate-and-restore', 4],
  ['promote', 1],
  ['pause', 1],
  ['resume', 2],
]

/** One random action; what takes time goes on beside those that follow. */
export function actAtRandom(world: PeersWorld, forks: ForkWatch): void {
  const side = world.sides[world.below(2)] ?? world.east
  const chance = world.random()
  if (chance < 0.35) world.produce(side, world.random() < 0.15)
  else if (chance < 0.42) for (const producerId of [...world.open.keys()]) world.endTransaction(producerId)
  else if (chance < 0.63) ask(world, forks, { side, verb: drawn(world) })
  else if (chance < 0.66) askBoth(world, forks)
  else if (chance < 0.76) crash(world, side)
  else if (chance < 0.86) restart(world)
  else if (chance < 0.94) cut(world, side)
  else misbehave(world, side)
}

/** Both sides are well, and talk. Those that were dead start. */
export function heal(world: PeersWorld): void {
  world.note('everything heals')
  for (const side of world.sides) {
    side.isCutOff = false
    Object.assign(side.faults, soundDisk)
    // A crash that was planned and has not come yet does not come any more.
    if (side.isDead || side.cluster.process.isDoomed) side.start()
  }
}

/** An operator asks a side; the answer is noted when it comes. */
export function ask(
  world: PeersWorld,
  forks: ForkWatch,
  { side, verb }: { readonly side: SimulatedPeer; readonly verb: MirrorVerb },
): Promise<string | undefined> {
  if (side.isDead) return Promise.resolve('dead')
  world.note(`${side.name} is asked: ${verb}`)
  forks.asked(side, verb)
  const options = {
    selection: { names: [topic] },
    validateOnly: false,
    exportDivergent: verb === 'truncate-and-restore',
  }
  return side.cluster.engine.alterMirrors('twin', verb, options).then(
    ([row]) => {
      const told = row?.errorMessage ?? ''
      world.note(`${side.name} answers ${verb}: ${told}${row?.warnings?.join(' ') ?? ''}`)
      return told
    },
    (error: unknown) => {
      world.note(`${side.name} fails at ${verb}: ${error instanceof Error ? error.message : error}`)
      return 'failed'
    },
  )
}

/** Two operators who do not know of each other. */
function askBoth(world: PeersWorld, forks: ForkWatch): void {
  const verb = world.random() < 0.7 ? 'truncate-and-restore' : 'failover'
  for (const side of world.sides) ask(world, forks, { side, verb })
}

function drawn(world: PeersWorld): MirrorVerb {
  const all = verbs.reduce((sum, [, weight]) => sum + weight, 0)
  let left = world.below(all)
  for (const [verb, weight] of verbs) {
    left -= weight
    if (left < 0) return verb
  }
  return 'resume'
}

/** At once, or at one of its next effects, before or after it has happened. */
function crash(world: PeersWorld, side: SimulatedPeer): void {
  if (side.isDead) return
  const at = world.below(25)
  world.note(`${side.name} dies at effect ${at} from now`)
  if (at === 0) side.cluster.process.kill()
  else side.cluster.process.planCrash({ at, side: world.random() < 0.5 ? 'before' : 'after' })
}

function restart(world: PeersWorld): void {
  for (const side of world.sides)
    if (side.isDead) {
      world.note(`${side.name} starts again`)
      side.start()
    }
}

/** The network between the sides, in one direction or both; or it is whole again. */
function cut(world: PeersWorld, side: SimulatedPeer): void {
  const isCut = world.sides.some(({ isCutOff }) => isCutOff)
  const both = world.random() < 0.6
  for (const each of world.sides) each.isCutOff = !isCut && (both || each === side)
  world.note(
    isCut ? 'the network is whole again' : `the network is cut ${both ? 'in both directions' : `for ${side.name}`}`,
  )
}

function misbehave(world: PeersWorld, side: SimulatedPeer): void {
  const isSound = side.faults.failureRate === 0
  const faults = { failureRate: 0.08, lostAnswerRate: 0.04, latencyMsMax: 400 }
  Object.assign(side.faults, isSound ? faults : soundDisk)
  world.note(`the disk of ${side.name} is ${isSound ? 'bad' : 'sound'}`)
}
