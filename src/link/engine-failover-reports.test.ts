/** What a failover tells beside its result: data that retention will delete, producer ids in use at both clusters. */
import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { batchAt, EngineWorld, linkRequest, mirrorRequest } from './fakes/engine-world.ts'

async function mirroring(configs: Record<string, string> = {}): Promise<EngineWorld> {
  const world = new EngineWorld()
  await world.start()
  await world.engine.createLink(linkRequest('west', configs), { validateOnly: false, validateLink: true })
  const { partitions } = world.source.addTopic('orders', 2)
  partitions[0]?.append(batchAt(0, 3, { producerId: 9n }))
  partitions[1]?.append(batchAt(0, 2, { producerId: 4n }))
  await world.engine.createMirror('west', mirrorRequest('orders'))
  await world.mirrorAll()
  world.cluster.topicNamed('orders')?.logs.forEach((log, partition) => {
    log.bytesAtRisk = 1000 * (partition + 1)
  })
  return world
}

type More = { validateOnly?: boolean; keepRetention?: boolean }

async function failOver(world: EngineWorld, more: More = {}) {
  const [row] = await world.engine.alterMirrors('west', 'failover', {
    ...{ selection: { names: ['orders'] }, validateOnly: false },
    ...more,
  })
  ok(row)
  equal(row.errorMessage, null)
  return row
}

const overrides = (world: EngineWorld) => [...(world.cluster.topicNamed('orders')?.configs ?? [])]

test('a failover tells how much data the retention of the topic will delete soon, in its dry run too', async () => {
  const world = await mirroring()
  equal((await failOver(world, { validateOnly: true })).retentionBytesAtRisk, 3000)
  equal((await failOver(world)).retentionBytesAtRisk, 3000)
  deepEqual(overrides(world), [])
  await world.engine.stop()
})

test('with keep_retention nothing will be deleted: the topic gets retention for ever before it is writable', async () => {
  const world = await mirroring()
  equal((await failOver(world, { validateOnly: true, keepRetention: true })).retentionBytesAtRisk, 0)
  deepEqual(overrides(world), [])
  const topicId = world.cluster.topicNamed('orders')?.topicId ?? ''
  world.process.failNext('release', new Error('no controller'))
  const selection = { names: ['orders'] }
  await world.engine.alterMirrors('west', 'failover', { selection, validateOnly: false, keepRetention: true })
  equal(world.engine.writeStatus(topicId, 'orders').kind, 'mirror')
  deepEqual(overrides(world), [['retention.ms', '-1']])
  await world.engine.stop()
})

test('the link may ask for it, and a request may ask for the opposite', async () => {
  const world = await mirroring({ 'mirror.keep.retention.on.failover': 'true' })
  equal((await failOver(world, { validateOnly: true })).retentionBytesAtRisk, 0)
  equal((await failOver(world, { validateOnly: true, keepRetention: false })).retentionBytesAtRisk, 3000)
  await failOver(world)
  deepEqual(overrides(world), [['retention.ms', '-1']])
  await world.engine.stop()
})

test('a failover that is continued after a restart still keeps retention', async () => {
  const world = await mirroring()
  world.process.failNext('raise producer ids', new Error('no controller'))
  const [row] = await world.engine.alterMirrors('west', 'failover', {
    ...{ selection: { names: ['orders'] }, validateOnly: false, keepRetention: true },
  })
  match(row?.errorMessage ?? '', /not finished/)
  await world.start()
  await world.clock.advance(20_000)
  await world.settle()
  equal(world.engine.describeMirror('west', 'orders').status, 'STOPPED')
  deepEqual(overrides(world), [['retention.ms', '-1']])
  await world.engine.stop()
})

test('producer ids of the source that were handed out here before the barrier are listed', async () => {
  const world = await mirroring()
  world.cluster.producerIdFloor = 5n
  const row = await failOver(world)
  deepEqual(row.overlappingProducerIds, [4])
  equal(world.cluster.producerIdFloor, 9n)
  const { reason } = world.engine.describeMirror('west', 'orders')
  equal(reason, 'stopped by failover; producer ids that may be in use at both clusters: 4')
  await world.engine.stop()
})

test("producers that go on here with ids of the source are named, though the log forgets the source's", async () => {
  const world = await mirroring()
  world.cluster.livingProducerIds = [4n, 5n]
  match((await failOver(world)).warnings?.join() ?? '', /^producer 4 goes on$/)
  match(world.engine.describeMirror('west', 'orders').reason ?? '', /; producer 4 goes on$/)
  await world.engine.stop()
})

test('a promote raises the barrier above every producer id of the source and lists those in use at both clusters', async () => {
  const world = await mirroring()
  world.cluster.producerIdFloor = 20n
  await world.engine.alterMirrors('west', 'promote', { selection: { names: ['orders'] }, validateOnly: false })
  for (let round = 0; round < 4; round++) {
    await world.settle()
    await world.clock.advance(600)
  }
  await world.settle()
  const { status, reason } = world.engine.describeMirror('west', 'orders')
  equal(status, 'STOPPED')
  equal(reason, 'stopped by promote; producer ids that may be in use at both clusters: 9, 4')
  await world.engine.stop()
})

test('a promote says whose transaction it waits for', async () => {
  const world = await mirroring()
  const source = world.source.topics.get('orders')?.partitions[0]
  ok(source)
  source.openSince = 2
  const preview = async () => {
    const [row] = await world.engine.alterMirrors('west', 'promote', {
      ...{ selection: { names: ['orders'] }, validateOnly: true },
    })
    return row?.partitions[0]?.waitingFor
  }
  equal(await preview(), 'a transaction at the source (producer 9) is open since offset 2 (high watermark 3)')
  source.transactionalId = 'billing'
  match((await preview()) ?? '', /^a transaction at the source \(transactional id 'billing'\) is open since offset 2/)
  await world.engine.stop()
})
