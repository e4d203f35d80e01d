/** Old segments go at the interval, unless the gate says that the log start is driven from elsewhere. */
import { deepStrictEqual, strictEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { silentLogger } from '../core/logger.ts'
import type { RetentionLimits } from '../core/retention-limits.ts'
import { buildBatch } from '../protocol/batches/build-batch.ts'
import { PartitionBench } from './fakes/open-partition.ts'
import { LogRetention } from './log-retention.ts'
import type { Partition } from './partition.ts'

const MINUTE_MS = 60_000

/** One record, in a segment of its own. */
async function append(bench: PartitionBench, partition: Partition): Promise<void> {
  const record = { timestamp: BigInt(bench.clock.nowMs()), key: null, value: Buffer.alloc(100) }
  await partition.log.appendAsLeader(buildBatch({ records: [record] }), { leaderEpoch: 0 })
  partition.appended(100)
}

async function given(settings: { retentionMs: number; retentionBytes: number; deletes?: boolean }) {
  const bench = new PartitionBench()
  const partition = await bench.open({ settings: { deletes: true, ...settings, segmentBytes: 200 } })
  const gate = {
    allowed: true,
    limits: undefined as RetentionLimits | undefined,
    mayDelete: () => gate.allowed,
    limitsOf: () => gate.limits,
  }
  const replicas = { partitions: [partition], storageFailed: bench.storageFailed.bind(bench) }
  const { clock } = bench
  const retention = new LogRetention({ replicas, gate, intervalMs: 5 * MINUTE_MS, clock, logger: silentLogger })
  for (let i = 0; i < 4; i++) await append(bench, partition)
  const settle = async () => {
    await partition.writes.idle()
    for (let turn = 0; turn < 20; turn++) await new Promise<void>(resolve => setImmediate(resolve))
  }
  const advance = async (ms: number) => {
    await clock.advance(ms)
    await settle()
  }
  return { bench, partition, gate, retention, advance }
}

test('segments go once they are too old, and fetches hear of the new log start', async () => {
  const { bench, partition, retention, advance } = await given({ retentionMs: 10 * MINUTE_MS, retentionBytes: -1 })
  await advance(6 * MINUTE_MS)
  strictEqual(partition.log.logStartOffset, 0)
  await append(bench, partition)
  let changes = 0
  partition.watch(() => changes++)
  await advance(5 * MINUTE_MS)
  deepStrictEqual([partition.log.logStartOffset, partition.log.logEndOffset], [4, 5])
  strictEqual(changes, 1)
  await retention.close()
  strictEqual(bench.clock.pending, 0)
  await bench.close()
})

test('what is meant counts where the topic has other values for the time being', async () => {
  const { bench, partition, gate, retention, advance } = await given({ retentionMs: -1, retentionBytes: -1 })
  gate.limits = { retentionMs: -1, retentionBytes: 400 }
  await advance(MINUTE_MS)
  strictEqual(partition.log.logStartOffset, 1)
  gate.limits = { retentionMs: -1, retentionBytes: -1 }
  for (let i = 0; i < 4; i++) await append(bench, partition)
  await advance(6 * MINUTE_MS)
  strictEqual(partition.log.logStartOffset, 1)
  await retention.close()
  await bench.close()
})

test('segments go while enough bytes stay', async () => {
  const { bench, partition, retention, advance } = await given({ retentionMs: -1, retentionBytes: 400 })
  await advance(MINUTE_MS)
  strictEqual(partition.log.logStartOffset, 1)
  await retention.close()
  await bench.close()
})

test('nothing goes while the gate is closed, or without the delete policy', async () => {
  const closed = await given({ retentionMs: 1, retentionBytes: 0 })
  closed.gate.allowed = false
  const compacted = await given({ retentionMs: 1, retentionBytes: 0, deletes: false })
  for (const { bench, partition, retention, advance } of [closed, compacted]) {
    await advance(20 * MINUTE_MS)
    strictEqual(partition.log.logStartOffset, 0)
    await retention.close()
    await bench.close()
  }
})

test('a failing disk is reported and tried again', async () => {
  const { bench, partition, retention, advance } = await given({ retentionMs: -1, retentionBytes: 400 })
  bench.fs.failWhen = ({ name }) => (name === 'remove' ? new Error('EIO') : undefined)
  await advance(MINUTE_MS)
  strictEqual(bench.failures.length, 1)
  bench.fs.failWhen = () => undefined
  await append(bench, partition)
  await advance(5 * MINUTE_MS)
  strictEqual(bench.failures.length, 1)
  strictEqual(partition.log.logStartOffset, 2)
  await retention.close()
  await bench.close()
})

test('when the wall clock jumps forward, age counts again after an hour, or when it has gone back', async () => {
  for (const back of [false, true]) {
    const bench = new PartitionBench()
    const partition = await bench.open({
      settings: { deletes: true, retentionMs: 600 * MINUTE_MS, retentionBytes: -1, segmentBytes: 200 },
    })
    let jumpedMs = 0
    const { clock } = bench
    const jumping = {
      nowMs: () => clock.nowMs() + jumpedMs,
      monotonicMs: () => clock.monotonicMs(),
      after: clock.after.bind(clock),
    }
    const apply = partition.log.applyRetention.bind(partition.log)
    const judged: boolean[] = []
    partition.log.applyRetention = (highWatermark, rules) => {
      judged.push(rules.nowMs !== undefined)
      return apply(highWatermark, rules)
    }
    const replicas = { partitions: [partition], storageFailed: bench.storageFailed.bind(bench) }
    const gate = { mayDelete: () => true, limitsOf: () => undefined }
    const options = { replicas, gate, intervalMs: 30 * MINUTE_MS, clock: jumping, logger: silentLogger }
    const retention = new LogRetention(options)
    const look = async (ms: number) => {
      await clock.advance(ms)
      await partition.writes.idle()
      for (let turn = 0; turn < 20; turn++) await new Promise<void>(resolve => setImmediate(resolve))
    }
    await look(MINUTE_MS)
    jumpedMs = 365 * 24 * 60 * MINUTE_MS
    await look(30 * MINUTE_MS)
    if (back) jumpedMs = 0
    await look(30 * MINUTE_MS)
    await look(30 * MINUTE_MS)
    deepStrictEqual(judged, [true, false, back, true])
    await retention.close()
    await bench.close()
  }
})
