/** What may happen in one step of the simulation: at the source and to our node. Chosen at random, with what operators ask for and what syncs follow. */
import type { Action } from './action.ts'
import { sourceTopicNames } from './link-names.ts'
import { operatorActions } from './operator-actions.ts'
import type { Promises } from './promises.ts'
import { soundDisk } from './simulated-process.ts'
import type { SourceLog } from './source-log.ts'
import { syncActions } from './sync-actions.ts'
import { soundNetwork, type World } from './world.ts'

const onSomeLog = (name: string, weight: number, change: (log: SourceLog, world: World) => string): Action => ({
  name,
  weight,
  act: world => {
    const model = world.random() < 0.7 ? world.source : world.east
    const topic = world.pick([...model.topics.values()])
    const partition = world.below(topic?.partitions.length ?? 1)
    const log = topic?.partitions[partition]
    if (!log) return
    world.note(`${name} ${topic.name}-${partition}: ${change(log, world)}`)
    model.wake()
  },
})

const kinds = ['plain', 'plain', 'plain', 'idempotent', 'transactional', 'commit', 'abort'] as const

function appendSome(log: SourceLog, world: World): string {
  for (let count = 1 + world.below(5); count > 0; count--) {
    const hole = world.random() < 0.15 ? 1 + world.below(30) : 0
    log.append({ count: 1 + world.below(6), hole, kind: world.pick(kinds) ?? 'plain', serial: world.batches++ })
  }
  if (world.random() < 0.8) log.settleHighWatermark()
  return `end ${log.logEndOffset}, high watermark ${log.highWatermark}`
}

const sourceActions: readonly Action[] = [
  onSomeLog('append', 40, appendSome),
  onSomeLog('high watermark', 8, log => {
    log.settleHighWatermark()
    return `${log.highWatermark}`
  }),
  onSomeLog('election', 6, (log, world) => {
    log.elect(world.below(10), world.clock.monotonicMs())
    return `epoch ${log.leaderEpoch}, high watermark ${log.highWatermark}`
  }),
  onSomeLog('unclean election', 3, (log, world) => {
    const reach = Math.max(0, log.logEndOffset - log.logStartOffset)
    log.truncateTo(log.logEndOffset - world.below(Math.min(reach, 60) + 1))
    if (world.random() < 0.6) appendSome(log, world)
    return `epoch ${log.leaderEpoch} from ${log.logEndOffset}`
  }),
  onSomeLog('retention', 5, (log, world) => {
    log.raiseLogStart(log.logStartOffset + world.below(log.highWatermark - log.logStartOffset + 1))
    return `log start ${log.logStartOffset}`
  }),
  {
    name: 'topic deleted',
    weight: 1,
    act: world => {
      const name = world.pick(sourceTopicNames) ?? 'orders'
      if (world.random() < 0.7) return
      world.modelOfTopic(name).topics.delete(name)
      world.note(`source topic ${name} deleted`)
    },
  },
  {
    name: 'topic created',
    weight: 3,
    act: world => {
      const name = sourceTopicNames.find(topic => !world.modelOfTopic(topic).topics.has(topic))
      if (name === undefined) return
      world.modelOfTopic(name).create(name, 1 + world.below(2))
      world.note(`source topic ${name} created`)
    },
  },
  {
    name: 'topic grown',
    weight: 1,
    act: world => {
      const name = world.pick(sourceTopicNames) ?? 'orders'
      const topic = world.modelOfTopic(name).topics.get(name)
      if (!topic || topic.partitions.length > 2) return
      const grown = world.modelOfTopic(name).grow(topic.name)
      world.note(`source topic ${topic.name} has ${grown} partitions`)
    },
  },
  {
    name: 'outage',
    weight: 5,
    act: world => {
      const model = world.pick(world.sources) ?? world.source
      model.outage = model.outage ? undefined : world.random() < 0.5 ? 'tcp' : undefined
      world.note(`outage of ${model.clusterId}: ${model.outage}`)
    },
  },
  {
    name: 'access',
    weight: 2,
    act: world => {
      const name = world.pick(sourceTopicNames) ?? 'orders'
      const { forbidden } = world.modelOfTopic(name)
      if (!forbidden.delete(name) && world.random() < 0.3) forbidden.add(name)
    },
  },
  {
    name: 'damage',
    weight: 1,
    act: world => {
      if (world.random() < 0.3) world.source.damagedAnswers = 1
    },
  },
]

const localActions: readonly Action[] = [
  {
    name: 'kill',
    weight: 5,
    act: world => {
      world.note('killed')
      world.kill()
    },
  },
  {
    name: 'kill at an effect',
    weight: 3,
    act: world => {
      const plan = { at: world.below(12), side: world.random() < 0.5 ? 'before' : 'after' } as const
      world.note(`to be killed ${plan.side} effect ${plan.at}`)
      world.process.planCrash(plan)
    },
  },
  {
    name: 'take over',
    weight: 2,
    act: world => {
      const zombieMs = world.below(1000)
      world.note(`taken over; the process before ends in ${zombieMs} ms`)
      world.takeOver(zombieMs)
    },
  },
  {
    name: 'stop',
    weight: 1,
    act: world => {
      world.note('stopped')
      world.stop()
    },
  },
  {
    name: 'flush',
    weight: 15,
    act: world => {
      for (const topic of world.cluster.topics.values())
        for (const log of topic.logs) if (world.random() < 0.5) log.flushedOffset = log.logEndOffset
    },
  },
  {
    name: 'disk',
    weight: 5,
    act: world => {
      const isBad = world.random() < 0.5
      const bad = { failureRate: world.random() * 0.3, lostAnswerRate: world.random() * 0.2, latencyMsMax: 800 }
      Object.assign(world.localFaults, isBad ? bad : soundDisk)
      world.slow()
      world.note(`disk: ${isBad ? 'bad' : 'sound'}`)
    },
  },
  {
    name: 'network',
    weight: 5,
    act: world => {
      const isBad = world.random() < 0.5
      Object.assign(
        world.networkFaults,
        isBad ? { lostAnswerRate: world.random() * 0.3, latencyMsMax: 600 } : soundNetwork,
      )
      world.slow()
    },
  },
]

const actions = [...sourceActions, ...localActions, ...operatorActions]

/** One thing of those that move data, and now and then one of those that syncs follow. */
export function actAtRandom(world: World, promises: Promises): void {
  if (world.isStopping || world.process.killed) return world.kill()
  chosen(world, actions).act(world, promises)
  if (world.random() < 0.4) chosen(world, syncActions).act(world, promises)
}

function chosen(world: World, from: readonly Action[]): Action {
  let at = world.random() * from.reduce((sum, { weight }) => sum + weight, 0)
  const found = from.find(({ weight }) => {
    at -= weight
    return at < 0
  })
  return found ?? (from.at(-1) as Action)
}
