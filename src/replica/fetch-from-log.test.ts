/** Fetches against real logs: limits, isolation, epochs and divergence. */
import { deepStrictEqual } from 'node:assert/strict'
import { test } from 'node:test'
import type { Uuid } from '../core/uuid.ts'
import { buildEndMarker } from '../protocol/batches/control-batch.ts'
import { errorName } from '../protocol/errors.ts'
import { abortedIn, append, data, offsets, query, target, turns } from './fakes/fetches.ts'
import { assignmentOf, PartitionBench } from './fakes/open-partition.ts'
import { fetchFromLog } from './fetch-from-log.ts'

test('reads whole batches from the fetch offset on, with the ends of the log', async () => {
  const bench = new PartitionBench()
  const partition = await bench.open()
  for (let i = 0; i < 3; i++) await append(bench, partition)
  const [fetched] = await fetchFromLog(bench, query([target(partition, { fetchOffset: 1 })]), bench.clock)
  deepStrictEqual(offsets(fetched), [1, 2])
  deepStrictEqual(
    [fetched?.highWatermark, fetched?.lastStableOffset, fetched?.logStartOffset, fetched?.abortedTransactions],
    [3, 3, 0, null],
  )
  await bench.close()
})

test('the first batch comes however large it is, further ones only within the limits', async () => {
  const bench = new PartitionBench()
  const [orders, clicks] = [await bench.open({ topic: 'orders' }), await bench.open({ topic: 'clicks' })]
  for (const partition of [orders, clicks]) for (let i = 0; i < 2; i++) await append(bench, partition, data(1000))
  const both = [target(orders), target(clicks)]
  const small = await fetchFromLog(bench, query(both, { bytesMax: 10 }), bench.clock)
  deepStrictEqual(small.map(offsets), [[0], []])
  const perPartition = both.map(one => ({ ...one, partitionBytesMax: 1100 }))
  const two = await fetchFromLog(bench, query(perPartition), bench.clock)
  deepStrictEqual(two.map(offsets), [[0], [0]])
  const all = await fetchFromLog(bench, query(both), bench.clock)
  deepStrictEqual(all.map(offsets), [
    [0, 1],
    [0, 1],
  ])
  await bench.close()
})

test('offsets outside of the log are refused, its end is empty', async () => {
  const bench = new PartitionBench()
  const partition = await bench.open()
  for (let i = 0; i < 3; i++) await append(bench, partition)
  await partition.log.raiseLogStartOffset(1)
  const at = async (fetchOffset: number) => {
    const [fetched] = await fetchFromLog(bench, query([target(partition, { fetchOffset })]), bench.clock)
    return [errorName(fetched?.errorCode ?? -1), fetched?.records.length, fetched?.highWatermark]
  }
  deepStrictEqual(await at(0), ['OFFSET_OUT_OF_RANGE', 0, -1])
  deepStrictEqual(await at(3), ['NONE', 0, 3])
  deepStrictEqual(await at(4), ['OFFSET_OUT_OF_RANGE', 0, -1])
  await bench.close()
})

test('a consumer sees up to the high watermark, a follower up to the log end', async () => {
  const bench = new PartitionBench()
  const partition = await bench.open({ assignment: { replicas: [1, 2], isr: [1, 2] } })
  for (let i = 0; i < 2; i++) await append(bench, partition)
  partition.followerFetched({ replicaId: 2, brokerEpoch: -1, fetchOffset: 1 })
  const as = async (replicaId: number) => {
    const [fetched] = await fetchFromLog(bench, query([target(partition)], { replicaId }), bench.clock)
    return offsets(fetched)
  }
  deepStrictEqual(await as(-1), [0])
  deepStrictEqual(await as(2), [0, 1])
  await bench.close()
})

test('leader epochs that do not match are refused', async () => {
  const bench = new PartitionBench()
  const partition = await bench.open({ assignment: { leaderEpoch: 5 } })
  const believing = async (currentLeaderEpoch: number) => {
    const [fetched] = await fetchFromLog(bench, query([target(partition, { currentLeaderEpoch })]), bench.clock)
    return errorName(fetched?.errorCode ?? -1)
  }
  deepStrictEqual(await believing(4), 'FENCED_LEADER_EPOCH')
  deepStrictEqual(await believing(5), 'NONE')
  deepStrictEqual(await believing(6), 'UNKNOWN_LEADER_EPOCH')
  await bench.close()
})

test('a fetcher whose log went another way is told where to cut', async () => {
  const bench = new PartitionBench()
  const partition = await bench.open()
  for (let i = 0; i < 3; i++) await append(bench, partition)
  await partition.lead(assignmentOf({ leaderEpoch: 4 }))
  await append(bench, partition)
  const having = async (lastFetchedEpoch: number, fetchOffset: number) => {
    const [fetched] = await fetchFromLog(
      bench,
      query([target(partition, { lastFetchedEpoch, fetchOffset })]),
      bench.clock,
    )
    return fetched?.errorCode ? errorName(fetched.errorCode) : (fetched?.divergingEpoch ?? offsets(fetched))
  }
  deepStrictEqual(await having(0, 5), { epoch: 0, endOffset: 3 })
  deepStrictEqual(await having(2, 2), { epoch: 0, endOffset: 3 })
  deepStrictEqual(await having(0, 3), [3])
  deepStrictEqual(await having(4, 4), [])
  deepStrictEqual(await having(9, 4), 'OFFSET_OUT_OF_RANGE')
  await bench.close()
})

test('read_committed ends at the first open transaction and lists aborted ones', async () => {
  const bench = new PartitionBench()
  const partition = await bench.open()
  const transactional = (offset: number, producerId: bigint) =>
    data(10, { baseOffset: offset, producerId, producerEpoch: 0, baseSequence: 0, transactional: true })
  const marker = (offset: number, producerId: bigint, type: 'abort' | 'commit') =>
    buildEndMarker({ type, producerId, producerEpoch: 0, coordinatorEpoch: 0, offset, timestamp: 1n, leaderEpoch: 0 })
  const mirror = async (batches: Buffer) => {
    const options = { leaderEpoch: 0, expectedEndOffset: partition.log.logEndOffset }
    await partition.log.appendMirror(batches, options)
    partition.appended(batches.length)
  }
  await mirror(Buffer.concat([transactional(0, 8n), transactional(1, 9n)]))
  const committed = () => fetchFromLog(bench, query([target(partition)], { isolation: 'read_committed' }), bench.clock)
  const [open] = await committed()
  deepStrictEqual([offsets(open), open?.lastStableOffset, open?.abortedTransactions], [[], 0, []])
  await mirror(marker(2, 8n, 'abort'))
  const [aborted] = await committed()
  deepStrictEqual([offsets(aborted), aborted?.lastStableOffset], [[0], 1])
  deepStrictEqual(abortedIn(aborted), [[8n, 0]])
  await mirror(marker(3, 9n, 'commit'))
  const [done] = await committed()
  deepStrictEqual([offsets(done), done?.lastStableOffset], [[0, 1, 2, 3], 4])
  deepStrictEqual(abortedIn(done), [[8n, 0]])
  const [uncommitted] = await fetchFromLog(bench, query([target(partition)]), bench.clock)
  deepStrictEqual([offsets(uncommitted), uncommitted?.abortedTransactions], [[0, 1, 2, 3], null])
  await bench.close()
})

test('after a wait only the partitions with news are read again, and what is told of the others is still true', async () => {
  const bench = new PartitionBench()
  const names = ['orders', 'clicks', 'views']
  const partitions = await Promise.all(names.map(topic => bench.open({ topic })))
  const [orders, clicks] = partitions
  for (const partition of partitions) await append(bench, partition)
  const read: string[] = []
  const counted = {
    lookup: (topicId: Uuid, index: number) => {
      const found = bench.lookup(topicId, index)
      read.push(found.topic)
      return found
    },
    lookupReplica: bench.lookupReplica.bind(bench),
    storageFailed: bench.storageFailed.bind(bench),
  }
  const targets = partitions.map(partition => target(partition, { fetchOffset: 1 }))
  const fetching = fetchFromLog(counted, query(targets, { maxWaitMs: 1000 }), bench.clock)
  await turns()
  deepStrictEqual(read.splice(0), names)
  if (clicks) await append(bench, clicks)
  const fetched = await fetching
  deepStrictEqual(read, ['clicks'])
  deepStrictEqual(fetched.map(offsets), [[], [1], []])
  deepStrictEqual(
    fetched.map(({ highWatermark }) => highWatermark),
    [1, 2, 1],
  )
  const again = fetchFromLog(counted, query(targets.slice(0, 1), { maxWaitMs: 1000, minBytes: 10_000 }), bench.clock)
  await turns()
  await orders?.log.raiseLogStartOffset(1)
  orders?.logStartMoved()
  await bench.clock.advance(1000)
  deepStrictEqual(
    (await again).map(({ logStartOffset }) => logStartOffset),
    [1],
  )
  await bench.close()
})
