/** Changes of a live link's properties: refusals, dry runs, what is rebuilt and what goes on. */
import { deepEqual, equal, match, ok, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import type { OperationalError } from '../core/errors.ts'
import type { LinkConfigChange } from './engine-api.ts'
import { batchAt, EngineWorld, linkRequest, mirrorRequest } from './fakes/engine-world.ts'

async function mirroring(configs: Record<string, string> = {}) {
  const world = new EngineWorld()
  await world.start()
  const source = world.source.addTopic('orders', 1).partitions[0]
  ok(source)
  await world.engine.createLink(linkRequest('west', configs), { validateOnly: false, validateLink: true })
  await world.engine.createMirror('west', mirrorRequest('orders'))
  source.append(batchAt(0, 10))
  await world.mirrorAll()
  const value = (name: string) => world.engine.describeLinkConfigs('west').find(config => config.name === name)?.value
  return { world, source, value }
}

const set = (name: string, value: string): LinkConfigChange => ({ name, operation: 'SET', value })
const reset = (name: string): LinkConfigChange => ({ name, operation: 'DELETE', value: null })
const code = (expected: string) => (error: unknown) => (error as OperationalError).code === expected

const alter = (world: EngineWorld, changes: readonly LinkConfigChange[], validateOnly = false) =>
  world.engine.alterLinkConfigs('west', changes, { validateOnly })

test('connection settings rebuild the connections, and mirrors go on at their log ends', async () => {
  const { world, source } = await mirroring()
  const opened = world.source.opened.length
  await alter(world, [set('bootstrap.servers', 'other:9092'), set('replica.fetch.wait.max.ms', '250')])
  equal(world.source.opened.length, opened + 1)
  deepEqual(world.source.opened.at(-1)?.bootstrapServers, ['other:9092'])
  equal(world.source.openConnections, 1)
  source.append(batchAt(10, 10))
  await world.mirrorAll()
  equal(world.cluster.topicNamed('orders')?.logs[0]?.logEndOffset, 20)
  // What is no setting of the connection leaves it alone.
  await alter(world, [set('cluster.link.retry.timeout.ms', '1000'), set('topic.config.sync.include', 'retention.ms')])
  equal(world.source.opened.length, opened + 1)
  await world.engine.stop()
})

test('settings of mirrors and probes hold at once', async () => {
  const { world, source } = await mirroring({ 'topic.config.sync.include': 'delete.retention.ms' })
  const log = world.cluster.topicNamed('orders')?.logs[0]
  source.append(batchAt(10, 10))
  source.logStartOffset = 10
  await world.mirrorAll()
  equal(log?.logStartOffset, 0)
  await alter(world, [reset('topic.config.sync.include')])
  await world.mirrorAll()
  equal(log?.logStartOffset, 10)
  world.source.failure = { failure: 'tcp', message: 'connection refused' }
  await alter(world, [
    set('availability.check.ms', '1000'),
    set('availability.check.consecutive.failure.threshold', '2'),
  ])
  await world.clock.advance(3000)
  equal(world.engine.describeLink('west').state, 'UNAVAILABLE')
  await world.engine.stop()
})

test('all changes are made or none, and a dry run makes none', async () => {
  const { world, value } = await mirroring()
  const effects = world.process.effects.length
  deepEqual(await alter(world, [set('acl.sync.ms', '7000')], true), { warnings: [], cleared: [] })
  await rejects(alter(world, [set('acl.sync.ms', '7000'), set('acl.sync.mss', '1')]), code('LINK_CONFIG_UNKNOWN'))
  await rejects(alter(world, [reset('acl.sync.mss')]), /did you mean 'acl.sync.ms'/)
  await rejects(alter(world, [set('acl.sync.ms', '7000'), set('acl.sync.ms', '8000')]), code('LINK_CONFIG_INVALID'))
  await rejects(alter(world, [set('acl.sync.ms', '1')]), code('LINK_CONFIG_INVALID'))
  await rejects(alter(world, [reset('bootstrap.servers')]), /'bootstrap.servers' is required/)
  await rejects(alter(world, [{ name: 'acl.sync.ms', operation: 'SET', value: null }]), /needs a value/)
  await rejects(alter(world, [set('link.mode', 'SOURCE')]), code('LINK_CONFIG_UNSUPPORTED'))
  equal(world.process.effects.length, effects)
  equal(value('acl.sync.ms'), '5000')
  await alter(world, [set('acl.sync.ms', '7000')])
  equal(value('acl.sync.ms'), '7000')
  await alter(world, [reset('acl.sync.ms')])
  equal(value('acl.sync.ms'), '5000')
  await rejects(world.engine.alterLinkConfigs('east', [], { validateOnly: false }), code('LINK_NOT_FOUND'))
  await world.engine.stop()
})

test('what is fixed at creation cannot be changed, but may be given as it is', async () => {
  const { world } = await mirroring()
  await alter(world, [set('link.mode', 'DESTINATION'), reset('cluster.link.prefix')])
  await rejects(alter(world, [set('cluster.link.prefix', 'p.')]), code('LINK_CONFIG_READ_ONLY'))
  await rejects(alter(world, [set('link.prefix', 'p.')]), /'cluster.link.prefix' is fixed when the link is created/)
  await world.engine.stop()
})

// Both read the record, then wrote it: the later write took the other's change back.
test('a pinned cluster id and a changed property do not overwrite each other', async () => {
  const world = new EngineWorld()
  await world.start()
  world.source.failure = { failure: 'tcp', message: 'connection refused' }
  await world.engine.createLink(linkRequest('west'), { validateOnly: false, validateLink: false })
  await world.settle()
  world.source.failure = undefined
  const probing = world.clock.advance(2000)
  await Promise.all([probing, ...[6000, 7000, 8000].map(ms => alter(world, [set('acl.sync.ms', String(ms))]))])
  await world.clock.advance(61_000)
  equal(world.engine.describeLink('west').sourceClusterId, 'source-cluster')
  equal(world.engine.describeLinkConfigs('west').find(({ name }) => name === 'acl.sync.ms')?.value, '8000')
  await world.engine.stop()
})

test('partitions that the source gains are mirrored from their first record on', async () => {
  const { world } = await mirroring()
  const topic = world.source.topics.get('orders')
  ok(topic)
  world.source.growTopic('orders', 3)
  topic.partitions[1]?.append(batchAt(40, 5))
  Object.assign(topic.partitions[1] ?? {}, { logStartOffset: 40 })
  topic.partitions[2]?.append(batchAt(0, 7))
  await world.clock.advance(31_000)
  await world.mirrorAll()
  deepEqual(
    world.cluster.topicNamed('orders')?.logs.map(log => [log.logStartOffset, log.logEndOffset]),
    [
      [0, 10],
      [40, 45],
      [0, 7],
    ],
  )
  equal(world.engine.describeMirror('west', 'orders').numPartitions, 3)
  match(world.engine.describeHistory('west', 'orders')[0]?.reason ?? '', /has 3 partitions, 2 more/)
  equal(world.engine.describeLink('west').tasks.find(task => task.name === 'PartitionSync')?.state, 'ACTIVE')
  await world.engine.stop()
})

test('a paused mirror grows when it is resumed', async () => {
  const { world } = await mirroring()
  const verb = (name: 'pause' | 'resume') =>
    world.engine.alterMirrors('west', name, { selection: { names: ['orders'] }, validateOnly: false })
  const ends = () => world.cluster.topicNamed('orders')?.logs.map(log => log.logEndOffset)
  await verb('pause')
  world.source.growTopic('orders', 2)
  world.source.topics.get('orders')?.partitions[1]?.append(batchAt(0, 5))
  await world.clock.advance(31_000)
  await world.mirrorAll()
  deepEqual(ends(), [10])
  await verb('resume')
  await world.clock.advance(31_000)
  await world.mirrorAll()
  deepEqual(ends(), [10, 5])
  await world.engine.stop()
})

test('a growth that is killed at any effect is finished by the next node', async () => {
  for (const side of ['before', 'after'] as const)
    for (let at = 0; at < 2; at++) {
      const { world } = await mirroring()
      world.source.growTopic('orders', 2)
      world.source.topics.get('orders')?.partitions[1]?.append(batchAt(0, 7))
      world.process.planCrash({ at, side })
      await world.clock.advance(31_000)
      equal(world.process.killed, true)
      await world.start()
      await world.mirrorAll()
      deepEqual(
        world.cluster.topicNamed('orders')?.logs.map(log => log.logEndOffset),
        [10, 7],
        `${side} ${at}`,
      )
      await world.engine.stop()
    }
})

test('one topic that may not be described does not keep others from growing', async () => {
  const { world } = await mirroring()
  world.source.addTopic('secret', 1)
  await world.engine.createMirror('west', mirrorRequest('secret'))
  world.source.growTopic('orders', 2)
  world.source.unreadable.add('secret')
  await world.clock.advance(31_000)
  equal(world.engine.describeMirror('west', 'orders').numPartitions, 2)
  const task = world.engine.describeLink('west').tasks.find(({ name }) => name === 'PartitionSync')
  equal(task?.state, 'IN_ERROR')
  deepEqual(
    task?.errors.map(error => error.code),
    ['AUTHORIZATION_ERROR'],
  )
  await world.engine.stop()
})

// Answers of the partitions that were left counted as success, and reset the timer again and again.
test('a source topic with fewer partitions fails after the retry timeout, also while the rest answers', async () => {
  const world = new EngineWorld()
  await world.start()
  const partitions = world.source.addTopic('orders', 3).partitions
  const configs = { 'cluster.link.retry.timeout.ms': '60000' }
  await world.engine.createLink(linkRequest('west', configs), { validateOnly: false, validateLink: true })
  await world.engine.createMirror('west', mirrorRequest('orders'))
  await world.mirrorAll()
  partitions.pop()
  for (let offset = 0; offset < 5; offset++) {
    partitions[0]?.append(batchAt(offset, 1))
    await world.mirrorAll(1)
    await world.clock.advance(10_000)
    equal(world.engine.describeMirror('west', 'orders').status, 'ACTIVE')
    if (offset === 2) await world.start()
  }
  await world.clock.advance(11_000)
  await world.mirrorAll()
  equal(world.engine.describeMirror('west', 'orders').error, 'SOURCE_PARTITIONS_DECREASED')
  await world.engine.stop()
})
