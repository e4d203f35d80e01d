/** Topic configs of mirrors follow their source: set, taken back, undone when somebody else changes them. */
import { deepEqual, equal, match } from 'node:assert/strict'
import { test } from 'node:test'
import { EngineWorld, linkRequest, mirrorRequest } from '../fakes/engine-world.ts'

async function mirroring() {
  const world = new EngineWorld()
  await world.start()
  const source = world.source.addTopic('orders', 1)
  await world.engine.createLink(linkRequest('west'), { validateOnly: false, validateLink: true })
  await world.engine.createMirror('west', mirrorRequest('orders', { 'segment.bytes': '1000' }))
  await world.settle()
  const configs = () => Object.fromEntries(world.cluster.topicNamed('orders')?.configs ?? [])
  const round = async () => {
    await world.clock.advance(5000)
    await world.settle()
  }
  const task = () => world.engine.describeLink('west').tasks.find(({ name }) => name === 'TopicConfigsSync')
  return { world, source, configs, round, task }
}

test('an owned config is set where the effective values differ, and its override goes when they do not', async () => {
  const { world, source, configs, round, task } = await mirroring()
  source.configs.set('retention.ms', { value: '1000', overridden: true })
  source.configs.set('min.insync.replicas', { value: '2', overridden: true })
  await round()
  deepEqual(configs(), { 'segment.bytes': '1000', 'retention.ms': '1000' })
  equal(task()?.state, 'ACTIVE')
  source.configs.set('retention.ms', { value: '604800000', overridden: false })
  await round()
  deepEqual(configs(), { 'segment.bytes': '1000' })
  await world.engine.stop()
})

test('a change that somebody else made here is undone', async () => {
  const { world, source, configs, round } = await mirroring()
  source.configs.set('cleanup.policy', { value: 'compact', overridden: true })
  await round()
  const topic = world.cluster.topicNamed('orders')
  if (topic) topic.configs = new Map([['cleanup.policy', 'delete']])
  await round()
  equal(configs()['cleanup.policy'], 'compact')
  await world.engine.stop()
})

test('a key that is unknown here is listed, and stops nothing else; a paused mirror keeps its configs', async () => {
  const { world, source, configs, round, task } = await mirroring()
  source.configs.set('message.timestamp.difference.max.ms', { value: '5', overridden: true })
  source.configs.set('retention.bytes', { value: '77', overridden: true })
  await round()
  equal(configs()['retention.bytes'], '77')
  equal(task()?.state, 'IN_ERROR')
  match(task()?.errors[0]?.message ?? '', /^orders: message.timestamp.difference.max.ms is not known here$/)
  await world.engine.alterMirrors('west', 'pause', { selection: { names: ['orders'] }, validateOnly: false })
  source.configs.set('retention.bytes', { value: '78', overridden: true })
  await round()
  equal(configs()['retention.bytes'], '77')
  await world.engine.stop()
})

// The values of a source that was slow to answer undid what a failover had set to keep what the topic holds.
test('a mirror that stopped while the source was asked keeps its configs', async () => {
  const { world, source, configs } = await mirroring()
  source.configs.set('retention.ms', { value: '1000', overridden: true })
  const silence = Promise.withResolvers<void>()
  world.source.configSilence = silence.promise
  await world.clock.advance(5000)
  await world.settle()
  const selection = { names: ['orders'] }
  await world.engine.alterMirrors('west', 'failover', { selection, validateOnly: false, keepRetention: true })
  equal(configs()['retention.ms'], '-1')
  silence.resolve()
  await world.settle()
  equal(configs()['retention.ms'], '-1')
  await world.engine.stop()
})
