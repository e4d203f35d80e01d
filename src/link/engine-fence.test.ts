/** Mirrors among brokers that others write through: the fence is configuration that has to be kept, and taken off without touching what clients write then. */
import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { batchAt, EngineWorld, linkRequest, mirrorRequest } from './fakes/engine-world.ts'
import { decodeStatusRecord } from './status/status-codec.ts'
import { StatusContents } from './status/status-contents.ts'

const parked = new Map([
  ['max.message.bytes', '78'],
  ['retention.ms', '-1'],
])

async function fencedMirror(configs: Record<string, string> = {}): Promise<EngineWorld> {
  const world = new EngineWorld()
  world.cluster.fence.park(parked)
  await world.start()
  await world.engine.createLink(linkRequest('west', configs), { validateOnly: false, validateLink: true })
  const topic = world.source.addTopic('orders', 2)
  topic.configs.set('max.message.bytes', { value: '5000', overridden: true })
  topic.configs.set('retention.ms', { value: '1000', overridden: true })
  for (const partition of topic.partitions) partition.append(batchAt(0, 3, { producerId: 9n }))
  await world.engine.createMirror('west', mirrorRequest('orders'))
  await world.mirrorAll()
  return world
}

function topicOf(world: EngineWorld) {
  const topic = world.cluster.topicNamed('orders')
  ok(topic)
  return topic
}

const view = (world: EngineWorld) => world.engine.describeMirror('west', 'orders')
const verb = (world: EngineWorld, name: 'failover' | 'promote' | 'pause', more = {}) =>
  world.engine.alterMirrors('west', name, { selection: { names: ['orders'] }, validateOnly: false, ...more })

async function later(world: EngineWorld, ms = 2000): Promise<void> {
  for (let round = 0; round < 4; round++) {
    await world.settle()
    await world.clock.advance(ms / 4)
  }
  await world.settle()
}

test('a mirror is created with the values of the fence, and what they are meant to be is shown and published', async () => {
  const world = await fencedMirror()
  const { topicId, configs } = topicOf(world)
  deepEqual([configs.get('max.message.bytes'), configs.get('retention.ms')], ['78', '-1'])
  deepEqual([...(world.engine.fences.trueConfigs(topicId) ?? [])].sort(), [
    ['max.message.bytes', '5000'],
    ['retention.ms', '1000'],
  ])
  await later(world, 20_000)
  const contents = new StatusContents()
  for (const record of world.cluster.statusRecords) contents.apply(decodeStatusRecord(record))
  const [mirror] = contents.mirrorsNamed('orders')
  const published = new Map(mirror?.configs.map(({ name, value }) => [name, value]))
  deepEqual([published.get('max.message.bytes'), published.get('retention.ms')], ['5000', '1000'])
  await world.engine.stop()
})

test('a config that the source changes changes what holds after the fence, not the fence', async () => {
  const world = await fencedMirror()
  const { topicId } = topicOf(world)
  world.source.topics.get('orders')?.configs.set('max.message.bytes', { value: '1048588', overridden: false })
  world.source.topics.get('orders')?.configs.set('retention.ms', { value: '2000', overridden: true })
  await later(world, 12_000)
  equal(topicOf(world).configs.get('max.message.bytes'), '78')
  deepEqual(world.engine.fences.trueConfigs(topicId)?.get('max.message.bytes'), null)
  deepEqual(world.engine.fences.trueConfigs(topicId)?.get('retention.ms'), '2000')
  await verb(world, 'failover')
  deepEqual([...topicOf(world).configs], [['retention.ms', '2000']])
  equal(world.engine.fences.trueConfigs(topicId), undefined)
  await world.engine.stop()
})

test('a failover tells what the retention that is meant would delete, not that of the fence', async () => {
  const world = await fencedMirror()
  for (const log of topicOf(world).logs) log.bytesAtRisk = 1000
  const [row] = await verb(world, 'failover', { validateOnly: true })
  equal(row?.retentionBytesAtRisk, 2000)
  const [kept] = await verb(world, 'failover', { validateOnly: true, keepRetention: true })
  equal(kept?.retentionBytesAtRisk, 0)
  await world.engine.stop()
})

test('a fence that somebody changes is restored at once, counted and told', async () => {
  const world = await fencedMirror()
  const { topicId } = topicOf(world)
  world.cluster.fence.disturb(topicId, new Map([['max.message.bytes', '1000000']]))
  await world.settle()
  equal(topicOf(world).configs.get('max.message.bytes'), '78')
  equal(world.engine.incidentCounts().get('fence_changed'), 1)
  const [entry] = world.engine.describeHistory('west', 'orders')
  deepEqual([entry?.event, entry?.reason, entry?.state], ['fence_changed', 'restored: max.message.bytes', 'ACTIVE'])
  await world.engine.stop()
})

test('a config that follows the source is taken back at once when somebody changes it, counted and told', async () => {
  const world = await fencedMirror()
  const { topicId } = topicOf(world)
  world.source.topics.get('orders')?.configs.set('cleanup.policy', { value: 'compact', overridden: true })
  await later(world, 6000)
  world.cluster.fence.disturb(topicId, new Map([['cleanup.policy', 'delete']]))
  await world.settle()
  equal(topicOf(world).configs.get('cleanup.policy'), 'compact')
  equal(world.engine.incidentCounts().get('config_changed'), 1)
  const [entry] = world.engine.describeHistory('west', 'orders')
  deepEqual([entry?.event, entry?.reason], ['config_changed', 'restored: cleanup.policy'])

  // The source's own changes are nobody's incident, and a paused mirror is left as it is.
  world.source.topics.get('orders')?.configs.set('cleanup.policy', { value: 'delete', overridden: false })
  await later(world, 6000)
  equal(topicOf(world).configs.get('cleanup.policy'), undefined)
  await verb(world, 'pause')
  world.cluster.fence.disturb(topicId, new Map([['cleanup.policy', 'compact']]))
  await world.settle()
  equal(topicOf(world).configs.get('cleanup.policy'), 'compact')
  equal(world.engine.incidentCounts().get('config_changed'), 1)
  await world.engine.stop()
})

test('what changes while no coordinator is there is restored by the next one', async () => {
  const world = await fencedMirror()
  const { topicId } = topicOf(world)
  world.process.kill()
  world.cluster.fence.forget()
  world.cluster.fence.disturb(topicId, new Map([['retention.ms', '5']]))
  await world.start()
  equal(topicOf(world).configs.get('retention.ms'), '-1')
  equal(world.engine.incidentCounts().get('fence_changed'), 1)
  await world.engine.stop()
})

test('partitions that somebody moved to other brokers are given up: the mirror fails, and its fence is left as they want it', async () => {
  const world = await fencedMirror()
  const { topicId, logs } = topicOf(world)
  world.cluster.fence.takenAway.add(`${topicId}/0`).add(`${topicId}/1`)
  world.cluster.fence.disturb(topicId, new Map([['max.message.bytes', '1000000']]))
  await world.settle()
  equal(topicOf(world).configs.get('max.message.bytes'), '1000000')
  equal(view(world).status, 'FAILED')
  match(view(world).reason ?? '', /moved it to other brokers/)
  // A client of theirs has begun a transaction: the end of the mirror is none of its business.
  logs[0]?.append(batchAt(3, 1, { producerId: 500n, transactional: true }))
  const [row] = await verb(world, 'failover')
  equal(row?.errorCode, null)
  deepEqual(row?.warnings, ['2 of 2 partitions were made ordinary ones by somebody else: their logs stay as they are'])
  equal(view(world).status, 'STOPPED')
  equal(logs[0]?.openTransactions().length, 1)
  await world.engine.stop()
})

test('a promote waits for what a release needs, and a dry run says it', async () => {
  const world = await fencedMirror()
  world.cluster.fence.obstacles.set(1, '1 of 2 in-sync brokers')
  world.cluster.fence.warnings = ['broker 3 does not answer']
  const [dry] = await verb(world, 'promote', { validateOnly: true })
  deepEqual(
    dry?.partitions.map(row => row.waitingFor),
    [null, '1 of 2 in-sync brokers'],
  )
  deepEqual(dry?.warnings, ['broker 3 does not answer'])
  await verb(world, 'promote')
  await later(world)
  equal(view(world).reason, 'waiting for partition 1: 1 of 2 in-sync brokers')
  world.cluster.fence.obstacles.clear()
  await later(world)
  deepEqual([view(world).status, view(world).reason], ['STOPPED', 'stopped by promote; broker 3 does not answer'])
  await world.engine.stop()
})

test('a node that goes on with a release does not touch what clients have written since', async () => {
  for (const side of ['before', 'after'] as const) {
    const world = await fencedMirror()
    const { logs } = topicOf(world)
    world.process.planCrashAt('release', side)
    await verb(world, 'failover').catch(() => {})
    equal(world.process.killed, true)
    const client = batchAt(3, 1, { producerId: 500n, transactional: true })
    for (const log of logs) {
      log.append(client)
      log.flushedOffset = log.logEndOffset
    }
    await world.start()
    await later(world)
    equal(view(world).status, 'STOPPED')
    for (const log of logs) equal(log.openTransactions().length, 1, 'the transaction of the client goes on')
    deepEqual(
      view(world).stopPoints.map(({ stopOffset }) => stopOffset),
      [3, 3],
    )
    equal(topicOf(world).configs.get('max.message.bytes'), '5000')
    await world.engine.stop()
  }
})

test('which leader epochs a mirror was appended in is known before it is, and only of mirrors', async () => {
  const world = await fencedMirror()
  const { topicId, logs } = topicOf(world)
  const led = (partition: number) => {
    const leadership = world.engine.fences.leadershipOf(topicId, { topic: 'orders', partition })
    return leadership.kind === 'mirror' ? [...leadership.ledEpochs] : leadership.kind
  }
  deepEqual(led(0), [0])
  if (logs[0]) logs[0].leaderEpoch = 4
  world.source.topics.get('orders')?.partitions[0]?.append(batchAt(3, 1))
  await world.mirrorAll()
  deepEqual([led(0), led(1)], [[0, 4], [0]])
  await verb(world, 'failover')
  equal(led(0), 'ordinary')
  await world.engine.stop()
})

test('a topic is mirroring while its mirror is active or paused, not once it stops', async () => {
  const world = await fencedMirror()
  const { topicId } = topicOf(world)
  const isMirroring = () => world.engine.fences.isMirroring(topicId)
  equal(isMirroring(), true)
  await verb(world, 'pause')
  equal(isMirroring(), true)
  await verb(world, 'failover')
  equal(isMirroring(), false)
  await world.engine.stop()
})
