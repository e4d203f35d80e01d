/** The engine over fakes: links, mirrors, what is fetched, what is shown, what may be written. */
import { deepEqual, equal, match, ok, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import type { OperationalError } from '../core/errors.ts'
import { batchAt, EngineWorld, linkRequest, mirrorRequest } from './fakes/engine-world.ts'

const created = { validateOnly: false, validateLink: true }
const code = (expected: string) => (error: unknown) => (error as OperationalError).code === expected

async function worldWithMirror(configs: Record<string, string> = {}) {
  const world = new EngineWorld()
  await world.start()
  world.source.addTopic('orders', 2)
  await world.engine.createLink(linkRequest('west', configs), created)
  await world.engine.createMirror('west', mirrorRequest('orders'))
  return world
}

const partition = (world: EngineWorld, index: number) => {
  const log = world.cluster.topicNamed('orders')?.logs[index]
  ok(log)
  return log
}

test('a mirror gets every byte of its source, holes kept', async () => {
  const world = await worldWithMirror()
  const source = world.source.topics.get('orders')?.partitions[0]
  ok(source)
  source.append(batchAt(0, 3), batchAt(10, 2), batchAt(500, 1))
  await world.mirrorAll()
  const mirrored = partition(world, 0)
  equal(mirrored.logEndOffset, 501)
  deepEqual(Buffer.concat(mirrored.batches.map(batch => batch.bytes)), Buffer.concat(source.batches))
  const view = world.engine.describeMirror('west', 'orders')
  equal(view.status, 'ACTIVE')
  equal(view.lagMs, 0)
  deepEqual(
    view.lags.map(({ lag, lastSourceFetchOffset, mirroredBatches }) => ({
      lag,
      lastSourceFetchOffset,
      mirroredBatches,
    })),
    [
      { lag: 0, lastSourceFetchOffset: 501, mirroredBatches: 3 },
      { lag: 0, lastSourceFetchOffset: 0, mirroredBatches: 0 },
    ],
  )
  await world.engine.stop()
  equal(world.source.openConnections, 0)
})

test('a mirror begins where its source begins, also inside a batch', async () => {
  const world = new EngineWorld()
  await world.start()
  const source = world.source.addTopic('orders', 1).partitions[0]
  ok(source)
  source.append(batchAt(1_000_000_000, 20))
  source.logStartOffset = 1_000_000_007
  await world.engine.createLink(linkRequest('west'), created)
  await world.engine.createMirror('west', mirrorRequest('orders'))
  await world.mirrorAll()
  equal(partition(world, 0).logStartOffset, 1_000_000_007)
  equal(partition(world, 0).logEndOffset, 1_000_000_020)
  await world.engine.stop()
})

test('a new node continues each partition at its own log end', async () => {
  const world = await worldWithMirror()
  const source = world.source.topics.get('orders')?.partitions[1]
  ok(source)
  source.append(batchAt(0, 5))
  await world.mirrorAll()
  await world.start()
  equal(partition(world, 1).logEndOffset, 0, 'the unflushed data was lost')
  source.append(batchAt(5, 5))
  await world.mirrorAll()
  equal(partition(world, 1).logEndOffset, 10)
  equal(partition(world, 1).batches.length, 2)
  await world.engine.stop()
})

test('a truncated source fails its partition and nothing is cut; the other one goes on', async () => {
  const world = await worldWithMirror()
  const partitions = world.source.topics.get('orders')?.partitions
  ok(partitions?.[0] && partitions[1])
  partitions[0].append(batchAt(0, 10))
  await world.mirrorAll()
  partitions[0].highWatermark = 4
  partitions[1].append(batchAt(0, 3))
  await world.mirrorAll()
  equal(partition(world, 0).logEndOffset, 10)
  const view = world.engine.describeMirror('west', 'orders')
  equal(view.status, 'FAILED')
  equal(view.error, 'UNEXPECTED_TRUNCATION')
  match(view.reason ?? '', /partition 0: the source was truncated: the source ends at offset 4/)
  deepEqual(
    view.lags.map(lag => lag.state),
    ['FAILED', 'ACTIVE'],
  )
  partitions[1].append(batchAt(3, 3))
  await world.mirrorAll()
  equal(partition(world, 1).logEndOffset, 6)
  // A restart does not bring the failed partition back.
  await world.start()
  deepEqual(world.source.fetched, ['orders-1'])
  await world.engine.stop()
})

test('an epoch that the source does not know is divergence, never success', async () => {
  const world = await worldWithMirror()
  const source = world.source.topics.get('orders')?.partitions[0]
  ok(source)
  source.leaderEpoch = 5
  source.append(batchAt(0, 4, { epoch: 5 }))
  await world.mirrorAll()
  const log = partition(world, 0)
  log.flushedOffset = log.logEndOffset
  source.leaderEpoch = 4
  source.batches = [batchAt(0, 4, { epoch: 4 })]
  await world.start()
  await world.mirrorAll()
  equal(world.engine.describeMirror('west', 'orders').error, 'UNEXPECTED_TRUNCATION')
  await world.engine.stop()
})

test('source epochs are durable before the first append of an epoch', async () => {
  const world = await worldWithMirror()
  const source = world.source.topics.get('orders')?.partitions[0]
  ok(source)
  world.process.effects.length = 0
  source.append(batchAt(0, 2, { epoch: 3 }), batchAt(2, 2, { epoch: 3 }), batchAt(4, 2, { epoch: 7 }))
  source.leaderEpoch = 7
  await world.mirrorAll()
  deepEqual(world.process.effects, ['append state', 'append'])
  await world.engine.stop()
})

test('without a writable state topic a partition waits, says so, and goes on later', async () => {
  const world = await worldWithMirror()
  const source = world.source.topics.get('orders')?.partitions[0]
  ok(source)
  source.append(batchAt(0, 2))
  world.process.failNext('append state', new Error('the disk is full'))
  await world.source.deliver()
  equal(partition(world, 0).logEndOffset, 0)
  const [waiting] = world.engine.describeMirror('west', 'orders').lags
  deepEqual([waiting?.lag, waiting?.reason], [2, 'waiting to append: the disk is full'])
  world.process.failNext('append state', undefined)
  await world.mirrorAll()
  equal(partition(world, 0).logEndOffset, 0, 'it waits before it asks again')
  await world.clock.advance(1000)
  await world.mirrorAll()
  equal(partition(world, 0).logEndOffset, 2)
  await world.engine.stop()
})

test('a recreated source topic stops at once and fails after the retry timeout, over restarts', async () => {
  const world = await worldWithMirror({ 'cluster.link.retry.timeout.ms': '60000' })
  const topic = world.source.topics.get('orders')
  ok(topic)
  const trouble = { kind: 'topic-id-changed', expected: topic.topicId, found: 'new' as never } as const
  await world.source.trouble(trouble)
  equal(world.engine.describeMirror('west', 'orders').status, 'ACTIVE')
  await world.clock.advance(40_000)
  await world.start()
  await world.clock.advance(21_000)
  await world.source.trouble(trouble)
  await world.settle()
  const view = world.engine.describeMirror('west', 'orders')
  equal(view.error, 'SOURCE_TOPIC_ID_CHANGED')
  deepEqual(world.source.fetched, [])
  await world.engine.stop()
})

test('a wall clock that is set neither hastens nor delays the failure of a source topic', async () => {
  const hourMs = 3_600_000
  for (const setMs of [hourMs, -hourMs]) {
    const world = await worldWithMirror({ 'cluster.link.retry.timeout.ms': '60000' })
    const trouble = { kind: 'authorization', message: 'no access' } as const
    await world.source.trouble(trouble)
    world.clock.setWallClock(world.clock.nowMs() + setMs)
    await world.clock.advance(40_000)
    await world.source.trouble(trouble)
    await world.settle()
    equal(world.engine.describeMirror('west', 'orders').status, 'ACTIVE')
    await world.clock.advance(21_000)
    await world.source.trouble(trouble)
    await world.settle()
    equal(world.engine.describeMirror('west', 'orders').error, 'AUTHORIZATION_ERROR')
    await world.engine.stop()
  }
})

test('a missing source topic is believed only after a second listing', async () => {
  const world = await worldWithMirror({ 'cluster.link.retry.timeout.ms': '0' })
  await world.source.trouble({ kind: 'topic-missing', message: 'no such topic' })
  equal(world.engine.describeMirror('west', 'orders').status, 'ACTIVE')
  world.source.topics.delete('orders')
  await world.source.trouble({ kind: 'topic-missing', message: 'no such topic' })
  await world.settle()
  equal(world.engine.describeMirror('west', 'orders').error, 'SOURCE_TOPIC_MAY_BE_DELETED')
  await world.engine.stop()
})

test('clients may not write a mirror, and before the replay nobody knows', async () => {
  const world = new EngineWorld()
  equal(world.engine.writeStatus('any', 'orders').kind, 'unknown')
  equal(world.engine.writeStatus('any', '__consumer_offsets').kind, 'writable')
  await rejects(world.engine.createLink(linkRequest('west'), created), code('COORDINATOR_NOT_AVAILABLE'))
  await world.start()
  world.source.addTopic('orders', 1)
  await world.engine.createLink(linkRequest('west'), created)
  await world.engine.createMirror('west', mirrorRequest('orders'))
  const status = world.engine.writeStatus(world.cluster.topicNamed('orders')?.topicId ?? '', 'orders')
  ok(status.kind === 'mirror')
  match(status.message, /'orders' is a mirror of link 'west' \(ACTIVE\) and read-only/)
  equal(status.copiedConfigs?.has('retention.ms'), true)
  equal(world.engine.writeStatus('other', 'orders').kind, 'writable')
  await world.engine.stop()
})

test('a mirror ends with its topic, and a new topic of the name is ordinary', async () => {
  const world = await worldWithMirror()
  world.source.topics.get('orders')?.partitions[0]?.append(batchAt(0, 1))
  await world.mirrorAll()
  world.cluster.deleteTopic('orders')
  await world.settle()
  deepEqual(world.engine.listMirrors({ link: 'west', status: undefined }), [])
  deepEqual(world.source.fetched, [])
  const again = world.cluster.addTopic('orders', 1)
  equal(world.engine.writeStatus(again.topicId, 'orders').kind, 'writable')
  await world.engine.stop()
})

test('a link created without validation pins the first cluster id and refuses any other', async () => {
  const world = new EngineWorld()
  await world.start()
  world.source.addTopic('orders', 1)
  world.source.failure = { failure: 'tcp', message: 'connection refused' }
  await world.engine.createLink(linkRequest('west'), { validateOnly: false, validateLink: false })
  await world.settle()
  const failing = world.engine.describeLink('west')
  equal(failing.error, 'BOOTSTRAP_TCP_CONNECTION_FAILED_ERROR')
  equal(failing.state, 'ACTIVE')
  equal(failing.sourceClusterId, null)
  world.source.failure = undefined
  await world.clock.advance(60_000)
  await world.settle()
  equal(world.engine.describeLink('west').sourceClusterId, 'source-cluster')
  equal(world.engine.describeLink('west').error, 'NO_ERROR')
  await world.engine.createMirror('west', mirrorRequest('orders'))
  equal(world.source.fetched.length, 1)
  world.source.clusterId = 'impostor'
  await world.clock.advance(61_000)
  await world.settle()
  equal(world.engine.describeLink('west').error, 'CLUSTER_ID_MISMATCH')
  equal(world.engine.describeLink('west').state, 'FAILED')
  equal(world.engine.describeMirror('west', 'orders').status, 'LINK_FAILED')
  deepEqual(world.source.fetched, [])
  world.source.clusterId = 'source-cluster'
  await world.clock.advance(61_000)
  await world.settle()
  equal(world.engine.describeMirror('west', 'orders').status, 'ACTIVE')
  deepEqual(world.source.fetched, ['orders-0'])
  await world.engine.stop()
})

test('an unreachable source shows after its time and never fails a mirror', async () => {
  const world = await worldWithMirror({ 'availability.check.ms': '10000' })
  world.source.failure = { failure: 'tcp', message: 'connection refused' }
  await world.clock.advance(1000)
  await world.source.deliver()
  equal(world.engine.describeMirror('west', 'orders').status, 'ACTIVE')
  await world.clock.advance(200_000)
  await world.source.deliver()
  const view = world.engine.describeMirror('west', 'orders')
  equal(view.status, 'SOURCE_UNAVAILABLE')
  equal(view.error, 'NO_ERROR')
  equal(world.engine.describeLink('west').state, 'UNAVAILABLE')
  world.source.failure = undefined
  await world.clock.advance(10_000)
  await world.mirrorAll()
  equal(world.engine.describeMirror('west', 'orders').status, 'ACTIVE')
  await world.engine.stop()
})
