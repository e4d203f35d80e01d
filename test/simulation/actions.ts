/** What may happen in one step of the simulation: at the source, to our node, and what operators ask for. Chosen at random. */
import type { MirrorVerb } from '../../src/link/engine-api.ts'
import { linkRequest, mirrorRequest } from '../../src/link/fakes/engine-world.ts'
import type { Acknowledged, Promises } from './promises.ts'
import { soundDisk } from './simulated-process.ts'
import type { SourceLog } from './source-log.ts'
import { soundNetwork, type World } from './world.ts'

export const topicNames = ['orders', 'payments'] as const

interface Action {
  readonly name: string
  readonly weight: number
  readonly act: (world: World, promises: Promises) => void
}

const onSomeLog = (name: string, weight: number, change: (log: SourceLog, world: World) => string): Action => ({
  name,
  weight,
  act: world => {
    const topic = world.pick([...world.source.topics.values()])
    const partition = world.below(topic?.partitions.length ?? 1)
    const log = topic?.partitions[partition]
    if (!log) return
    world.note(`${name} ${topic.name}-${partition}: ${change(log, world)}`)
    world.source.wake()
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
      const name = world.pick(topicNames) ?? 'orders'
      if (world.random() < 0.7) return
      world.source.topics.delete(name)
      world.note(`source topic ${name} deleted`)
    },
  },
  {
    name: 'topic created',
    weight: 3,
    act: world => {
      const name = topicNames.find(topic => !world.source.topics.has(topic))
      if (name === undefined) return
      world.source.create(name, 1 + world.below(2))
      world.note(`source topic ${name} created`)
    },
  },
  {
    name: 'topic grown',
    weight: 1,
    act: world => {
      const topic = world.pick([...world.source.topics.values()])
      if (!topic || topic.partitions.length > 2) return
      const grown = world.source.grow(topic.name)
      world.note(`source topic ${topic.name} has ${grown} partitions`)
    },
  },
  {
    name: 'outage',
    weight: 5,
    act: world => {
      world.source.outage = world.source.outage ? undefined : world.random() < 0.5 ? 'tcp' : undefined
      world.note(`source outage: ${world.source.outage}`)
    },
  },
  {
    name: 'access',
    weight: 2,
    act: world => {
      const name = world.pick(topicNames) ?? 'orders'
      if (!world.source.forbidden.delete(name) && world.random() < 0.3) world.source.forbidden.add(name)
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
    },
  },
]

function verb(name: MirrorVerb, weight: number, acknowledged: Acknowledged): Action {
  return {
    name,
    weight,
    act: (world, promises) => {
      const topic = world.pick(topicNames) ?? 'orders'
      const asked = promises.asked(topic, name)
      const bound = world.cluster.topicNamed(topic)
      if (name === 'failover' && bound) promises.failingOver.add(bound.topicId)
      world.note(`${name} ${topic} asked for`)
      const { process } = world
      const request = { selection: { names: [topic] }, validateOnly: false }
      // Not awaited: other things happen meanwhile.
      void world.engine.alterMirrors('west', name, request).then(
        ([row]) => {
          if (process !== world.process) return
          world.note(`${name} ${topic}: ${row?.errorMessage ?? 'done'}`)
          if (row?.errorCode === null) promises.answered(topic, asked, acknowledged)
        },
        error => world.note(`${name} ${topic}: ${error}`),
      )
    },
  }
}

const altered = [
  ['cluster.link.paused', ['true', 'false', 'false']],
  ['mirror.unclean.truncation.policy', ['fail', 'truncate', 'truncate']],
  ['topic.config.sync.include', ['retention.ms', 'delete.retention.ms']],
  ['replica.fetch.wait.max.ms', ['100', '200']],
] as const

const operatorActions: readonly Action[] = [
  {
    name: 'create mirror',
    weight: 6,
    act: (world, promises) => {
      const topic = world.pick(topicNames) ?? 'orders'
      if (world.cluster.topicNamed(topic)) return
      const asked = promises.asked(topic, 'create')
      const { process } = world
      void world.engine.createMirror('west', mirrorRequest(topic)).then(
        () => {
          if (process !== world.process) return
          world.note(`mirror ${topic} created`)
          promises.answered(topic, asked, 'created')
        },
        error => world.note(`mirror ${topic} not created: ${error}`),
      )
    },
  },
  verb('pause', 2, 'paused'),
  verb('resume', 5, 'resumed'),
  verb('failover', 0.5, 'stopped'),
  {
    name: 'delete mirror',
    weight: 0.7,
    act: (world, promises) => {
      const topic = world.pick(topicNames) ?? 'orders'
      promises.asked(topic, 'delete')
      world.note(`mirror topic ${topic} deleted`)
      world.cluster.deleteTopic(topic)
    },
  },
  {
    name: 'alter link',
    weight: 4,
    act: (world, promises) => {
      const [name, values] = world.pick(altered) ?? altered[0]
      const value = world.pick(values) ?? values[0]
      promises.configs.delete(name)
      const { process } = world
      const change = { name, operation: 'SET', value } as const
      const asked = ++promises.alterations
      void world.engine.alterLinkConfigs('west', [change], { validateOnly: false }).then(
        () => {
          if (process !== world.process) return
          world.note(`${name}=${value}`)
          if (asked === promises.alterations) promises.configs.set(name, value)
        },
        error => world.note(`${name}=${value}: ${error}`),
      )
    },
  },
]

const actions = [...sourceActions, ...localActions, ...operatorActions]
const totalWeight = actions.reduce((sum, { weight }) => sum + weight, 0)

export function actAtRandom(world: World, promises: Promises): void {
  if (world.isStopping) return world.kill()
  let at = world.random() * totalWeight
  const chosen = actions.find(({ weight }) => {
    at -= weight
    return at < 0
  })
  chosen?.act(world, promises)
}

/** Creates the link, whose answer is waited for. */
export async function createLink(world: World, promises: Promises): Promise<void> {
  const configs = {
    'cluster.link.retry.timeout.ms': '20000',
    'mirror.unclean.truncation.policy': world.pick(['fail', 'truncate', 'truncate'] as const) ?? 'fail',
    'topic.config.sync.include': world.pick(['retention.ms', 'delete.retention.ms'] as const) ?? 'retention.ms',
    'metadata.max.age.ms': '5000',
  }
  const options = { validateOnly: false, validateLink: true }
  const created = world.engine.createLink(linkRequest('west', configs), options)
  await world.clock.advance(1000)
  await created
  promises.linkCreated = true
  for (const [key, value] of Object.entries(configs)) promises.configs.set(key, value)
}

/** The first mirrors; whether they came to be, the state says. */
export function createMirrors(world: World, promises: Promises): void {
  const create = operatorActions.find(({ name }) => name === 'create mirror')
  for (let count = 0; count < 4; count++) create?.act(world, promises)
}
