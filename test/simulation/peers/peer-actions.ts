// What happens between the two sides at random: operators change roles, clients write and read, links go and come back, processes die, disks and the network misbehave.
import type { MirrorVerb } from '../../../src/link/engine-api.ts'
import { soundDisk } from '../simulated-process.ts'
import type { PeersRun } from './peers-run.ts'
import type { SimulatedPeer } from './simulated-peer.ts'

const verbs: readonly (readonly [MirrorVerb, number])[] = [
  ['reverse-and-start-mirror', 6],
  ['reverse-and-pause-mirror', 1],
  ['failover', 3],
  ['truncate-and-restore', 4],
  ['promote', 1],
  ['pause', 1],
  ['resume', 2],
]

/** Writes after which a crash tells most. */
const durable = ['append state', 'append status', 'truncate', 'enclose', 'release', 'commit group offsets', 'flush']

/** One random action; what takes time goes on beside those that follow. */
export function actAtRandom(run: PeersRun): void {
  const { world, clients } = run
  const side = world.sides[world.below(2)] ?? world.east
  const topic = world.pick(world.topics) ?? ''
  const chance = world.random()
  if (chance < 0.3) clients.produce(side, topic, { transactional: world.random() < 0.15 })
  else if (chance < 0.35) clients.endTransactions()
  else if (chance < 0.42) readAtRandom(run)
  else if (chance < 0.46) logsAtRandom(run, side, topic)
  else if (chance < 0.63) ask(run, { side, verb: drawn(run), topics: somebodys(run, topic) })
  else if (chance < 0.65) changeOfMind(run, topic)
  else if (chance < 0.67) askBoth(run, topic)
  else if (chance < 0.672) deleteLink(run, side)
  else if (chance < 0.7) relink(run)
  else if (chance < 0.78) crash(run, side)
  else if (chance < 0.87) restart(run)
  else if (chance < 0.94) cut(run, side)
  else misbehave(run, side)
}

function readAtRandom({ world, groups }: PeersRun): void {
  if (world.random() < 0.3) groups.move()
  groups.consume()
}

function logsAtRandom({ world, clients }: PeersRun, side: SimulatedPeer, topic: string): void {
  const chance = world.random()
  if (chance < 0.4) clients.compact(side, topic)
  else if (chance < 0.8) clients.retain(side, topic)
  else clients.grow(side, topic)
}

/** Both sides are well, and talk. Those that were dead start. */
export function heal({ world }: PeersRun): void {
  world.note('everything heals')
  for (const side of world.sides) {
    side.isCutOff = false
    Object.assign(side.faults, soundDisk)
    // A crash that was planned and has not come yet does not come any more.
    if (side.isDead || side.cluster.process.isDoomed) side.start()
  }
}

export interface Asked {
  readonly side: SimulatedPeer
  readonly verb: MirrorVerb
  readonly topics: readonly string[]
  readonly exportDivergent?: boolean
}

/** An operator asks a side; the answer is noted when it comes. */
export function ask(run: PeersRun, { side, verb, topics, exportDivergent }: Asked): Promise<string | undefined> {
  const { world } = run
  if (side.isDead) return Promise.resolve('dead')
  const together = topics.length > 1 && verb !== 'truncate-and-restore' && world.random() < 0.7
  world.note(`${side.name} is asked: ${verb} ${topics}${together ? ' together' : ''}`)
  run.forks.asked(side, verb, topics)
  const isRestore = verb === 'truncate-and-restore'
  const options = {
    selection: { names: topics },
    validateOnly: false,
    together,
    ...(isRestore ? { exportDivergent: exportDivergent ?? world.random() < 0.7, paused: world.random() < 0.2 } : {}),
  }
  return side.cluster.engine.alterMirrors('twin', verb, options).then(
    rows => {
      for (const { mirrorTopicName, errorMessage, warnings } of rows)
        world.note(`${side.name} answers ${verb} ${mirrorTopicName}: ${errorMessage ?? ''}${warnings?.join(' ') ?? ''}`)
      return rows.map(({ errorMessage }) => errorMessage ?? '').find(told => told !== '') ?? ''
    },
    (error: unknown) => {
      world.note(`${side.name} fails at ${verb}: ${error instanceof Error ? error.message : error}`)
      return 'failed'
    },
  )
}

/** One topic, or all of them. */
const somebodys = ({ world }: PeersRun, topic: string): readonly string[] =>
  world.random() < 0.3 ? world.topics : [topic]

/** A reverse, and a failover of either side while it is under way. */
function changeOfMind(run: PeersRun, topic: string): void {
  const { world } = run
  const mirror = world.sides.find(side => side.status(topic) === 'ACTIVE')
  if (!mirror) return
  ask(run, { side: mirror, verb: 'reverse-and-start-mirror', topics: [topic] })
  const side = world.random() < 0.7 ? mirror : world.other(mirror)
  world.clock.after(world.below(4000), () => void ask(run, { side, verb: 'failover', topics: [topic] }))
}

/** Two operators who do not know of each other. */
function askBoth(run: PeersRun, topic: string): void {
  const verb = run.world.random() < 0.7 ? 'truncate-and-restore' : 'failover'
  for (const side of run.world.sides) ask(run, { side, verb, topics: [topic] })
}

function drawn({ world }: PeersRun): MirrorVerb {
  const all = verbs.reduce((sum, [, weight]) => sum + weight, 0)
  let left = world.below(all)
  for (const [verb, weight] of verbs) {
    left -= weight
    if (left < 0) return verb
  }
  return 'resume'
}

/** With everything that it mirrors failed over, and what it has recorded forgotten. */
function deleteLink({ world, forks }: PeersRun, side: SimulatedPeer): void {
  if (!side.isLinked) return
  world.note(`the link is deleted at ${side.name}`)
  world.deletedLinks++
  forks.asked(side, 'delete link')
  side.cluster.engine.deleteLink('twin', { force: true, validateOnly: false }).then(
    () => world.note(`${side.name} has deleted its link`),
    (error: unknown) => world.note(`${side.name} does not delete its link: ${error}`),
  )
}

/** Links that were deleted are created anew; resolves when that is answered. */
export async function relink({ world }: PeersRun): Promise<void> {
  for (const side of world.sides) {
    if (side.isDead || side.isLinked) continue
    world.note(`${side.name} is linked again`)
    await side.cluster.link('twin', world.linkConfigs()).then(
      () => world.note(`${side.name} has its link`),
      (error: unknown) => world.note(`${side.name} has no link: ${error instanceof Error ? error.message : error}`),
    )
  }
}

/** At once, at one of its next effects, or at its next durable write; before or after it has happened. */
function crash({ world }: PeersRun, side: SimulatedPeer): void {
  if (side.isDead) return
  const { process } = side.cluster
  const when = world.random() < 0.5 ? 'before' : 'after'
  if (world.random() < 0.4) {
    const name = world.pick(durable) ?? ''
    world.note(`${side.name} dies ${when} the next '${name}'`)
    process.planCrashAt(name, when)
    return
  }
  const at = world.below(25)
  world.note(`${side.name} dies at effect ${at} from now`)
  if (at === 0) process.kill()
  else process.planCrash({ at, side: when })
}

function restart({ world }: PeersRun): void {
  for (const side of world.sides)
    if (side.isDead) {
      world.note(`${side.name} starts again`)
      side.start()
    }
}

/** The network between the sides, in one direction or both; or it is whole again. */
function cut({ world }: PeersRun, side: SimulatedPeer): void {
  const isCut = world.sides.some(({ isCutOff }) => isCutOff)
  const both = world.random() < 0.6
  for (const each of world.sides) each.isCutOff = !isCut && (both || each === side)
  world.note(
    isCut ? 'the network is whole again' : `the network is cut ${both ? 'in both directions' : `for ${side.name}`}`,
  )
}

function misbehave({ world }: PeersRun, side: SimulatedPeer): void {
  const isSound = side.faults.failureRate === 0
  const faults = { failureRate: 0.08, lostAnswerRate: 0.04, latencyMsMax: 400 }
  Object.assign(side.faults, isSound ? faults : soundDisk)
  world.note(`the disk of ${side.name} is ${isSound ? 'bad' : 'sound'}`)
}
