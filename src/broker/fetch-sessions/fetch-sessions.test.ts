/** Incremental fetch sessions (KIP-227) as clients see them, and who gives way when the slots are used up. */
import { deepStrictEqual, strictEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { ManualClock } from '../../core/clock.ts'
import { seededRandom } from '../../core/random.ts'
import { ZERO_UUID } from '../../core/uuid.ts'
import { batch, deleteRecords, produce } from '../fakes/requests.ts'
import { SessionClient } from '../fakes/session-client.ts'
import { TestNode } from '../fakes/test-node.ts'
import { nextEpoch } from './fetch-session.ts'
import { SessionCache } from './session-cache.ts'
import { SessionPartition } from './session-partition.ts'

const BATCH_BYTES = batch().length

async function startWith(...topics: string[]) {
  const node = await TestNode.start()
  for (const topic of topics) await node.createTopic(topic)
  return { node, client: new SessionClient(node) }
}

test('a session tells everything once, then only what has changed', async () => {
  const { node, client } = await startWith('a', 'b', 'c')
  deepStrictEqual(await client.fetch({ want: { a: 0, b: 0, c: 0 } }), { a: 0, b: 0, c: 0 })
  strictEqual(client.sessionId > 0, true)
  deepStrictEqual(await client.fetch(), {})
  await produce(node, { topic: 'b' })
  deepStrictEqual(await client.fetch(), { b: BATCH_BYTES })
  // Records come again until the client moves its offset; then the partition is silent.
  deepStrictEqual(await client.fetch(), { b: BATCH_BYTES })
  deepStrictEqual(await client.fetch({ want: { b: 1 } }), {})
  await node.close()
})

test('a moved log start is told without records', async () => {
  const { node, client } = await startWith('a')
  for (let i = 0; i < 3; i++) await produce(node, { topic: 'a' })
  await client.fetch({ want: { a: 3 } })
  deepStrictEqual(await client.fetch(), {})
  await deleteRecords(node, 'a', 2n)
  deepStrictEqual(await client.fetch(), { a: 0 })
  deepStrictEqual(await client.fetch(), {})
  await node.close()
})

test('partitions with errors are told every time, and once more when the error is gone', async () => {
  const { node, client } = await startWith('a')
  deepStrictEqual(await client.fetch({ want: { a: 7 } }), { a: 'OFFSET_OUT_OF_RANGE' })
  deepStrictEqual(await client.fetch(), { a: 'OFFSET_OUT_OF_RANGE' })
  deepStrictEqual(await client.fetch({ want: { a: 0 } }), { a: 0 })
  deepStrictEqual(await client.fetch(), {})
  await node.close()
})

test('partitions are added and forgotten, and a session without partitions ends', async () => {
  const { node, client } = await startWith('a', 'b')
  await client.fetch({ want: { a: 0 } })
  deepStrictEqual(await client.fetch({ want: { b: 0 }, forget: ['a'] }), { b: 0 })
  await produce(node, { topic: 'a' })
  deepStrictEqual(await client.fetch(), {})
  const ended = client.sessionId
  deepStrictEqual(await client.fetch({ forget: ['b'] }), {})
  strictEqual(client.sessionId, 0)
  strictEqual(await client.fetch({ sessionId: ended, epoch: 4 }), 'FETCH_SESSION_ID_NOT_FOUND')
  await node.close()
})

test('those that brought data come last the next time, so that no partition starves', async () => {
  const { node, client } = await startWith('a', 'b', 'c')
  for (const topic of ['a', 'b', 'c']) await produce(node, { topic })
  const one = { maxBytes: BATCH_BYTES }
  const order: string[] = []
  let told = await client.fetch({ want: { a: 0, b: 0, c: 0 }, ...one })
  for (let i = 0; i < 4; i++) {
    order.push(...Object.entries(told).flatMap(([topic, bytes]) => (bytes === 0 ? [] : [topic])))
    told = await client.fetch(one)
  }
  // The first answer, which starts the session, changes no order, as in Kafka.
  deepStrictEqual(order, ['a', 'a', 'b', 'c'])
  await node.close()
})

test('a wrong epoch, an unknown session and a full fetch that ends one', async () => {
  const { node, client } = await startWith('a')
  await client.fetch({ want: { a: 0 } })
  const { sessionId } = client
  strictEqual(await client.fetch({ epoch: 5 }), 'INVALID_FETCH_SESSION_EPOCH')
  strictEqual(await client.fetch({ epoch: 1, sessionId: 99 }), 'FETCH_SESSION_ID_NOT_FOUND')
  deepStrictEqual(await client.fetch({ want: { a: 0 }, epoch: -1 }), { a: 0 })
  strictEqual(client.sessionId, 0)
  strictEqual(await client.fetch({ sessionId, epoch: 1 }), 'FETCH_SESSION_ID_NOT_FOUND')
  await node.close()
})

test('a session keeps to names or to ids', async () => {
  const { node, client } = await startWith('a')
  await client.fetch({ want: { a: 0 }, version: 12 })
  strictEqual(await client.fetch({ version: 13 }), 'FETCH_SESSION_TOPIC_ID_ERROR')
  deepStrictEqual(await client.fetch({ version: 12 }), {})
  await node.close()
})

test('a topic that is made anew is inconsistent for sessions by id, unknown while it is gone, and followed by name', async () => {
  const { node, client } = await startWith('a')
  const byName = new SessionClient(node)
  await client.fetch({ want: { a: 0 } })
  await byName.fetch({ want: { a: 0 }, version: 12 })
  await node.controller.deleteTopics([{ name: 'a', topicId: ZERO_UUID }])
  deepStrictEqual(await client.fetch(), { a: 'UNKNOWN_TOPIC_OR_PARTITION' })
  await node.createTopic('a')
  deepStrictEqual(await client.fetch(), { a: 'INCONSISTENT_TOPIC_ID' })
  deepStrictEqual(await byName.fetch({ version: 12 }), {})
  const stranger = new SessionClient(node)
  deepStrictEqual(await stranger.fetch({ want: { nowhere: 0 }, version: 12 }), {
    nowhere: 'UNKNOWN_TOPIC_OR_PARTITION',
  })
  await node.close()
})

const partitions = (count: number) =>
  Array.from(
    { length: count },
    (_, partition) =>
      new SessionPartition({
        topic: 'a',
        topicId: ZERO_UUID,
        partition,
        asked: { partition } as SessionPartition['asked'],
      }),
  )

function cacheOf(slots: number) {
  const clock = new ManualClock()
  const cache = new SessionCache({ slots, clock, random: seededRandom(3) })
  const create = (size: number, privileged = false) =>
    cache.create({ privileged, usesTopicIds: true, partitions: partitions(size) })
  return { clock, cache, create }
}

test('a full cache protects young sessions of consumers, but not from followers', () => {
  const { cache, create } = cacheOf(2)
  const [small, large] = [create(1), create(5)]
  strictEqual(create(9), undefined)
  const follower = create(2, true)
  strictEqual(cache.find(small?.id ?? 0), undefined)
  strictEqual(cache.find(large?.id ?? 0), large)
  strictEqual(cache.find(follower?.id ?? 0), follower)
  strictEqual(cache.size, 2)
})

test('older sessions give way to larger ones, unused ones to any', async () => {
  const { clock, cache, create } = cacheOf(2)
  const [small, large] = [create(3), create(5)]
  await clock.advance(100_000)
  for (const session of [small, large]) if (session) cache.touch(session)
  await clock.advance(50_000)
  // Older than two minutes by now, but used: only what is worth more replaces the least.
  strictEqual(create(3), undefined)
  const larger = create(4)
  strictEqual(cache.find(small?.id ?? 0), undefined)
  strictEqual(larger !== undefined, true)
  await clock.advance(121_000)
  strictEqual(create(1) !== undefined, true)
  strictEqual(cache.find(large?.id ?? 0), undefined)
})

test('a cache without slots gives no sessions, and epochs wrap to 1', () => {
  strictEqual(cacheOf(0).create(3), undefined)
  deepStrictEqual([nextEpoch(0), nextEpoch(2 ** 31 - 1), nextEpoch(-1)], [1, 1, -1])
})
