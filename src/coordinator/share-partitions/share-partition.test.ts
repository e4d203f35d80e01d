/** A share partition on a node in memory: who gets what, what becomes of it, and what is left after a restart. */
import { deepStrictEqual, strictEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { TransactionalClient } from '../../broker/fakes/transactional-client.ts'
import { ConfigResourceType } from '../../metadata/metadata-image.ts'
import { ShareBench } from './fakes/share-bench.ts'

const values = (first: number, count: number) => Array.from({ length: count }, (_, index) => `v${first + index}`)

const acquired = (firstOffset: number, lastOffset: number, deliveryCount = 1) => ({
  firstOffset,
  lastOffset,
  deliveryCount,
})

const configure = (bench: ShareBench, key: string, value: string) =>
  bench.node.controller.incrementalAlterConfigs(
    [{ resource: { type: ConfigResourceType.GROUP, name: 'g' }, changes: [{ key, value, operation: 'set' }] }],
    { validateOnly: false },
  )

test('members never get what another one holds, and accepted records are done', async () => {
  const bench = await ShareBench.start()
  await bench.produce(values(0, 3))
  await bench.produce(values(3, 2))
  deepStrictEqual(await bench.fetch('a', { recordsMax: 1 }), { acquired: [acquired(0, 2)], values: values(0, 3) })
  deepStrictEqual(await bench.fetch('b'), { acquired: [acquired(3, 4)], values: values(3, 2) })
  deepStrictEqual(await bench.fetch('c'), { acquired: [], values: [] })
  strictEqual(await bench.say('b', 'accept', [0, 2]), 'INVALID_RECORD_STATE')
  strictEqual(await bench.say('a', 'accept', [0, 2]), 'NONE')
  strictEqual(await bench.say('a', 'accept', [0, 2]), 'INVALID_RECORD_STATE')
  strictEqual((await bench.open()).inFlight.startOffset, 3)
  strictEqual(await bench.say('b', 'accept', [3, 9]), 'INVALID_REQUEST')
  await bench.close()
})

test('a released record comes again, counted; delivered as often as allowed it is archived', async () => {
  const bench = await ShareBench.start(0, { 'group.share.delivery.count.limit': '2' })
  await bench.produce(values(0, 2))
  await bench.fetch('a')
  strictEqual(await bench.say('a', 'release', [0, 0]), 'NONE')
  deepStrictEqual((await bench.fetch('b')).acquired, [acquired(0, 0, 2)])
  strictEqual(await bench.say('b', 'release', [0, 0]), 'NONE')
  deepStrictEqual((await bench.fetch('b')).acquired, [])
  strictEqual((await bench.open()).inFlight.startOffset, 1)
  strictEqual(await bench.say('a', 'reject', [1, 1]), 'NONE')
  strictEqual((await bench.open()).inFlight.startOffset, 2)
  await bench.close()
})

test('a lock that runs out frees its records; a renewed one does not', async () => {
  const bench = await ShareBench.start()
  await bench.produce(values(0, 2))
  await bench.fetch('a')
  await bench.clock.advance(20_000)
  strictEqual(await bench.say('a', 'renew', [1, 1]), 'NONE')
  await bench.clock.advance(15_000)
  deepStrictEqual((await bench.fetch('b')).acquired, [acquired(0, 0, 2)])
  strictEqual(await bench.say('a', 'accept', [0, 0]), 'INVALID_RECORD_STATE')
  strictEqual(await bench.say('a', 'accept', [1, 1]), 'NONE')
  await bench.close()
})

test('what a member that is gone held is free at once', async () => {
  const bench = await ShareBench.start()
  await bench.produce(values(0, 2))
  await bench.fetch('a')
  const share = await bench.open()
  share.releaseAll('a')
  await bench.settled(share.settled())
  deepStrictEqual((await bench.fetch('b')).acquired, [acquired(0, 1, 2)])
  await bench.close()
})

test('after a restart accepted records stay done, and delivery counts stay', async () => {
  const bench = await ShareBench.start()
  await bench.produce(values(0, 4))
  await bench.fetch('a')
  await bench.say('a', 'accept', [1, 2])
  await bench.say('a', 'release', [0, 0])
  await bench.crash(() => 1)
  deepStrictEqual((await bench.fetch('b')).acquired, [acquired(0, 0, 2), acquired(3, 3, 1)])
  await bench.close()
})

test('where a group begins is decided once', async () => {
  const bench = await ShareBench.start(-1)
  await bench.produce(values(0, 2))
  strictEqual((await bench.open()).inFlight.startOffset, 2)
  await bench.produce(values(2, 1))
  await bench.crash(() => 1)
  deepStrictEqual((await bench.fetch('a')).values, ['v2'])
  await bench.close()
})

test('a record limit cuts batches, and no more is in flight than the group may hold', async () => {
  const bench = await ShareBench.start(0, { 'group.share.partition.max.record.locks': '100' })
  await bench.produce(values(0, 90))
  await bench.produce(values(90, 20))
  await bench.produce(values(110, 1))
  const limited = { recordsMax: 5, mode: 'record_limit' } as const
  deepStrictEqual((await bench.fetch('a', limited)).acquired, [acquired(0, 4)])
  deepStrictEqual((await bench.fetch('a', limited)).acquired, [acquired(5, 9)])
  deepStrictEqual((await bench.fetch('a')).acquired, [acquired(10, 109)])
  deepStrictEqual((await bench.fetch('a')).acquired, [])
  await bench.say('a', 'accept', [0, 50])
  deepStrictEqual((await bench.fetch('a')).acquired, [acquired(110, 110)])
  await bench.close()
})

test('entries of an answer are about as large as the client wants, and end where batches end', async () => {
  const bench = await ShareBench.start()
  for (let first = 0; first < 12; first += 3) await bench.produce(values(first, 3))
  deepStrictEqual((await bench.fetch('a', { batchSize: 5 })).acquired, [acquired(0, 5), acquired(6, 11)])
  await bench.close()
})

test('a record that failed often comes in small parts, and alone the last time', async () => {
  const bench = await ShareBench.start(0, { 'group.share.delivery.count.limit': '4' })
  await bench.produce(values(0, 8))
  for (const share = await bench.open(); ; ) {
    const { acquired: got } = await bench.fetch('a')
    if (got[0]?.deliveryCount === 3) break
    share.releaseAll('a')
    await bench.settled(share.settled())
  }
  const share = await bench.open()
  share.releaseAll('a')
  await bench.settled(share.settled())
  deepStrictEqual((await bench.fetch('b')).acquired, [acquired(0, 0, 4)])
  await bench.close()
})

test('a group of committed records never sees aborted ones, and stops before open transactions', async () => {
  const bench = await ShareBench.start()
  await configure(bench, 'share.isolation.level', 'read_committed')
  const producer = new TransactionalClient(bench.node, { generation: 1 })
  await bench.settled(bench.node.transactions.partitions.ensureTopic())
  await bench.settled(producer.init())
  for (const end of [false, true, undefined]) {
    await bench.settled(producer.add('t'))
    await bench.settled(producer.produce('t'))
    if (end !== undefined) await bench.settled(producer.end(end))
    await bench.settled(producer.settled())
  }
  deepStrictEqual((await bench.fetch('a')).values, ['v1'])
  deepStrictEqual((await bench.fetch('a')).values, [])
  await bench.close()
})

test('records that the log has deleted are gone for the group', async () => {
  const bench = await ShareBench.start()
  await bench.produce(values(0, 5))
  await bench.produce(values(5, 5))
  await bench.fetch('a', { recordsMax: 1 })
  await bench.log.log.raiseLogStartOffset(3)
  bench.log.logStartMoved()
  strictEqual(await bench.say('a', 'accept', [0, 1]), 'INVALID_RECORD_STATE')
  strictEqual(await bench.say('a', 'accept', [0, 4]), 'NONE')
  strictEqual((await bench.open()).inFlight.startOffset, 5)
  await bench.close()
})

test('what the log has lost is given out again when it is written again', async () => {
  const bench = await ShareBench.start()
  await bench.produce(values(0, 2))
  await bench.produce(values(2, 2))
  await bench.fetch('a')
  await bench.say('a', 'accept', [0, 3])
  await bench.log.log.truncateTo(2)
  bench.log.truncated()
  await bench.produce(['w2', 'w3', 'w4'])
  deepStrictEqual((await bench.fetch('a')).values, ['w2', 'w3', 'w4'])
  await bench.close()
})
