/** What wakes a long poll, and what does not. The clock moves only by hand. */
import { deepStrictEqual, strictEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { ManualClock } from '../core/clock.ts'
import { errorName } from '../protocol/errors.ts'
import { append, data, offsets, query, start, target, turns } from './fakes/fetches.ts'
import { assignmentOf, PartitionBench } from './fakes/open-partition.ts'
import { fetchFromLog } from './fetch-from-log.ts'
import type { Partition } from './partition.ts'
import { PartitionUnavailable } from './partition-unavailable.ts'

test('a long poll waits for its time and then answers what there is', async () => {
  const bench = new PartitionBench(new ManualClock())
  const partition = await bench.open()
  const fetch = start(bench, query([target(partition)], { maxWaitMs: 500 }))
  await turns()
  strictEqual(fetch.answered, false)
  await bench.clock.advance(499)
  strictEqual(fetch.answered, false)
  await bench.clock.advance(1)
  deepStrictEqual((await fetch.result).map(offsets), [[]])
  strictEqual(bench.clock.pending, 0)
  strictEqual(partition.waiting, 0)
  await bench.close()
})

test('a long poll ends with the append that brings enough bytes, over all its partitions', async () => {
  const bench = new PartitionBench()
  const [orders, clicks] = [await bench.open({ topic: 'orders' }), await bench.open({ topic: 'clicks' })]
  const fetch = start(bench, query([target(orders), target(clicks)], { maxWaitMs: 500, minBytes: 2500 }))
  await append(bench, orders, data(1000))
  await append(bench, clicks, data(1000))
  await turns()
  strictEqual(fetch.answered, false)
  await append(bench, orders, data(1000))
  deepStrictEqual((await fetch.result).map(offsets), [[0, 1], [0]])
  strictEqual(bench.clock.pending, 0)
  strictEqual(orders.waiting + clicks.waiting, 0)
  await bench.close()
})

test('bytes that are there already count', async () => {
  const bench = new PartitionBench()
  const partition = await bench.open()
  await append(bench, partition, data(1000))
  const fetch = start(bench, query([target(partition)], { maxWaitMs: 500, minBytes: 1500 }))
  await turns()
  strictEqual(fetch.answered, false)
  await append(bench, partition, data(1000))
  deepStrictEqual((await fetch.result).map(offsets), [[0, 1]])
  await bench.close()
})

test('read_committed is not woken for good by records of an open transaction', async () => {
  const bench = new PartitionBench()
  const partition = await bench.open()
  const fetch = start(bench, query([target(partition)], { maxWaitMs: 500, isolation: 'read_committed' }))
  const records = data(10, { producerId: 3n, producerEpoch: 0, baseSequence: 0, transactional: true })
  await partition.log.appendMirror(records, { leaderEpoch: 0, expectedEndOffset: 0 })
  partition.appended(records.length)
  await turns()
  strictEqual(fetch.answered, false)
  await bench.clock.advance(500)
  deepStrictEqual((await fetch.result).map(offsets), [[]])
  await bench.close()
})

test('an error in one partition answers the whole fetch at once', async () => {
  const bench = new PartitionBench()
  const partition = await bench.open()
  const gone = { ...target(partition), partition: 7 }
  const [empty, missing] = await fetchFromLog(bench, query([target(partition), gone], { maxWaitMs: 500 }), bench.clock)
  deepStrictEqual([empty?.errorCode, errorName(missing?.errorCode ?? 0)], [0, 'UNKNOWN_TOPIC_OR_PARTITION'])
  await bench.close()
})

test('a new leader epoch, a raised log start, a leaving partition and a gone client end the wait', async () => {
  const endings: [string, (partition: Partition, client: AbortController) => unknown, string][] = [
    ['epoch', partition => partition.lead(assignmentOf({ leaderEpoch: 1 })), 'FENCED_LEADER_EPOCH'],
    ['gone', partition => partition.leave(new PartitionUnavailable(3, 'deleted')), 'UNKNOWN_TOPIC_OR_PARTITION'],
    ['client', (_partition, client) => client.abort(), 'NONE'],
  ]
  for (const [what, end, expected] of endings) {
    const bench = new PartitionBench()
    const partition = await bench.open()
    const client = new AbortController()
    const asked = query([target(partition, { currentLeaderEpoch: 0 })], { maxWaitMs: 500, signal: client.signal })
    const fetch = start(bench, asked)
    await turns()
    strictEqual(fetch.answered, false, what)
    await end(partition, client)
    const [fetched] = await fetch.result
    strictEqual(errorName(fetched?.errorCode ?? -1), expected, what)
    strictEqual(partition.waiting, 0, what)
    await bench.close()
  }
})

test('a waiting follower learns a new high watermark at once', async () => {
  const bench = new PartitionBench()
  const partition = await bench.open({ assignment: { replicas: [1, 2, 3], isr: [1, 2, 3] } })
  await append(bench, partition)
  partition.followerFetched({ replicaId: 3, brokerEpoch: -1, fetchOffset: 1 })
  partition.followerTold(3, { highWatermark: 0, logStartOffset: 0 })
  const fetch = start(bench, query([target(partition, { fetchOffset: 1 })], { replicaId: 3, maxWaitMs: 500 }))
  await turns()
  strictEqual(fetch.answered, false)
  partition.followerFetched({ replicaId: 2, brokerEpoch: -1, fetchOffset: 1 })
  await turns()
  const [fetched] = await fetch.result
  strictEqual(fetched?.highWatermark, 1)
  await bench.close()
})

test('a follower whose own fetch moves the high watermark is told at once, and waits when it knows', async () => {
  const bench = new PartitionBench()
  const partition = await bench.open({ assignment: { replicas: [1, 2], isr: [1, 2] } })
  await append(bench, partition)
  const asFollower = () =>
    start(bench, query([target(partition, { fetchOffset: 1 })], { replicaId: 2, maxWaitMs: 500 }))
  const first = asFollower()
  strictEqual((await first.result)[0]?.highWatermark, 1)
  const second = asFollower()
  await turns()
  strictEqual(second.answered, false)
  await bench.clock.advance(500)
  strictEqual((await second.result)[0]?.highWatermark, 1)
  await bench.close()
})

test('a log that cannot be read answers KAFKA_STORAGE_ERROR and is reported', async () => {
  const bench = new PartitionBench()
  const partition = await bench.open()
  await append(bench, partition)
  bench.fs.failWhen = ({ name }) => (name === 'read' ? new Error('input/output error') : undefined)
  partition.log.read = () => Promise.reject(new Error('input/output error'))
  const [fetched] = await fetchFromLog(bench, query([target(partition)]), bench.clock)
  strictEqual(errorName(fetched?.errorCode ?? 0), 'KAFKA_STORAGE_ERROR')
  strictEqual(bench.failures.length, 1)
  bench.fs.failWhen = () => undefined
  await bench.close()
})
