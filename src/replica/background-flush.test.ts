/** What nobody waits for reaches the disk by itself; failures are tried again. */
import { strictEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { buildBatch } from '../protocol/batches/build-batch.ts'
import { BackgroundFlush } from './background-flush.ts'
import { PartitionBench } from './fakes/open-partition.ts'

test('a partition is flushed within an interval, again after a failure, and not after close', async () => {
  const bench = new PartitionBench()
  const partition = await bench.open()
  const failures: unknown[] = []
  const flush = new BackgroundFlush({
    intervalMs: 1000,
    clock: bench.clock,
    failed: (_partition, error) => failures.push(error),
  })
  const append = async () => {
    await partition.log.appendAsLeader(buildBatch({ records: [{ timestamp: 1n, key: null, value: null }] }), {
      leaderEpoch: 0,
    })
    flush.add(partition)
  }
  await append()
  await append()
  strictEqual(partition.log.flushedOffset, 0)
  strictEqual(bench.clock.pending, 1)
  await bench.clock.advance(1000)
  await partition.log.flush()
  strictEqual(partition.log.flushedOffset, 2)
  strictEqual(bench.clock.pending, 0)

  const original = partition.log.flush.bind(partition.log)
  partition.log.flush = () => Promise.reject(new Error('disk'))
  await append()
  await bench.clock.advance(1000)
  strictEqual(failures.length, 1)
  partition.log.flush = original
  await bench.clock.advance(1000)
  await original()
  strictEqual(partition.log.flushedOffset, 3)

  flush.close()
  flush.add(partition)
  strictEqual(bench.clock.pending, 0)
  await bench.close()
})

test('a flush that does not end holds nobody else up', async () => {
  const bench = new PartitionBench()
  const [stalled, other] = [await bench.open({ topic: 'stalled' }), await bench.open({ topic: 'other' })]
  const flush = new BackgroundFlush({ intervalMs: 1000, clock: bench.clock, failed: () => {} })
  const disk = Promise.withResolvers<void>()
  stalled.log.flush = () => disk.promise
  for (let i = 1; i <= 3; i++) {
    for (const partition of [stalled, other]) {
      const records = buildBatch({ records: [{ timestamp: 1n, key: null, value: null }] })
      await partition.log.appendAsLeader(records, { leaderEpoch: 0 })
      flush.add(partition)
    }
    await bench.clock.advance(1000)
    await other.log.flush()
    strictEqual(other.log.flushedOffset, i)
  }
  disk.resolve()
  flush.close()
  await bench.close()
})

test('flush.messages and flush.ms bring a flush forward', async () => {
  const bench = new PartitionBench()
  const [counted, timed] = [
    await bench.open({ topic: 'counted', settings: { flushMessages: 3 } }),
    await bench.open({ topic: 'timed', settings: { flushMs: 10 } }),
  ]
  const flush = new BackgroundFlush({ intervalMs: 1000, clock: bench.clock, failed: () => {} })
  const append = async (partition: typeof counted) => {
    const records = buildBatch({ records: [{ timestamp: 1n, key: null, value: null }] })
    await partition.log.appendAsLeader(records, { leaderEpoch: 0 })
    flush.add(partition)
  }
  await append(counted)
  await append(counted)
  strictEqual(counted.log.flushedOffset, 0)
  await append(counted)
  await counted.log.flush()
  strictEqual(counted.log.flushedOffset, 3)
  await append(timed)
  await append(timed)
  await bench.clock.advance(10)
  await timed.log.flush()
  strictEqual(timed.log.flushedOffset, 2)
  await append(timed)
  flush.close()
  strictEqual(bench.clock.pending, 0)
  await bench.close()
})
