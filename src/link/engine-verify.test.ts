/** Verify over a whole engine: active, stopped and failed mirrors, sources that go away, cancelling and bounds. */
import { deepEqual, equal, match, ok, rejects, throws } from 'node:assert/strict'
import { test } from 'node:test'
import { randomUuid } from '../core/uuid.ts'
import { batchAt, EngineWorld, linkRequest, mirrorRequest } from './fakes/engine-world.ts'
import type { VerifyRequest } from './verification-api.ts'

async function mirroring(...topics: string[]): Promise<EngineWorld> {
  const world = new EngineWorld()
  await world.start()
  await world.engine.createLink(linkRequest('west'), { validateOnly: false, validateLink: true })
  for (const name of topics) {
    const [partition] = world.source.addTopic(name, 1).partitions
    partition?.append(batchAt(0, 3), batchAt(3, 2), batchAt(10, 4))
    await world.engine.createMirror('west', mirrorRequest(name))
  }
  await world.mirrorAll()
  return world
}

const asked = (names: string[], more: Partial<VerifyRequest> = {}): VerifyRequest => ({
  selection: { names },
  ...{ partitions: undefined, fromOffset: undefined, toOffset: undefined, maxBytesPerSecond: undefined },
  ...more,
})

/** Begins, waits for the end (the clock moves), answers the view. */
async function verify(world: EngineWorld, request: VerifyRequest) {
  const { id } = world.engine.verifications.begin('west', request)
  for (let turn = 0; turn < 200; turn++) {
    await world.settle()
    if (world.engine.verifications.describe('west', id).state !== 'RUNNING') break
    await world.clock.advance(5000)
  }
  return world.engine.verifications.describe('west', id)
}

const partitionOf = (world: EngineWorld, topic: string) => {
  const partition = world.cluster.topicNamed(topic)?.logs[0]
  ok(partition)
  return partition
}

test('an active mirror is equal to its source up to what both have', async () => {
  const world = await mirroring('orders', 'payments')
  world.source.topics.get('orders')?.partitions[0]?.append(batchAt(14, 5))
  const view = await verify(world, asked(['orders', 'payments']))
  deepEqual([view.state, view.outcome], ['COMPLETED', 'EQUAL'])
  const [orders] = view.topics[0]?.partitions ?? []
  deepEqual(
    [orders?.state, orders?.method, orders?.fromOffset, orders?.toOffset, orders?.comparedBatches],
    ['EQUAL', 'BATCHES', 0, 14, 3],
  )
  deepEqual(orders?.notCompared, [{ from: 14, to: 19, reason: 'the mirror ends at offset 14' }])
  await world.engine.stop()
})

test('a mirror that gets more while the ends are looked at has no more than its source', async () => {
  const world = await mirroring('orders')
  const source = world.source.topics.get('orders')?.partitions[0]
  const batches = [batchAt(14, 5), batchAt(19, 5)]
  world.source.afterListOffsets = () => {
    const [batch] = batches.splice(0, 1)
    if (!batch) return
    source?.append(batch)
    partitionOf(world, 'orders').append(batch)
  }
  const view = await verify(world, asked(['orders']))
  deepEqual([view.state, view.outcome, batches.length], ['COMPLETED', 'EQUAL', 0])
  await world.engine.stop()
})

test('a byte that is another one at the mirror is found, in that partition alone', async () => {
  const world = await mirroring('orders', 'payments')
  const stored = partitionOf(world, 'orders').batches[1]
  ok(stored)
  stored.bytes[stored.bytes.length - 2] = 33
  const view = await verify(world, asked(['orders', 'payments']))
  equal(view.outcome, 'DIFFERENT')
  deepEqual(
    view.topics.map(({ partitions }) => [partitions[0]?.state, partitions[0]?.difference?.offset]),
    [
      ['DIFFERENT', 3],
      ['EQUAL', undefined],
    ],
  )
  await world.engine.stop()
})

test('a mirror that stopped is compared up to where it stopped, whatever is written here since', async () => {
  const world = await mirroring('orders')
  await world.engine.alterMirrors('west', 'failover', { selection: { names: ['orders'] }, validateOnly: false })
  partitionOf(world, 'orders').append(batchAt(14, 1))
  world.source.topics.get('orders')?.partitions[0]?.append(batchAt(14, 6))
  const view = await verify(world, asked(['orders']))
  deepEqual([view.outcome, view.topics[0]?.partitions[0]?.toOffset], ['EQUAL', 14])
  await world.engine.stop()
})

test('what was asked for by number and is not there at both ends is told as not compared', async () => {
  const world = await mirroring('orders')
  const view = await verify(world, asked(['orders'], { fromOffset: 4, toOffset: 20 }))
  const [partition] = view.topics[0]?.partitions ?? []
  deepEqual([view.outcome, partition?.fromOffset, partition?.toOffset], ['INCOMPLETE', 4, 14])
  deepEqual(partition?.notCompared, [{ from: 14, to: 20, reason: 'the mirror ends at offset 14' }])
  await world.engine.stop()
})

test('a source that is away is waited for, and given up after the time of the link', async () => {
  const world = await mirroring('orders')
  world.source.questionFailure = { failure: 'tcp', message: 'refused' }
  const { id } = world.engine.verifications.begin('west', asked(['orders']))
  await world.settle()
  await world.clock.advance(10_000)
  await world.settle()
  equal(world.engine.verifications.describe('west', id).state, 'RUNNING')
  world.source.questionFailure = undefined
  await world.clock.advance(10_000)
  await world.settle()
  equal(world.engine.verifications.describe('west', id).outcome, 'EQUAL')
  world.source.questionFailure = { failure: 'tcp', message: 'refused' }
  const view = await verify(world, asked(['orders']))
  deepEqual([view.outcome, view.topics[0]?.errorMessage], ['INCOMPLETE', 'refused'])
  await world.engine.stop()
})

test('another topic of the name, and a mirror that is gone, are not compared', async () => {
  const world = await mirroring('orders', 'payments')
  const topic = world.source.topics.get('orders')
  ok(topic)
  topic.topicId = randomUuid()
  world.cluster.deleteTopic('payments')
  await world.settle()
  const view = await verify(world, asked(['orders', 'payments']))
  equal(view.outcome, 'INCOMPLETE')
  match(view.topics[0]?.errorMessage ?? '', /it is another one/)
  match(view.topics[1]?.errorMessage ?? '', /payments/)
  await world.engine.stop()
})

test('a verification is cancelled by whoever asks, and by the end of the engine', async () => {
  const world = await mirroring('orders')
  world.source.questionFailure = { failure: 'tcp', message: 'refused' }
  const running = world.engine.verifications.begin('west', asked(['orders']))
  await world.settle()
  await rejects(world.engine.verifications.cancel('west', 'unknown'), /no verification 'unknown'/)
  throws(() => world.engine.verifications.describe('east', running.id), /doesn't exist/)
  const second = world.engine.verifications.begin('west', asked(['orders']))
  equal((await world.engine.verifications.cancel('west', second.id)).state, 'CANCELLED')
  equal(world.engine.verifications.describe('west', running.id).state, 'RUNNING')
  await world.engine.stop()
  deepEqual(
    [running.state, (await world.engine.verifications.cancel('west', running.id)).state],
    ['RUNNING', 'CANCELLED'],
  )
})

test('as many verifications run as may, and the others are refused', async () => {
  const world = await mirroring('orders')
  world.source.questionFailure = { failure: 'tcp', message: 'refused' }
  for (let index = 0; index < 8; index++) world.engine.verifications.begin('west', asked(['orders']))
  throws(() => world.engine.verifications.begin('west', asked(['orders'])), /8 verifications are running/)
  equal(world.engine.verifications.list('west').length, 8)
  await world.engine.stop()
})

test('a partition that the mirror does not have is not equal', async () => {
  const world = await mirroring('orders')
  const view = await verify(world, asked(['orders'], { partitions: [7, 0] }))
  deepEqual(
    [view.outcome, view.topics[0]?.partitions.map(({ partition, state, message }) => [partition, state, message])],
    [
      'INCOMPLETE',
      [
        [7, 'INCOMPLETE', 'the mirror has no partition 7'],
        [0, 'EQUAL', null],
      ],
    ],
  )
  await world.engine.stop()
})

test('a mirror that has nothing of its source yet is not equal to it', async () => {
  const world = await mirroring()
  world.source.addTopic('orders', 1).partitions[0]?.append(batchAt(0, 3))
  await world.engine.createMirror('west', mirrorRequest('orders'))
  const view = await verify(world, asked(['orders']))
  deepEqual([view.outcome, view.topics[0]?.partitions[0]?.toOffset], ['INCOMPLETE', 0])
  await world.mirrorAll()
  equal((await verify(world, asked(['orders']))).outcome, 'EQUAL')
  await world.engine.stop()
})

// It waited for a source that nobody would connect to any more, and nobody could name it to cancel it.
test('the end of a link ends its verifications at once', async () => {
  const world = await mirroring('orders')
  world.source.questionFailure = { failure: 'tcp', message: 'refused' }
  world.engine.verifications.begin('west', asked(['orders']))
  await world.settle()
  await world.engine.deleteLink('west', { force: true, validateOnly: false })
  await world.clock.advance(5000)
  await world.settle()
  world.source.questionFailure = undefined
  await world.engine.createLink(linkRequest('west'), { validateOnly: false, validateLink: true })
  for (let index = 0; index < 8; index++) world.engine.verifications.begin('west', asked(['gone']))
  await world.engine.stop()
})
