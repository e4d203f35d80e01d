/** Segments go by age and by size, never above the high watermark. */
import { deepStrictEqual, strictEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { ManualClock } from '../core/clock.ts'
import { silentLogger } from '../core/logger.ts'
import { buildBatch } from '../protocol/batches/build-batch.ts'
import { MemoryFileSystem } from './fakes/memory-file-system.ts'
import { defaultLogConfig, type LogConfig } from './log-config.ts'
import { PartitionLog } from './partition-log.ts'

const SIZE = 400
const batch = (timestamp: number) =>
  buildBatch({ records: [{ timestamp: BigInt(timestamp), key: null, value: Buffer.alloc(SIZE - 73) }] })

/** Ten batches, one a second, two to a segment. */
async function tenBatches(config: Partial<LogConfig>) {
  const clock = new ManualClock(1_000_000)
  const log = await PartitionLog.open({
    directory: '/data/t-0',
    topic: 't',
    partition: 0,
    config: { ...defaultLogConfig, segmentBytes: 2 * SIZE, retentionMs: -1, ...config },
    clock,
    logger: silentLogger,
    fs: new MemoryFileSystem(),
    recover: false,
  })
  for (let i = 0; i < 10; i++) {
    await log.appendAsLeader(batch(clock.nowMs()), { leaderEpoch: 0 })
    await clock.advance(1000)
  }
  return { clock, log }
}

test('segments whose newest record is too old go', async () => {
  const { log, clock } = await tenBatches({ retentionMs: 6500 })
  await log.applyRetention(10, { nowMs: clock.nowMs() })
  strictEqual(log.logStartOffset, 4)
  strictEqual(log.sizeBytes, 6 * batch(0).length)
})

test('what is above the high watermark stays', async () => {
  const { log, clock } = await tenBatches({ retentionMs: 1 })
  await log.applyRetention(5, { nowMs: clock.nowMs() })
  strictEqual(log.logStartOffset, 4)
})

test('when everything is too old an empty segment is left', async () => {
  const { log, clock } = await tenBatches({ retentionMs: 1000 })
  await clock.advance(60_000)
  await log.applyRetention(10, { nowMs: clock.nowMs() })
  deepStrictEqual([log.logStartOffset, log.logEndOffset, log.sizeBytes], [10, 10, 0])
  await log.applyRetention(10, { nowMs: clock.nowMs() })
  await log.appendAsLeader(batch(clock.nowMs()), { leaderEpoch: 0 })
  strictEqual(log.logEndOffset, 11)
})

test('the oldest segments go while enough bytes stay', async () => {
  const { log, clock } = await tenBatches({ retentionBytes: 5 * batch(0).length })
  await log.applyRetention(10, { nowMs: clock.nowMs() })
  strictEqual(log.logStartOffset, 4)
})

test('other limits take the place of those of the log', async () => {
  const { log, clock } = await tenBatches({ retentionMs: 1, retentionBytes: 1 })
  const nowMs = clock.nowMs()
  await log.applyRetention(10, { nowMs, limits: { retentionMs: -1, retentionBytes: -1 } })
  strictEqual(log.logStartOffset, 0)
  await log.applyRetention(10, { nowMs, limits: { retentionMs: 6500, retentionBytes: -1 } })
  strictEqual(log.logStartOffset, 4)
})

test('without delete in the policy nothing goes', async () => {
  const { log, clock } = await tenBatches({ retentionMs: 1, deletes: false })
  await log.applyRetention(10, { nowMs: clock.nowMs() })
  strictEqual(log.logStartOffset, 0)
})

test('without a time only size condemns', async () => {
  const { log } = await tenBatches({ retentionMs: 1, retentionBytes: 5 * batch(0).length })
  await log.applyRetention(10, { nowMs: undefined })
  strictEqual(log.logStartOffset, 4)
})
