/** The watchdog: a partition that stands still while its source is ahead is restarted and reported, and no other is. */
import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { batchAt, EngineWorld, linkRequest, mirrorRequest } from './fakes/engine-world.ts'

async function mirroring() {
  const world = new EngineWorld()
  await world.start()
  const [first, second] = world.source.addTopic('orders', 2).partitions
  ok(first && second)
  await world.engine.createLink(linkRequest('west'), { validateOnly: false, validateLink: true })
  await world.engine.createMirror('west', mirrorRequest('orders'))
  first.append(batchAt(0, 10))
  second.append(batchAt(0, 10))
  await world.mirrorAll()
  /** Time passes, and the source answers every second, as it does. */
  const pass = async (seconds: number, each: (second: number) => void = () => {}) => {
    for (let second = 0; second < seconds; second++) {
      each(second)
      await world.clock.advance(1000)
      await world.source.deliver()
    }
    await world.settle()
  }
  const view = () => world.engine.describeMirror('west', 'orders')
  return {
    world,
    first,
    second,
    pass,
    view,
    ends: () => world.cluster.topicNamed('orders')?.logs.map(log => log.logEndOffset),
    stalls: () => world.engine.incidentCounts().get('stalled'),
    events: () => world.engine.describeHistory('west', 'orders').map(({ event }) => event),
  }
}

test('a partition that the fetcher forgot is restarted, counted and kept in the history', async () => {
  const { world, first, pass, view, ends, stalls, events } = await mirroring()
  world.source.lose('orders-0')
  first.append(batchAt(10, 10))
  await pass(50)
  equal(stalls(), 0, 'not at once')
  await pass(100)
  deepEqual(ends(), [20, 10])
  equal(stalls(), 1)
  equal(events().filter(event => event === 'stalled').length, 1)
  deepEqual([view().status, view().reason], ['ACTIVE', null])
  await pass(3600)
  equal(stalls(), 1)
  world.source.lose('orders-0')
  first.append(batchAt(20, 10))
  await pass(150)
  deepEqual([ends(), stalls()], [[30, 10], 2])
  await world.engine.stop()
})

// It had met a trouble before it was forgotten, which would have excused it for ever.
test('a trouble that is not met again is no excuse', async () => {
  const { world, first, pass, ends, stalls } = await mirroring()
  await world.source.trouble({ kind: 'unreachable', failure: 'tcp', message: 'refused' })
  world.source.lose('orders-0')
  first.append(batchAt(10, 10))
  await pass(200)
  deepEqual(ends(), [20, 10])
  equal(stalls(), 1)
  await world.engine.stop()
})

test('a sink that never ends holds up the restart of nobody else, and is not restarted beside itself', async () => {
  const { world, first, second, pass, view, ends, stalls } = await mirroring()
  const stuck = Promise.withResolvers<void>()
  world.source.slowStops.set('orders-0', stuck.promise)
  for (const partition of [0, 1]) world.source.lose(`orders-${partition}`)
  first.append(batchAt(10, 10))
  second.append(batchAt(10, 10))
  await pass(400)
  deepEqual(ends(), [10, 20])
  equal(stalls(), 2)
  match(
    view().reason ?? '',
    /no progress at offset 10 while the source ends at 20; no fetch was answered; a restart waits/,
  )
  deepEqual(world.source.fetched, ['orders-1'])
  stuck.resolve()
  await pass(5)
  deepEqual(ends(), [20, 20])
  equal(view().reason, null)
  await world.engine.stop()
})

test('a source that ends in a hole is asked anew less and less often, and the reason says why', async () => {
  const { world, first, pass, view, stalls, events } = await mirroring()
  first.highWatermark = 15
  await pass(6 * 3600)
  const count = stalls() ?? 0
  ok(count >= 6 && count <= 12, `${count} restarts in 6 hours`)
  equal(events().filter(event => event === 'stalled').length, 1)
  match(view().reason ?? '', /at offset 10 while the source ends at 15; it answers fetches without data; restarted/)
  first.append(batchAt(15, 5))
  await pass(2)
  equal(view().reason, null)
  await world.engine.stop()
})

test('no alarm for a slow partition, an idle one, or one that is paused', async () => {
  const { world, first, pass, ends, stalls } = await mirroring()
  // Always ahead, and a batch comes every 90 s.
  first.highWatermark = 1_000_000
  await pass(1100, second => {
    if (second % 90 !== 0) return
    first.append(batchAt(10 + second, 5))
    first.highWatermark = 1_000_000
  })
  deepEqual(ends(), [1095, 10])
  await world.engine.alterMirrors('west', 'pause', { selection: { pattern: 'orders' }, validateOnly: false })
  await pass(1000)
  equal(stalls(), 0)
  await world.engine.stop()
})

test('no alarm for a source that is down or has just come back, nor for a destination that refuses appends', async () => {
  const { world, first, pass, ends, stalls } = await mirroring()
  first.append(batchAt(10, 10))
  world.source.failure = { failure: 'tcp', message: 'refused' }
  await pass(600)
  world.source.failure = undefined
  // Its fetch is still backing off.
  await pass(15, () => world.source.lose('orders-0'))
  equal(stalls(), 0)
  await pass(200)
  equal(stalls(), 1)
  deepEqual(ends(), [20, 10])
  const log = world.cluster.topicNamed('orders')?.logs[0]
  ok(log)
  const append = log.append.bind(log)
  log.append = () => {
    throw new Error('the disk is full')
  }
  first.append(batchAt(20, 10))
  await pass(1000)
  equal(stalls(), 1)
  log.append = append
  await pass(30)
  deepEqual(ends(), [30, 10])
  await world.engine.stop()
})
