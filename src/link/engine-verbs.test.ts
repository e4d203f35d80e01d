/** Verbs on many mirrors and the deletion of links: selection, refusals, dry runs, what stays listed. */
import { deepEqual, equal, match, ok, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import type { OperationalError } from '../core/errors.ts'
import type { MirrorVerb } from './engine-api.ts'
import { batchAt, EngineWorld, linkRequest, mirrorRequest } from './fakes/engine-world.ts'
import { NotLinkCoordinator } from './ports.ts'

const code = (expected: string) => (error: unknown) => (error as OperationalError).code === expected

async function threeMirrors(): Promise<EngineWorld> {
  const world = new EngineWorld()
  await world.start()
  await world.engine.createLink(linkRequest('west'), { validateOnly: false, validateLink: true })
  for (const name of ['orders', 'orders-eu', 'payments']) {
    world.source.addTopic(name, 1).partitions[0]?.append(batchAt(0, 3, { producerId: 4n, transactional: true }))
    await world.engine.createMirror('west', mirrorRequest(name))
  }
  await world.mirrorAll()
  return world
}

const failover = (world: EngineWorld, selection: { names: string[] } | { pattern: string }, validateOnly = false) =>
  world.engine.alterMirrors('west', 'failover', { selection, validateOnly })

test('a pattern must match the whole name, and one failure does not stop the rest', async () => {
  const world = await threeMirrors()
  const rows = await failover(world, { pattern: 'orders.*' })
  deepEqual(
    rows.map(row => [row.mirrorTopicName, row.errorCode, row.openTransactions]),
    [
      ['orders', null, 1],
      ['orders-eu', null, 1],
    ],
  )
  deepEqual(await failover(world, { pattern: 'order' }), [])
  const mixed = await failover(world, { names: ['nothing', 'orders', 'payments'] })
  deepEqual(
    mixed.map(row => row.errorCode),
    [40403, 400, null],
  )
  equal(mixed[1]?.errorMessage, "Topic 'orders' has already stopped its mirror from 'west'")
  await rejects(failover(world, { pattern: '(' }), code('PATTERN_INVALID'))
  await rejects(
    world.engine.alterMirrors('east', 'failover', { selection: { names: [] }, validateOnly: false }),
    code('LINK_NOT_FOUND'),
  )
  await world.engine.stop()
})

// Such a log ended at 0: offsets that consumers know, and those of the source, lay beyond its end.
test('a mirror that was never fetched ends at the offset at which it would have begun', async () => {
  const world = new EngineWorld()
  await world.start()
  const request = linkRequest('west', { 'cluster.link.paused': 'true' })
  await world.engine.createLink(request, { validateOnly: false, validateLink: true })
  const partition = world.source.addTopic('orders', 1).partitions[0]
  ok(partition)
  partition.logStartOffset = 100
  partition.append(batchAt(100, 10))
  await world.engine.createMirror('west', mirrorRequest('orders'))
  await world.settle()
  const [dry] = await failover(world, { names: ['orders'] }, true)
  const [row] = await failover(world, { names: ['orders'] })
  const ends = { partition: 0, endOffset: 100, stopOffset: 100, lastKnownLag: null, waitingFor: null }
  deepEqual([dry?.partitions, row?.partitions], [[ends], [ends]])
  await world.engine.stop()
})

test('a dry run shows the same rows and changes nothing', async () => {
  const world = await threeMirrors()
  const effects = world.process.effects.length
  const [dry] = await failover(world, { names: ['orders'] }, true)
  equal(world.process.effects.length, effects)
  equal(world.engine.describeMirror('west', 'orders').status, 'ACTIVE')
  const [real] = await failover(world, { names: ['orders'] })
  deepEqual(real?.partitions, [{ partition: 0, endOffset: 4, stopOffset: 3, lastKnownLag: 0, waitingFor: null }])
  deepEqual({ ...dry, lags: [] }, { ...real, lags: [] })
  equal((await failover(world, { names: ['orders'] }, true))[0]?.errorCode, 400)
  await world.engine.stop()
})

test('other verbs go through the table first and are then refused by name', async () => {
  const world = await threeMirrors()
  await failover(world, { names: ['payments'] })
  const verb = async (name: MirrorVerb, topic: string) => {
    const rows = await world.engine.alterMirrors('west', name, { selection: { names: [topic] }, validateOnly: false })
    return rows[0]
  }
  for (const name of ['reverse-and-start-mirror', 'reverse-and-pause-mirror'] as const) {
    const row = await verb(name, 'orders')
    match(row?.errorMessage ?? '', /link 'west' is not bidirectional/)
  }
  match((await verb('resume', 'orders'))?.errorMessage ?? '', /is ACTIVE, where resume is not possible/)
  match((await verb('pause', 'payments'))?.errorMessage ?? '', /is STOPPED, where pause is not possible/)
  match((await verb('truncate-and-restore', 'payments'))?.errorMessage ?? '', /link 'west' is not bidirectional/)
  await world.engine.stop()
})

test('a stopped mirror stays listed with its stop points, also when its topic is gone', async () => {
  const world = await threeMirrors()
  await failover(world, { names: ['orders'] })
  for (let round = 0; round < 2; round++) {
    const view = world.engine.describeMirror('west', 'orders')
    equal(view.status, 'STOPPED')
    deepEqual(view.allowedActions, ['delete'])
    deepEqual(
      view.stopPoints.map(({ partition, stopOffset, lastSourceEpoch }) => ({ partition, stopOffset, lastSourceEpoch })),
      [{ partition: 0, stopOffset: 3, lastSourceEpoch: 0 }],
    )
    equal(view.lags[0]?.lastSourceFetchOffset, 3)
    world.cluster.deleteTopic('orders')
    await world.start()
  }
  // A new topic may be mirrored under the name again.
  await world.engine.createMirror('west', mirrorRequest('orders'))
  equal(world.engine.describeMirror('west', 'orders').status, 'ACTIVE')
  deepEqual(world.engine.describeMirror('west', 'orders').stopPoints, [])
  await world.engine.stop()
})

test('a link with mirrors is deleted only by force, which fails them over and says so', async () => {
  const world = await threeMirrors()
  const { engine } = world
  await failover(world, { names: ['orders'] })
  await rejects(engine.deleteLink('west', { force: false, validateOnly: false }), code('LINK_HAS_MIRRORS'))
  const dry = await engine.deleteLink('west', { force: true, validateOnly: true })
  deepEqual(dry.failedOver, ['orders-eu', 'payments'])
  equal(engine.listLinks().length, 1)
  const report = await engine.deleteLink('west', { force: true, validateOnly: false })
  deepEqual(report.failedOver, ['orders-eu', 'payments'])
  deepEqual(engine.listLinks(), [])
  deepEqual(engine.listMirrors({ link: undefined, status: undefined }), [])
  for (const topic of world.cluster.topics.values())
    equal(engine.writeStatus(topic.topicId, topic.name).kind, 'writable')
  await rejects(engine.deleteLink('west', { force: true, validateOnly: false }), code('LINK_NOT_FOUND'))
  equal(world.source.openConnections, 0)
  await engine.stop()
})

test('lists are filtered by status, and a link counts its partitions', async () => {
  const world = await threeMirrors()
  await failover(world, { names: ['orders'] })
  const names = (status: string) =>
    world.engine.listMirrors({ link: undefined, status }).map(mirror => mirror.mirrorTopicName)
  deepEqual(names('stopped'), ['orders'])
  deepEqual(names('ACTIVE'), ['orders-eu', 'payments'])
  const link = world.engine.describeLink('west')
  deepEqual(link.topicNames, ['orders', 'orders-eu', 'payments'])
  deepEqual(link.categoryCounts, [
    { category: 'NOT_APPLICABLE', count: 1 },
    { category: 'ACTIVE', count: 2 },
  ])
  equal(link.tasks.length, 9)
  ok(world.engine.describeLinkConfigs('west').length > 50)
  await world.engine.stop()
})

test('a decision that cannot be written since another node leads the state topic can be tried again', async () => {
  const world = await threeMirrors()
  const { engine, process } = world
  const lost = new NotLinkCoordinator('leader epoch 3 is over')
  const refused = code('COORDINATOR_NOT_AVAILABLE')
  const created = { validateOnly: false, validateLink: false }
  const pause = { name: 'cluster.link.paused', operation: 'SET', value: 'true' } as const
  world.source.addTopic('late', 1)
  for (const decision of [
    () => engine.createLink(linkRequest('east'), created),
    () => engine.createMirror('west', mirrorRequest('late')),
    () => engine.alterLinkConfigs('west', [pause], { validateOnly: false }),
    () => engine.deleteLink('west', { force: true, validateOnly: false }),
  ]) {
    process.failNext('append state', lost)
    await rejects(decision(), refused)
  }
  process.failNext('append state', undefined)
  await engine.stop()
})

test('a state topic that cannot be used at the start is taken over later', async () => {
  const world = new EngineWorld()
  world.process.failNext('append state', new Error('the disk is full'))
  await world.engine.start()
  equal(world.engine.ready, false)
  deepEqual(world.engine.listLinks(), [])
  await rejects(
    world.engine.createLink(linkRequest('west'), { validateOnly: false, validateLink: true }),
    code('COORDINATOR_NOT_AVAILABLE'),
  )
  world.process.failNext('append state', undefined)
  await world.clock.advance(1000)
  equal(world.engine.ready, true)
  await world.engine.stop()
})

// The record of the deleted topic was forgotten late, because the state topic could not be written. By then another mirror of
// the name was there, and its record was removed instead: the new mirror could be written by clients. Found by simulation.
test('a mirror that is created anew is not forgotten with the deleted topic of its name', async () => {
  const world = await threeMirrors()
  const forgetting = new Error('the disk is full')
  world.process.failNext('append state', forgetting)
  world.cluster.deleteTopic('orders')
  await world.settle()
  world.process.failNext('append state', undefined)
  // The retry of the round and the creation meet.
  const created = world.engine.createMirror('west', mirrorRequest('orders'))
  await world.clock.advance(20_000)
  await created
  await world.settle()
  equal(world.engine.describeMirror('west', 'orders').status, 'ACTIVE')
  equal(world.engine.writeStatus(world.cluster.topicNamed('orders')?.topicId ?? '', 'orders').kind, 'mirror')
  await world.start()
  equal(world.engine.describeMirror('west', 'orders').status, 'ACTIVE')
  await world.engine.stop()
})
