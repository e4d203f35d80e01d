/** `segment.jitter.ms`: segments do not all roll after the same time. */
import { deepStrictEqual, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { ManualClock } from '../core/clock.ts'
import { silentLogger } from '../core/logger.ts'
import { buildBatch } from '../protocol/batches/build-batch.ts'
import { MemoryFileSystem } from './fakes/memory-file-system.ts'
import { defaultLogConfig } from './log-config.ts'
import { PartitionLog } from './partition-log.ts'

/** Batches in each segment of a log that got one every 10 ms, but for the last segment. */
async function segmentSizes(directory: string): Promise<number[]> {
  const fs = new MemoryFileSystem()
  const log = await PartitionLog.open({
    directory,
    topic: 't',
    partition: 0,
    config: { ...defaultLogConfig, segmentMs: 100, segmentJitterMs: 1000 },
    clock: new ManualClock(),
    logger: silentLogger,
    fs,
    recover: false,
  })
  for (let timestamp = 0n; timestamp < 1000n; timestamp += 10n)
    await log.appendAsLeader(buildBatch({ records: [{ timestamp, key: null, value: null }] }), { leaderEpoch: 0 })
  await log.close()
  const names = ((await fs.list(directory)) ?? []).filter(name => name.endsWith('.log')).sort()
  const bases = names.map(name => Number(name.slice(0, -4)))
  return bases.slice(1).map((base, index) => base - (bases[index] ?? 0))
}

test('a part of segment.ms is taken off, another one for each segment, the same after a restart', async () => {
  const sizes = await segmentSizes('/data/t-0')
  // Without jitter each segment holds the eleven batches of 100 ms.
  ok(
    sizes.every(size => size <= 11),
    String(sizes),
  )
  ok(new Set(sizes).size > 2, String(sizes))
  deepStrictEqual(await segmentSizes('/data/t-0'), sizes)
  ok(String(await segmentSizes('/data/t-1')) !== String(sizes))
})
