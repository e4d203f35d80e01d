/** Mirrors that nobody creates by name: what appears by itself, what does not and why, and what comes back. */
import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { batchAt, EngineWorld, linkRequest, mirrorRequest } from './fakes/engine-world.ts'

const topicFilters = (...filters: readonly [name: string, patternType?: string, filterType?: string][]) => {
  const all = filters.map(([name, patternType = 'LITERAL', filterType = 'INCLUDE']) => ({
    name,
    patternType,
    filterType,
  }))
  return JSON.stringify({ topicFilters: all })
}

const everything = topicFilters(['*'])
const enabled = (filters = everything, more: Record<string, string> = {}) => ({
  'auto.create.mirror.topics.enable': 'true',
  'auto.create.mirror.topics.filters': filters,
  ...more,
})

/** A world whose link `west` has these properties. */
async function linked(topics: readonly string[], configs: Record<string, string>): Promise<EngineWorld> {
  const world = new EngineWorld()
  await world.start()
  for (const topic of topics) world.source.addTopic(topic, 2)
  await world.engine.createLink(linkRequest('west', configs), { validateOnly: false, validateLink: true })
  await world.settle()
  return world
}

const mirrors = ({ engine }: EngineWorld) =>
  engine
    .listMirrors({ link: 'west', status: undefined })
    .map(({ mirrorTopicName, status }) => `${mirrorTopicName} ${status}`)

const task = ({ engine }: EngineWorld) =>
  engine.describeLink('west').tasks.find(({ name }) => name === 'AutoCreateMirror')

async function alter(world: EngineWorld, configs: Record<string, string>) {
  const changes = Object.entries(configs).map(([name, value]) => ({ name, operation: 'SET' as const, value }))
  const report = await world.engine.alterLinkConfigs('west', changes, { validateOnly: false })
  await world.settle()
  return report
}

test('topics that a filter includes become mirrors by themselves, and what is never mirrored does not', async () => {
  const names = ['orders', 'orders-old', 'secret-1', '__consumer_offsets', '_schemas', '__consumer_timestamps']
  const filters = topicFilters(['*'], ['secret', 'PREFIXED', 'EXCLUDE'], ['orders-old', 'LITERAL', 'EXCLUDE'])
  const world = await linked(names, enabled(filters))
  deepEqual(mirrors(world), ['orders ACTIVE'])
  deepEqual([task(world)?.state, task(world)?.errors], ['ACTIVE', []])
  equal(typeof task(world)?.lastSuccessMs, 'number')
  world.source.topics.get('orders')?.partitions[0]?.append(batchAt(0, 3))
  await world.mirrorAll()
  equal(world.engine.describeMirror('west', 'orders').lags[0]?.logEndOffset, 3)
  await world.engine.stop()
})

test('a new topic appears with the next period, and at once when it is asked for or when filters change', async () => {
  const world = await linked(['orders'], enabled(topicFilters(['orders', 'PREFIXED'])))
  world.source.addTopic('orders-2', 1)
  await world.settle()
  deepEqual(mirrors(world), ['orders ACTIVE'])
  await world.clock.advance(300_000)
  await world.settle()
  deepEqual(mirrors(world), ['orders ACTIVE', 'orders-2 ACTIVE'])
  world.source.addTopic('orders-3', 1)
  world.engine.runTask('west', 'AutoCreateMirror')
  await world.settle()
  equal(mirrors(world).length, 3)
  world.source.addTopic('payments', 1)
  await alter(world, { 'auto.create.mirror.topics.filters': topicFilters(['payments']) })
  deepEqual(mirrors(world).at(-1), 'payments ACTIVE')
  equal(mirrors(world).length, 4, 'mirrors that no filter includes any more stay')
  await world.engine.stop()
})

test('a feature that is switched on later begins at once, and switching it off clears its filters and says so', async () => {
  const world = await linked(['orders'], {})
  equal(task(world)?.state, 'NOT_CONFIGURED')
  await alter(world, enabled())
  deepEqual(mirrors(world), ['orders ACTIVE'])
  const acl = '{"aclFilters":[{"resourceFilter":{},"accessFilter":{}}]}'
  const groups = '{"groupFilters":[{"name":"*","patternType":"LITERAL","filterType":"INCLUDE"}]}'
  await alter(world, { 'acl.sync.enable': 'true', 'acl.filters': acl })
  await alter(world, { 'consumer.offset.sync.enable': 'true', 'consumer.offset.group.filters': groups })
  for (const [feature, filters] of [
    ['auto.create.mirror.topics.enable', 'auto.create.mirror.topics.filters'],
    ['acl.sync.enable', 'acl.filters'],
    ['consumer.offset.sync.enable', 'consumer.offset.group.filters'],
  ] as const) {
    deepEqual((await alter(world, { [feature]: 'false' })).cleared, [filters])
    const value = world.engine.describeLinkConfigs('west').find(({ name }) => name === filters)?.value
    equal(value, '')
  }
  world.source.addTopic('payments', 1)
  await world.clock.advance(600_000)
  await world.settle()
  deepEqual(mirrors(world), ['orders ACTIVE'])
  await world.engine.stop()
})

test('without an INCLUDE filter the task says MISCONFIGURATION_ERROR', async () => {
  const world = await linked(['orders'], { 'auto.create.mirror.topics.enable': 'true' })
  deepEqual([task(world)?.state, task(world)?.errors[0]?.code], ['IN_ERROR', 'MISCONFIGURATION_ERROR'])
  await alter(world, { 'auto.create.mirror.topics.filters': topicFilters(['x', 'LITERAL', 'EXCLUDE']) })
  equal(task(world)?.errors[0]?.code, 'MISCONFIGURATION_ERROR')
  await alter(world, { 'auto.create.mirror.topics.filters': everything })
  deepEqual([task(world)?.state, mirrors(world)], ['ACTIVE', ['orders ACTIVE']])
  await world.engine.stop()
})

test('a topic deleted here comes back with the next round, one that is promoted stays as it is', async () => {
  const world = await linked(['orders', 'payments'], enabled())
  const first = world.cluster.topicNamed('orders')?.topicId
  world.cluster.deleteTopic('orders')
  await world.settle()
  deepEqual(mirrors(world), ['payments ACTIVE'])
  await world.engine.alterMirrors('west', 'failover', { selection: { names: ['payments'] }, validateOnly: false })
  await world.clock.advance(300_000)
  await world.settle()
  deepEqual(mirrors(world), ['orders ACTIVE', 'payments STOPPED'])
  equal(world.cluster.topicNamed('orders')?.topicId === first, false)
  deepEqual(task(world)?.errors, [])
  await world.engine.stop()
})

test('a topic of the name that is here already is listed with its reason and left alone', async () => {
  const world = new EngineWorld()
  await world.start()
  for (const name of ['mine', 'orders']) world.source.addTopic(name, 1)
  const own = world.cluster.addTopic('mine', 1)
  await world.engine.createLink(linkRequest('west', enabled()), { validateOnly: false, validateLink: true })
  await world.settle()
  deepEqual(mirrors(world), ['orders ACTIVE'])
  const [error] = task(world)?.errors ?? []
  equal(error?.code, 'TOPIC_EXISTS_ERROR')
  match(error?.message ?? '', /^mine: Topic 'mine' already exists/)
  equal(world.engine.writeStatus(own.topicId, 'mine').kind, 'writable')
  world.cluster.deleteTopic('mine')
  await world.clock.advance(300_000)
  await world.settle()
  deepEqual(mirrors(world), ['mine ACTIVE', 'orders ACTIVE'])
  deepEqual(task(world)?.errors, [])
  await world.engine.stop()
})

test('a topic that cannot be created is listed with its reason and tried again soon, while the others are created', async () => {
  const world = await linked(['orders', 'payments'], {})
  world.source.unreadable.add('payments')
  await alter(world, enabled())
  deepEqual(mirrors(world), ['orders ACTIVE'])
  world.process.failNext('create topic', new Error('the disk is full'))
  world.source.unreadable.clear()
  world.engine.runTask('west', 'AutoCreateMirror')
  await world.settle()
  deepEqual(
    task(world)?.errors.map(({ code, message }) => `${code} ${message}`),
    ['INTERNAL_ERROR payments: the disk is full'],
  )
  const explained = await world.engine.topics.explain('west', { sourceTopic: 'payments' })
  match(explained.conclusion, /the disk is full/)
  world.process.failNext('create topic', undefined)
  await world.clock.advance(5000)
  await world.settle()
  deepEqual(mirrors(world), ['orders ACTIVE', 'payments ACTIVE'])
  await world.engine.stop()
})

test('nothing is created while the link is paused or its source is away, and all of it at once afterwards', async () => {
  const world = await linked([], enabled())
  await alter(world, { 'cluster.link.paused': 'true' })
  world.source.addTopic('orders', 1)
  world.engine.runTask('west', 'AutoCreateMirror')
  await world.settle()
  deepEqual([mirrors(world), task(world)?.state], [[], 'LINK_PAUSED'])
  await alter(world, { 'cluster.link.paused': 'false' })
  deepEqual(mirrors(world), ['orders ACTIVE'])
  world.source.failure = { failure: 'tcp', message: 'connection refused' }
  await world.clock.advance(300_000)
  await world.settle()
  equal(task(world)?.errors.length, 1)
  world.source.addTopic('payments', 1)
  world.source.failure = undefined
  for (let round = 0; round < 4; round++) {
    await world.clock.advance(30_000)
    await world.settle()
  }
  deepEqual(mirrors(world), ['orders ACTIVE', 'payments ACTIVE'])
  await world.engine.stop()
})

test('automatic mirrors obey the prefix and the start offsets of the link', async () => {
  const world = new EngineWorld()
  await world.start()
  world.source.addTopic('orders', 1).partitions[0]?.append(batchAt(0, 5))
  const configs = enabled(everything, { 'cluster.link.prefix': 'west-', 'mirror.start.offset.spec': 'latest' })
  await world.engine.createLink(linkRequest('west', configs), { validateOnly: false, validateLink: true })
  await world.mirrorAll()
  deepEqual(mirrors(world), ['west-orders ACTIVE'])
  equal(world.engine.describeMirror('west', 'west-orders').lags[0]?.logStartOffset, 5)
  await world.engine.stop()
})

test('250 topics appear in one round', async () => {
  const names = Array.from({ length: 250 }, (_, index) => `topic-${String(index).padStart(3, '0')}`)
  const world = await linked(names, enabled())
  for (let turn = 0; turn < 100 && mirrors(world).length < names.length; turn++) await world.settle()
  deepEqual(
    mirrors(world),
    names.map(name => `${name} ACTIVE`),
  )
  await world.engine.stop()
})

test('a mirror that somebody created by hand is no error of the task', async () => {
  const world = await linked(['orders'], {})
  await world.engine.createMirror('west', mirrorRequest('orders'))
  await alter(world, enabled())
  deepEqual([task(world)?.state, task(world)?.errors], ['ACTIVE', []])
  await world.engine.stop()
})

// The task waited for the name, whoever had the name for the reconciler, and the reconciler for the task.
test('a link connects anew while a mirror is created by hand and by itself at the same time', async () => {
  const world = await linked(['orders'], {})
  const silence = Promise.withResolvers<void>()
  world.source.silence = silence.promise
  const byHand = world.engine.createMirror('west', mirrorRequest('orders'))
  await world.settle()
  await alter(world, enabled())
  const change = { name: 'bootstrap.servers', operation: 'SET' as const, value: 'other:9092' }
  const altered = world.engine.alterLinkConfigs('west', [change], { validateOnly: false })
  await world.settle()
  silence.resolve()
  let isDone = false
  void Promise.all([byHand, altered]).then(() => {
    isDone = true
  })
  await world.settle()
  equal(isDone, true)
  deepEqual(mirrors(world), ['orders ACTIVE'])
  await world.engine.stop()
})

test('what this cluster refuses to create is tried again without a record of every attempt', async () => {
  const world = await linked(['orders'], {})
  world.cluster.refusedTopics.add('orders')
  await alter(world, enabled())
  equal(task(world)?.errors[0]?.code, 'POLICY_VIOLATION_ERROR')
  const records = world.cluster.stateRecords.length
  for (let round = 0; round < 5; round++) {
    world.engine.runTask('west', 'AutoCreateMirror')
    await world.settle()
  }
  equal(world.cluster.stateRecords.length, records)
  world.cluster.refusedTopics.clear()
  world.engine.runTask('west', 'AutoCreateMirror')
  await world.settle()
  deepEqual(mirrors(world), ['orders ACTIVE'])
  await world.engine.stop()
})

test('what goes on failing is tried ever more seldom', async () => {
  const world = await linked(['orders'], {})
  world.process.failNext('create topic', new Error('the disk is full'))
  let rounds = 0
  world.source.afterListOffsets = () => rounds++
  await alter(world, enabled())
  for (let minute = 0; minute < 4; minute++) {
    await world.clock.advance(60_000)
    await world.settle()
  }
  ok(rounds >= 6 && rounds <= 12, `${rounds} rounds in four minutes`)
  await world.engine.stop()
})
