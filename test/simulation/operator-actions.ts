/** What operators ask our node for in the simulation: links, mirrors, verbs, properties. Answers are not waited for. */
import type { MirrorVerb } from '../../src/link/engine-api.ts'
import { linkRequest, mirrorRequest } from '../../src/link/fakes/engine-world.ts'
import type { Action } from './action.ts'
import { type LinkName, linkOf, sourceTopicNames, topicNames } from './link-names.ts'
import type { Acknowledged, Promises } from './promises.ts'
import type { World } from './world.ts'

/** Verbs that lead to a stop are remembered by topic id: nothing else may stop a mirror. */
function remember(name: MirrorVerb, topic: string, { world, promises }: { world: World; promises: Promises }): void {
  const bound = world.cluster.topicNamed(topic)
  if (bound && name === 'failover') promises.failingOver.add(bound.topicId)
  if (bound && name === 'promote') promises.promoting.add(bound.topicId)
}

function verb(name: MirrorVerb, weight: number, acknowledged: Acknowledged): Action {
  return {
    name,
    weight,
    act: (world, promises) => {
      const first = world.pick(sourceTopicNames) ?? 'orders'
      const link = linkOf(first)
      const isTogether = name === 'promote' && world.random() < 0.5
      const topics: string[] = isTogether ? sourceTopicNames.filter(topic => linkOf(topic) === link) : [first]
      const asked = new Map(topics.map(topic => [topic, promises.asked(topic, name, world.process)]))
      for (const topic of topics) remember(name, topic, { world, promises })
      world.note(`${name} ${topics} asked for`)
      const { process } = world
      const request = { selection: { names: topics }, validateOnly: false, together: isTogether }
      // Not awaited: other things happen meanwhile.
      void world.engine
        .alterMirrors(link, name, request)
        .then(
          rows => {
            if (process !== world.process) return
            for (const { mirrorTopicName: topic, errorCode, errorMessage } of rows) {
              world.note(`${name} ${topic}: ${errorMessage ?? 'done'}`)
              if (errorCode === null) promises.answered(topic, asked.get(topic) ?? 0, acknowledged)
            }
          },
          error => world.note(`${name} ${topics}: ${error}`),
        )
        .finally(() => {
          for (const [topic, count] of asked) promises.settled(topic, count)
        })
    },
  }
}

const altered = [
  ['cluster.link.paused', ['true', 'false', 'false']],
  ['mirror.unclean.truncation.policy', ['fail', 'truncate', 'truncate']],
  ['topic.config.sync.include', ['retention.ms', 'delete.retention.ms']],
  ['replica.fetch.wait.max.ms', ['100', '200']],
] as const

const createMirror: Action = {
  name: 'create mirror',
  weight: 6,
  act: (world, promises) => {
    const topic = world.pick(topicNames) ?? 'orders'
    if (world.cluster.topicNamed(topic)) return
    const asked = promises.asked(topic, 'create', world.process)
    const { process } = world
    void world.engine
      .createMirror(linkOf(topic), mirrorRequest(topic))
      .then(
        () => {
          if (process !== world.process) return
          world.note(`mirror ${topic} created`)
          promises.answered(topic, asked, 'created')
        },
        error => world.note(`mirror ${topic} not created: ${error}`),
      )
      .finally(() => promises.settled(topic, asked))
  },
}

export const operatorActions: readonly Action[] = [
  createMirror,
  verb('pause', 2, 'paused'),
  verb('resume', 5, 'resumed'),
  verb('failover', 0.5, 'stopped'),
  verb('promote', 1, 'promoted'),
  {
    name: 'delete mirror',
    weight: 1,
    act: (world, promises) => {
      const topic = world.pick(sourceTopicNames) ?? 'orders'
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
  {
    name: 'link east',
    weight: 1,
    act: (world, promises) => {
      if (promises.linkChange) return
      if (!world.witness.durable.linkByName('east')) requestLink(world, promises, 'east')
      else if (world.random() < 0.3) deleteEast(world, promises)
    },
  },
]

/** By force: everything that it mirrors is failed over first. */
function deleteEast(world: World, promises: Promises): void {
  const { process } = world
  const change = Symbol('deletion')
  promises.linkChange = change
  promises.links.delete('east')
  for (const topic of sourceTopicNames) if (linkOf(topic) === 'east') promises.asked(topic, 'delete')
  world.note('deletion of link east asked for')
  void world.engine
    .deleteLink('east', { force: true, validateOnly: false })
    .then(
      () => {
        if (process !== world.process) return
        promises.links.set('east', 'deleted')
        world.note('link east deleted')
      },
      error => world.note(`link east not deleted: ${error}`),
    )
    .finally(() => {
      if (promises.linkChange === change) promises.linkChange = undefined
    })
}

const filters = {
  groups: JSON.stringify({
    groupFilters: [
      { name: 'g-', patternType: 'PREFIXED', filterType: 'INCLUDE' },
      { name: 'g-secret', patternType: 'LITERAL', filterType: 'EXCLUDE' },
    ],
  }),
  topics: JSON.stringify({
    topicFilters: [
      { name: 'auto-', patternType: 'PREFIXED', filterType: 'INCLUDE' },
      { name: 'auto-secret', patternType: 'LITERAL', filterType: 'EXCLUDE' },
    ],
  }),
  acls: JSON.stringify({ aclFilters: [{ resourceFilter: { resourceType: 'topic' } }] }),
}

/** Properties of each link that never change here. */
const lasting = {
  'cluster.link.retry.timeout.ms': '20000',
  'metadata.max.age.ms': '5000',
  'consumer.offset.sync.enable': 'true',
  'consumer.offset.sync.ms': '3000',
  'consumer.offset.group.filters': filters.groups,
  'acl.sync.enable': 'true',
  'acl.sync.ms': '5000',
  'acl.filters': filters.acls,
}

function requestLink(world: World, promises: Promises, name: LinkName): void {
  const configs: Record<string, string> = {
    ...lasting,
    'bootstrap.servers': `${name}:9092`,
    'mirror.unclean.truncation.policy': world.pick(['fail', 'truncate', 'truncate'] as const) ?? 'fail',
    'topic.config.sync.include': world.pick(['retention.ms', 'delete.retention.ms'] as const) ?? 'retention.ms',
  }
  if (name === 'east') {
    configs['auto.create.mirror.topics.enable'] = 'true'
    configs['auto.create.mirror.topics.filters'] = filters.topics
    configs['auto.create.mirror.topics.interval.ms'] = '5000'
  }
  const { process } = world
  const change = Symbol('creation')
  promises.linkChange = change
  promises.links.delete(name)
  void world.engine
    .createLink(linkRequest(name, configs), { validateOnly: false, validateLink: true })
    .then(
      () => {
        if (process !== world.process) return
        world.note(`link ${name} created`)
        promises.links.set(name, 'created')
        if (name === 'west') for (const [key, value] of Object.entries(configs)) promises.configs.set(key, value)
      },
      error => world.note(`link ${name} not created: ${error}`),
    )
    .finally(() => {
      if (promises.linkChange === change) promises.linkChange = undefined
    })
}

/** Creates both links, whose answers are waited for. */
export async function createLinks(world: World, promises: Promises): Promise<void> {
  for (const name of ['west', 'east'] as const) {
    requestLink(world, promises, name)
    await world.clock.advance(1000)
    if (promises.links.get(name) !== 'created') throw new Error(`link ${name} is not created`)
  }
}

/** The first mirrors; whether they came to be, the state says. */
export function createMirrors(world: World, promises: Promises): void {
  for (let count = 0; count < 6; count++) createMirror.act(world, promises)
}
