/** Flushes that overlap on a slow disk: what they promised survives a crash, also when some of them fail. */
import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { ManualClock } from '../core/clock.ts'
import { silentLogger } from '../core/logger.ts'
import { type Random, seededRandom } from '../core/random.ts'
import { buildBatch } from '../protocol/batches/build-batch.ts'
import { MemoryFileSystem, systemError } from './fakes/memory-file-system.ts'
import { defaultLogConfig } from './log-config.ts'
import { PartitionLog } from './partition-log.ts'

const openLog = (fs: MemoryFileSystem, recover: boolean): Promise<PartitionLog> =>
  PartitionLog.open({
    directory: '/data/t-0',
    topic: 't',
    partition: 0,
    config: { ...defaultLogConfig, segmentBytes: 2000 },
    clock: new ManualClock(),
    logger: silentLogger,
    fs,
    recover,
  })

const batchOf = (bytes: number) =>
  buildBatch({ records: [{ timestamp: 1000n, key: null, value: Buffer.alloc(bytes, bytes) }] })

const turn = () => new Promise<void>(resolve => setImmediate(resolve))
const below = (random: Random, bound: number) => Math.floor(random() * bound)

async function turns(count: number): Promise<void> {
  for (let i = 0; i < count; i++) await turn()
}

/** Appends with a flush each, one in most turns; resolves to the promised and the most syncs that ran side by side. */
async function appendAndFlush(log: PartitionLog, random: Random): Promise<{ promised: number; count: number }> {
  let promised = 0
  const flushes: Promise<void>[] = []
  let count = 0
  for (; count < 40; count++) {
    const appended = await log.appendAsLeader(batchOf(below(random, 200)), { leaderEpoch: 0 }).catch(() => undefined)
    if (appended?.kind !== 'appended') break
    const end = appended.lastOffset + 1
    const keep = () => {
      promised = Math.max(promised, end)
    }
    flushes.push(log.flush().then(keep, () => {}))
    await turns(below(random, 3))
  }
  await Promise.all(flushes)
  return { promised, count }
}

test('whatever overlapping flushes promised is there after a power failure', async () => {
  let most = 0
  await fc.assert(
    fc.asyncProperty(fc.integer(), fc.boolean(), async (seed, fails) => {
      const random = seededRandom(seed)
      const fs = new MemoryFileSystem()
      const log = await openLog(fs, false)
      let running = 0
      fs.syncWaits = async () => {
        most = Math.max(most, ++running)
        await turns(1 + below(random, 6))
        running--
      }
      const failAt = fails ? below(random, 20) : -1
      let syncs = 0
      fs.failWhen = ({ name }) => (name === 'sync' && syncs++ === failAt ? systemError('EIO', 'disk') : undefined)
      const { promised, count } = await appendAndFlush(log, random)
      strictEqual(log.flushedOffset >= promised, true)
      if (!fails) strictEqual(promised, count)
      const { flushedOffset } = log
      fs.failWhen = () => undefined
      fs.syncWaits = () => undefined
      fs.crash(random)
      const opened = await openLog(fs, true)
      ok(opened.logEndOffset >= flushedOffset, `the log ends at ${opened.logEndOffset}, ${flushedOffset} was durable`)
      await opened.close()
    }),
    { numRuns: 60 },
  )
  ok(most > 1, 'no two syncs ran side by side')
})

test('a flush that overlaps a failing one promises nothing', async () => {
  const fs = new MemoryFileSystem()
  const log = await openLog(fs, false)
  const append = () => log.appendAsLeader(batchOf(10), { leaderEpoch: 0 })
  await append()
  await log.flush()
  const ends: (() => void)[] = []
  fs.syncWaits = () => new Promise<void>(resolve => ends.push(resolve))
  const flushed: Promise<string>[] = []
  for (const _ of [1, 2]) {
    await append()
    flushed.push(
      log.flush().then(
        () => 'durable',
        () => 'failed',
      ),
    )
    await turns(2)
  }
  ends[1]?.()
  await turns(2)
  strictEqual(log.flushedOffset, 1)
  fs.failWhen = ({ name }) => (name === 'sync' ? systemError('EIO', 'disk') : undefined)
  ends[0]?.()
  deepStrictEqual(await Promise.all(flushed), ['failed', 'failed'])
  strictEqual(log.flushedOffset, 1)
  await log.close()
})
