/** Why a topic is, or is not, mirrored: every obstacle by its name, also while the source is away. */
import { deepEqual, equal, match } from 'node:assert/strict'
import { test } from 'node:test'
import { batchAt, EngineWorld, linkRequest, mirrorRequest } from './fakes/engine-world.ts'
import { answered, ask, mirroredPeers } from './fakes/reversed-peers.ts'

const topicFilters = [
  { name: 'or', patternType: 'PREFIXED', filterType: 'INCLUDE' },
  { name: 'absent', patternType: 'LITERAL', filterType: 'INCLUDE' },
  { name: 'or-not', patternType: 'LITERAL', filterType: 'EXCLUDE' },
]

async function explaining(): Promise<EngineWorld> {
  const world = new EngineWorld()
  await world.start()
  for (const topic of ['orders', 'or-not', 'other', 'or-here', '_schemas']) world.source.addTopic(topic, 1)
  world.cluster.addTopic('or-here', 1)
  const configs = {
    'auto.create.mirror.topics.enable': 'true',
    'auto.create.mirror.topics.filters': JSON.stringify({ topicFilters }),
  }
  await world.engine.createLink(linkRequest('west', configs), { validateOnly: false, validateLink: true })
  await world.settle()
  return world
}

test('every topic of the source is listed with the first thing that is in its way', async () => {
  const world = await explaining()
  const rows = await world.engine.topics.list('west')
  deepEqual(
    rows.map(({ sourceTopicName, reason }) => [sourceTopicName, reason]),
    [
      ['_schemas', 'NOT_INCLUDED'],
      ['absent', 'SOURCE_TOPIC_NOT_FOUND'],
      ['or-here', 'TOPIC_EXISTS'],
      ['or-not', 'EXCLUDED'],
      ['orders', null],
      ['other', 'NOT_INCLUDED'],
    ],
  )
  await world.engine.stop()
})

test('a mirror is explained by its state, also while its source does not answer', async () => {
  const world = await explaining()
  const explain = () => world.engine.topics.explain('west', { mirrorTopic: 'orders' })
  match((await explain()).conclusion, /is mirrored as 'orders' and follows its source/)
  world.source.questionFailure = { failure: 'tcp', message: 'connection refused' }
  const away = await explain()
  equal(away.mirrored, true)
  equal(away.conditions.find(({ name }) => name === 'SOURCE_TOPIC_EXISTS')?.answer, 'UNKNOWN')
  world.source.questionFailure = undefined
  await world.engine.alterMirrors('west', 'pause', { selection: { names: ['orders'] }, validateOnly: false })
  match((await explain()).conclusion, /but it does not follow its source fully: Its mirror is PAUSED/)
  await world.engine.stop()
})

test('a deletion is told of if a filter still includes the topic, and not if none does', async () => {
  const world = await explaining()
  const [back] = world.engine.topics.returning('orders')
  deepEqual(back, { linkName: 'west', sourceTopicName: 'orders', withinMs: 300_000 })
  equal(world.engine.topics.returning('or-here').length, 1)
  await world.engine.createMirror('west', mirrorRequest('other'))
  deepEqual(world.engine.topics.returning('other'), [])
  await world.engine.stop()
})

// The page offered mirrors of other links to be restored, which the dry run then refused.
test('a mirror of another link is told from an ordinary topic that is in the way', async () => {
  const world = await explaining()
  await world.engine.createLink(linkRequest('other'), { validateOnly: false, validateLink: true })
  const reason = async () =>
    (await world.engine.topics.list('other')).find(row => row.sourceTopicName === 'orders')?.reason
  equal(await reason(), 'OTHER_MIRROR')
  await world.engine.alterMirrors('west', 'failover', { selection: { names: ['orders'] }, validateOnly: false })
  equal(await reason(), 'TOPIC_EXISTS')
  await world.engine.stop()
})

test('of a topic whose mirror took over without all of it, it is told to restore it, and what it is at then', async () => {
  const world = await mirroredPeers()
  const { east, west } = world
  const explained = async () => {
    const { conditions } = await east.engine.topics.explain('twin', { mirrorTopic: 'orders' })
    return conditions.find(({ name }) => name === 'MIRROR_FOLLOWS')
  }
  west.process.failNext('append', new Error('a slow disk'))
  east.write('orders', batchAt(3, 4))
  await ask(west, 'reverse-and-start-mirror')
  await world.pass(4000)
  match((await explained())?.hint ?? '', /To keep it writable instead: lockstep mirror failover/)
  await answered(world, ask(west, 'failover'))
  await world.pass(4000)
  match((await explained())?.hint ?? '', /otherwise: lockstep mirror truncate-and-restore/)
  east.process.failNext('truncate', new Error('a full disk'))
  await ask(east, 'truncate-and-restore')
  await world.pass(1000)
  match((await explained())?.hint ?? '', /^It is cut, and follows by itself then/)
  await world.stop()
})
