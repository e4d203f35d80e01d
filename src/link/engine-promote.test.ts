/** Promote: nothing is missing when a mirror becomes writable, and while something is it says what. */
import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { batchAt, EngineWorld, linkRequest, mirrorRequest } from './fakes/engine-world.ts'

async function mirroring(...topics: string[]): Promise<EngineWorld> {
  const world = new EngineWorld()
  await world.start()
  await world.engine.createLink(linkRequest('west'), { validateOnly: false, validateLink: true })
  for (const name of topics) {
    world.source.addTopic(name, 1).partitions[0]?.append(batchAt(0, 3, { producerId: 9n }))
    await world.engine.createMirror('west', mirrorRequest(name))
  }
  await world.mirrorAll()
  return world
}

const sourceOf = (world: EngineWorld, topic: string) => {
  const partition = world.source.topics.get(topic)?.partitions[0]
  ok(partition)
  return partition
}

const promote = (world: EngineWorld, names: string[], more: { validateOnly?: boolean; together?: boolean } = {}) =>
  world.engine.alterMirrors('west', 'promote', { selection: { names }, validateOnly: false, ...more })

const status = (world: EngineWorld, topic: string) => world.engine.describeMirror('west', topic).status

const isWritable = (world: EngineWorld, topic: string) =>
  world.engine.writeStatus(world.cluster.topicNamed(topic)?.topicId ?? '', topic).kind === 'writable'

/** Long enough for a few rounds. */
async function later(world: EngineWorld, ms = 2000): Promise<void> {
  await world.settle()
  await world.clock.advance(ms)
  await world.settle()
}

test('a mirror that has everything stops at the high watermark of its source', async () => {
  const world = await mirroring('orders')
  const [row] = await promote(world, ['orders'])
  deepEqual([row?.errorCode, row?.partitions[0]?.waitingFor], [null, null])
  await later(world)
  const view = world.engine.describeMirror('west', 'orders')
  equal(view.status, 'STOPPED')
  equal(view.reason, 'stopped by promote')
  deepEqual(
    view.stopPoints.map(({ stopOffset, lastSourceEpoch }) => [stopOffset, lastSourceEpoch]),
    [[3, 0]],
  )
  equal(isWritable(world, 'orders'), true)
  equal(world.cluster.producerIdFloor, 9n)
  equal(world.cluster.topicNamed('orders')?.logs[0]?.leaderEpoch, 1)
  equal(
    (await promote(world, ['orders']))[0]?.errorMessage,
    "Topic 'orders' has already stopped its mirror from 'west'",
  )
  await world.engine.stop()
})

test('one that is behind mirrors on, says what it waits for, and stops when it has it', async () => {
  const world = await mirroring('orders')
  sourceOf(world, 'orders').append(batchAt(3, 4))
  const [dry] = await promote(world, ['orders'], { validateOnly: true })
  match(dry?.partitions[0]?.waitingFor ?? '', /^4 offsets behind the source/)
  equal(status(world, 'orders'), 'ACTIVE')
  await promote(world, ['orders'])
  await later(world)
  const view = world.engine.describeMirror('west', 'orders')
  equal(view.status, 'PENDING_STOPPED')
  match(view.reason ?? '', /^waiting for partition 0: 4 offsets behind/)
  equal(isWritable(world, 'orders'), false)
  await world.mirrorAll()
  await later(world)
  equal(status(world, 'orders'), 'STOPPED')
  equal(world.engine.describeMirror('west', 'orders').stopPoints[0]?.stopOffset, 7)
  await world.engine.stop()
})

test('an open transaction at the source is waited for', async () => {
  const world = await mirroring('orders')
  sourceOf(world, 'orders').openSince = 1
  await promote(world, ['orders'])
  await later(world)
  match(
    world.engine.describeMirror('west', 'orders').reason ?? '',
    /transaction at the source \(producer 9\) is open since offset 1/,
  )
  equal(isWritable(world, 'orders'), false)
  sourceOf(world, 'orders').openSince = undefined
  await later(world)
  equal(status(world, 'orders'), 'STOPPED')
  await world.engine.stop()
})

test('another topic of the name at the source, as long as the mirror, ends no promote', async () => {
  const world = await mirroring('orders')
  world.source.addTopic('orders', 1).partitions[0]?.append(batchAt(0, 3, { producerId: 9n }))
  const [row] = await promote(world, ['orders'])
  match(row?.partitions[0]?.waitingFor ?? '', /deleted and created anew/)
  await later(world)
  equal(isWritable(world, 'orders'), false)
  await world.engine.stop()
})

test('what the source gets between the two looks is not lost', async () => {
  const world = await mirroring('orders')
  let asked = 0
  const fetchedDuringSecondLook: string[] = []
  await promote(world, ['orders'], { validateOnly: true })
  world.source.afterListOffsets = () => {
    asked++
    if (asked > 4) fetchedDuringSecondLook.push(...world.source.fetched)
    // After the first look of the promotion task, before its second.
    if (asked === 4) sourceOf(world, 'orders').append(batchAt(3, 1))
  }
  await promote(world, ['orders'])
  await later(world, 100)
  equal(status(world, 'orders'), 'PENDING_STOPPED')
  ok(asked >= 6, `asked ${asked} times`)
  deepEqual(fetchedDuringSecondLook, [])
  deepEqual(world.source.fetched, ['orders-0'], 'it is fetched again')
  await world.mirrorAll()
  await later(world)
  equal(status(world, 'orders'), 'STOPPED')
  equal(world.engine.describeMirror('west', 'orders').stopPoints[0]?.stopOffset, 4)
  await world.engine.stop()
})

test('a promote is refused while the source does not answer or the link is paused, and waits when that comes later', async () => {
  const world = await mirroring('orders')
  world.source.failure = { failure: 'tcp', message: 'connection refused' }
  const [refused] = await promote(world, ['orders'])
  equal(refused?.errorCode, 50003)
  equal(status(world, 'orders'), 'ACTIVE')
  world.source.failure = undefined
  const pause = { name: 'cluster.link.paused', operation: 'SET', value: 'true' } as const
  await world.engine.alterLinkConfigs('west', [pause], { validateOnly: false })
  match((await promote(world, ['orders']))[0]?.errorMessage ?? '', /is paused/)
  await world.engine.alterLinkConfigs('west', [{ ...pause, value: 'false' }], { validateOnly: false })
  sourceOf(world, 'orders').append(batchAt(3, 1))
  await promote(world, ['orders'])
  world.source.failure = { failure: 'tcp', message: 'connection refused' }
  await later(world)
  const { stateTransitionErrors: errors, reason } = world.engine.describeMirror('west', 'orders')
  deepEqual(
    errors.map(({ code, message }) => [code, message]),
    [['INTERNAL_ERROR', 'connection refused']],
  )
  equal(reason, 'waiting: connection refused')
  const since = errors[0]?.sinceMs
  await later(world)
  equal(world.engine.describeMirror('west', 'orders').stateTransitionErrors[0]?.sinceMs, since)
  world.source.failure = undefined
  await world.mirrorAll()
  await later(world)
  equal(status(world, 'orders'), 'STOPPED')
  deepEqual(world.engine.describeMirror('west', 'orders').stateTransitionErrors, [])
  await world.engine.stop()
})

test('a paused mirror is fetched again for its promote; failover ends a promote at once', async () => {
  const world = await mirroring('orders')
  const verb = (name: 'pause' | 'failover') =>
    world.engine.alterMirrors('west', name, { selection: { names: ['orders'] }, validateOnly: false })
  await verb('pause')
  sourceOf(world, 'orders').append(batchAt(3, 2))
  await promote(world, ['orders'])
  deepEqual(world.source.fetched, ['orders-0'])
  deepEqual(world.engine.describeMirror('west', 'orders').allowedActions, ['promote', 'failover', 'delete'])
  await verb('failover')
  equal(status(world, 'orders'), 'STOPPED')
  equal(world.engine.describeMirror('west', 'orders').stopPoints[0]?.stopOffset, 3)
  await world.engine.stop()
})

// A failover once waited behind a promote, which waited for a source that did not answer.
test('a failover does not wait for a promote that waits for the source', async () => {
  const world = await mirroring('orders')
  const { promise, resolve } = Promise.withResolvers<void>()
  world.source.silence = promise
  const promoted = promote(world, ['orders'])
  await world.settle()
  const selection = { names: ['orders'] }
  await world.engine.alterMirrors('west', 'failover', { selection, validateOnly: false })
  equal(status(world, 'orders'), 'STOPPED')
  resolve()
  match((await promoted)[0]?.errorMessage ?? '', /already stopped/)
  await world.engine.stop()
})

test('topics promoted together become writable together, through a restart', async () => {
  const world = await mirroring('orders', 'payments')
  sourceOf(world, 'payments').append(batchAt(3, 2))
  await promote(world, ['orders', 'payments'], { together: true })
  await later(world)
  deepEqual([status(world, 'orders'), status(world, 'payments')], ['PENDING_STOPPED', 'PENDING_STOPPED'])
  await world.start()
  await later(world)
  deepEqual([isWritable(world, 'orders'), isWritable(world, 'payments')], [false, false])
  await world.mirrorAll()
  const before = world.process.effects.length
  await later(world)
  deepEqual([status(world, 'orders'), status(world, 'payments')], ['STOPPED', 'STOPPED'])
  ok(world.process.effects.length > before)
  await world.engine.stop()
})

test('a unit waits for a topic that cannot stop, and no longer when that one is failed over', async () => {
  const world = await mirroring('orders', 'payments')
  sourceOf(world, 'payments').append(batchAt(3, 2))
  await promote(world, ['orders', 'payments'], { together: true })
  await world.source.trouble({ kind: 'topic-id-changed', message: 'another topic', topicId: undefined } as never)
  await later(world)
  ok(['PENDING_STOPPED', 'FAILED'].includes(status(world, 'orders')))
  await world.engine.alterMirrors('west', 'failover', { selection: { names: ['payments'] }, validateOnly: false })
  await world.mirrorAll()
  await later(world)
  equal(status(world, 'payments'), 'STOPPED')
  await world.engine.stop()
})

test('a topic that has everything waits for one of its unit that has failed', async () => {
  const world = await mirroring('orders', 'payments')
  const damaged = batchAt(3, 1)
  damaged.writeUInt8(damaged.readUInt8(damaged.length - 1) ^ 1, damaged.length - 1)
  sourceOf(world, 'payments').append(damaged)
  await promote(world, ['orders', 'payments'], { together: true })
  await world.mirrorAll()
  equal(status(world, 'payments'), 'FAILED')
  await later(world)
  equal(status(world, 'orders'), 'PENDING_STOPPED')
  const waiting = world.engine.describeMirror('west', 'orders').reason
  match(waiting ?? '', /'payments', which is to stop together with it, is FAILED/)
  await world.engine.alterMirrors('west', 'failover', { selection: { names: ['payments'] }, validateOnly: false })
  await later(world)
  equal(status(world, 'orders'), 'STOPPED')
  await world.engine.stop()
})

test('configs and partitions are brought in step before a mirror stops', async () => {
  const world = await mirroring('orders')
  world.source.topics.get('orders')?.configs.set('retention.ms', { value: '1000', overridden: true })
  // Of an older Kafka: not known here, and it never will be.
  const removed = { value: '5', overridden: true }
  world.source.topics.get('orders')?.configs.set('message.timestamp.difference.max.ms', removed)
  world.source.growTopic('orders', 2)
  await promote(world, ['orders'])
  await later(world, 100)
  await world.mirrorAll()
  await later(world)
  equal(status(world, 'orders'), 'STOPPED')
  equal(world.cluster.topicNamed('orders')?.configs.get('retention.ms'), '1000')
  equal(world.engine.describeMirror('west', 'orders').numPartitions, 2)
  await world.engine.stop()
})
