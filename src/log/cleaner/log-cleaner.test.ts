/** Which log the cleaner takes, when, and what becomes of one that cannot be cleaned. */
import { deepStrictEqual, match, ok, rejects, strictEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { silentLogger } from '../../core/logger.ts'
import { systemError } from '../fakes/memory-file-system.ts'
import type { PartitionLog } from '../partition-log.ts'
import { CleanerBench } from './fakes/cleaner-bench.ts'
import { readRecords } from './fakes/read-log.ts'
import { type CleanerSettings, LogCleaner } from './log-cleaner.ts'

const settings: CleanerSettings = {
  threads: 1,
  backoffMs: 15_000,
  dedupeBufferBytes: 1_000_000,
  dedupeBufferLoadFactor: 0.9,
  ioBufferBytes: 100_000,
  ioBytesPerSecondMax: Number.MAX_VALUE,
}

/** Its threads do nothing until time passes: tests clean by hand. */
const cleanerOf = (bench: CleanerBench, more: Partial<CleanerSettings> = {}) =>
  new LogCleaner({
    partitions: () => bench.partitions,
    failed: () => {},
    settings: () => ({ ...settings, ...more }),
    clock: bench.clock,
    logger: silentLogger,
  })

const keysOf = async (log: PartitionLog): Promise<string[]> => {
  const { logStartOffset: start, logEndOffset: bound } = log
  return (await readRecords(log, { start, bound, committed: false })).map(({ key }) => key ?? '')
}

const times = (count: number, ...keys: string[]) => Array.from({ length: count }, () => keys).flat()

test('the dirtiest log that is due comes first; one that is clean enough stays as it is', async () => {
  const bench = new CleanerBench()
  const cleaner = cleanerOf(bench)
  const [half, dirty, plain] = [
    await bench.open('half'),
    await bench.open('dirty'),
    await bench.open('plain', { compacts: false }),
  ]
  await bench.fill(half, ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k', 'l', 'last'])
  ok(await cleaner.cleanOne())
  await bench.fill(half, times(1, 'm', 'n', 'o', 'p', 'q', 'r'))
  for (const log of [dirty, plain]) await bench.fill(log, times(10, 'x', 'y', 'z'))
  const before = { half: await keysOf(half), plain: await keysOf(plain) }
  strictEqual(await cleaner.cleanOne(), true)
  deepStrictEqual(new Set(await keysOf(dirty)), new Set(['x', 'y', 'z']))
  ok((await keysOf(dirty)).length < 12)
  strictEqual(await cleaner.cleanOne(), false)
  deepStrictEqual([await keysOf(half), await keysOf(plain)], [before.half, before.plain])
  ok(cleaner.figures.dirtiestRatio > 0 && cleaner.figures.dirtiestRatio < 0.5)
  strictEqual(cleaner.figures.passes, 2)
  await cleaner.close()
  await bench.close()
})

test('young records wait for min.compaction.lag.ms, old ones do not wait for the ratio beyond max.compaction.lag.ms', async () => {
  const bench = new CleanerBench()
  const cleaner = cleanerOf(bench)
  const young = await bench.open('young', { minCompactionLagMs: 1000 })
  await bench.fill(young, times(10, 'x', 'y'))
  strictEqual(await cleaner.cleanOne(), false)
  await bench.clock.advance(1001)
  strictEqual(await cleaner.cleanOne(), true)
  const old = await bench.open('old', { maxCompactionLagMs: 5000, minCleanableDirtyRatio: 1 })
  await bench.fill(old, times(10, 'x', 'y'))
  strictEqual(await cleaner.cleanOne(), false)
  await bench.clock.advance(5001)
  strictEqual(await cleaner.cleanOne(), true)
  ok(cleaner.figures.overdueMsMax > 0)
  ok((await keysOf(old)).length < 10)
  await cleaner.close()
  await bench.close()
})

test('a damaged log is left alone, with the reason; a full disk is met again and again until there is room', async () => {
  const bench = new CleanerBench()
  const cleaner = cleanerOf(bench)
  const [damaged, healthy] = [await bench.open('damaged'), await bench.open('healthy')]
  await bench.fill(damaged, times(20, 'x', 'y', 'z'))
  await bench.fill(healthy, times(10, 'x', 'y', 'z'))
  const file = bench.fs.file('/data/damaged-0/00000000000000000000.log')
  await file.write([Buffer.from('?')], 100)
  strictEqual(await cleaner.cleanOne(), true)
  const [only, ...others] = cleaner.figures.uncleanable
  strictEqual(only?.partition, 'damaged-0')
  match(only?.reason ?? '', /CRC/)
  deepStrictEqual(others, [])
  bench.fs.failWhen = ({ name, path }) =>
    name === 'write' && path.endsWith('.cleaned') ? systemError('ENOSPC', path) : undefined
  strictEqual(await cleaner.cleanOne(), false)
  bench.fs.failWhen = () => undefined
  // Segments of which nothing stays need no room.
  strictEqual((await keysOf(healthy)).length, 10)
  strictEqual(await cleaner.cleanOne(), true)
  ok((await keysOf(healthy)).length < 10)
  deepStrictEqual(
    ((await bench.fs.list('/data/healthy-0')) ?? []).filter(name => name.endsWith('.cleaned')),
    [],
  )
  strictEqual(await cleaner.cleanOne(), false)
  await cleaner.close()
  await bench.close()
})

test('threads look every backoff, move no more bytes than they may, and end when the cleaner is closed', async () => {
  const bench = new CleanerBench()
  const log = await bench.open('slow')
  await bench.fill(log, times(20, 'x', 'y', 'z'))
  const cleaner = cleanerOf(bench, { ioBytesPerSecondMax: 1000 })
  let seconds = 0
  for (; cleaner.figures.passes === 0; seconds++) await bench.clock.advance(1000)
  // 20 kB are read and a little is written.
  ok(seconds > 30 && seconds < 60, `${seconds} s`)
  await bench.fill(log, times(20, 'x', 'y', 'z'))
  await bench.clock.advance(15_001)
  const closed = cleaner.close()
  await closed
  strictEqual(cleaner.figures.passes, 1)
  ok((await keysOf(log)).length > 60)
  await bench.close()
})

// A file left there made recovery take a later swap, interrupted by a crash, for one that had not been finished: its segments were lost.
test('what was written for segments that went meanwhile is not left behind', async () => {
  const bench = new CleanerBench()
  const log = await bench.open('shrinking')
  await bench.fill(log, times(20, 'x', 'y', 'z'))
  const dirt = await log.cleaning.dirt(log.logEndOffset)
  ok(dirt)
  const memory = { mapBytes: 100_000, mapLoadFactor: 0.9, chunkBytes: 10_000 }
  let reads = 0
  const throttle = async () => {
    // Indexed already, and the first of several segments is being rewritten.
    if (++reads === 12) await log.raiseLogStartOffset(7)
  }
  await rejects(log.cleaning.clean(dirt, { memory, throttle, pause: async () => {} }), /segments of the log went/)
  const names = (await bench.fs.list('/data/shrinking-0')) ?? []
  deepStrictEqual(
    names.filter(name => name.includes('.cleaned')),
    [],
  )
  await bench.close()
})
