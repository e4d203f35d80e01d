/** One log by example: appends, mirror rules, rolls, reads, failures, recovery, times. */
import { deepStrictEqual, ok, rejects, strictEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { ManualClock } from '../core/clock.ts'
import { silentLogger } from '../core/logger.ts'
import { type BatchInput, buildBatch } from '../protocol/batches/build-batch.ts'
import { MemoryFileSystem, systemError } from './fakes/memory-file-system.ts'
import { defaultLogConfig, type LogConfig } from './log-config.ts'
import { PartitionLog } from './partition-log.ts'

interface Setup {
  readonly fs?: MemoryFileSystem
  readonly config?: Partial<LogConfig>
  readonly clock?: ManualClock
  readonly recover?: boolean
  readonly damage?: 'cut' | 'refuse'
}

function openLog(setup: Setup = {}): Promise<PartitionLog> {
  return PartitionLog.open({
    directory: '/data/t-0',
    topic: 't',
    partition: 0,
    config: { ...defaultLogConfig, ...setup.config },
    clock: setup.clock ?? new ManualClock(),
    logger: silentLogger,
    fs: setup.fs ?? new MemoryFileSystem(),
    recover: setup.recover ?? false,
    damage: setup.damage ?? 'cut',
  })
}

const batch = (input: Partial<BatchInput> & { count?: number; size?: number; timestamp?: bigint } = {}): Buffer =>
  buildBatch({
    records: Array.from({ length: input.count ?? 1 }, () => ({
      timestamp: input.timestamp ?? 1000n,
      key: null,
      value: Buffer.alloc(input.size ?? 10),
    })),
    ...input,
  })

const lead = (log: PartitionLog, bytes: Buffer, leaderEpoch = 0) => log.appendAsLeader(bytes, { leaderEpoch })
const mirror = (log: PartitionLog, bytes: Buffer, leaderEpoch = 0) =>
  log.appendMirror(bytes, { leaderEpoch, expectedEndOffset: log.logEndOffset })
const read = (log: PartitionLog, offset: number, more: { maxBytes?: number; minOneBatch?: boolean } = {}) =>
  log.read({ offset, maxBytes: more.maxBytes ?? 1e6, maxOffset: 1e15, minOneBatch: more.minOneBatch ?? true })

async function segmentBases(fs: MemoryFileSystem): Promise<number[]> {
  const names = (await fs.list('/data/t-0')) ?? []
  return names.filter(name => name.endsWith('.log')).map(name => Number.parseInt(name, 10))
}

test('a leader assigns offsets and stamps its epoch', async () => {
  const log = await openLog()
  deepStrictEqual(await lead(log, Buffer.concat([batch({ count: 3 }), batch({ count: 2 })]), 5), {
    kind: 'appended',
    baseOffset: 0,
    lastOffset: 4,
    batches: 2,
  })
  const result = await read(log, 4)
  ok(result.kind === 'batches')
  deepStrictEqual([result.records.readInt32BE(4), result.records.readInt32BE(12), result.nextOffset], [3, 5, 5])
})

test('a mirror append is a compare-and-set on the log end', async () => {
  const log = await openLog()
  await mirror(log, batch({ baseOffset: 10 }))
  const stale = log.appendMirror(batch({ baseOffset: 12 }), { leaderEpoch: 0, expectedEndOffset: 10 })
  await rejects(stale, { kind: 'conflict' })
  strictEqual(log.logEndOffset, 11)
})

test('a mirror refuses batches that overlap, descend or are cut, and an older epoch', async () => {
  const log = await openLog()
  await mirror(log, batch({ baseOffset: 10, count: 5 }), 3)
  await rejects(mirror(log, batch({ baseOffset: 14 }), 3), { kind: 'out-of-order' })
  const descending = Buffer.concat([batch({ baseOffset: 30 }), batch({ baseOffset: 20 })])
  await rejects(mirror(log, descending, 3), { kind: 'out-of-order' })
  await rejects(mirror(log, batch({ baseOffset: 30 }).subarray(0, 70), 3), { kind: 'corrupt' })
  await rejects(mirror(log, batch({ baseOffset: 30 }), 2), { kind: 'stale-epoch' })
  strictEqual(log.logEndOffset, 15)
})

test('only the first batch of an empty log may begin below its start, which then lies inside the batch', async () => {
  const fs = new MemoryFileSystem()
  const log = await openLog({ fs })
  await log.extendTo(1000)
  await rejects(mirror(log, batch({ baseOffset: 990, count: 10 })), { kind: 'out-of-order' })
  await mirror(log, batch({ baseOffset: 995, count: 10 }))
  deepStrictEqual([log.logStartOffset, log.logEndOffset], [1000, 1005])
  deepStrictEqual(await segmentBases(fs), [995])
  deepStrictEqual(await read(log, 999), {
    kind: 'offset-out-of-range',
    logStartOffset: 1000,
    logEndOffset: 1005,
  })
  const result = await read(log, 1002)
  ok(result.kind === 'batches')
  strictEqual(result.records.readInt32BE(4), 995)
})

test('an append that is refused in the first batch of an empty log leaves it empty', async () => {
  const fs = new MemoryFileSystem()
  const log = await openLog({ fs })
  await log.extendTo(1000)
  fs.failWhen = ({ name, path }) =>
    name === 'write' && path.endsWith('.log') ? systemError('ENOSPC', path) : undefined
  await rejects(mirror(log, batch({ baseOffset: 995, count: 10 })), { kind: 'storage', failed: false })
  fs.failWhen = () => undefined
  deepStrictEqual([log.logStartOffset, log.logEndOffset], [1000, 1000])
  await mirror(log, batch({ baseOffset: 995, count: 10 }))
  strictEqual(log.logEndOffset, 1005)
})

test('duplicates of an idempotent producer answer their first offsets and append nothing', async () => {
  const log = await openLog()
  const bytes = () => batch({ producerId: 4n, producerEpoch: 0, baseSequence: 0, count: 3 })
  await lead(log, batch())
  await lead(log, bytes())
  deepStrictEqual(await lead(log, bytes()), { kind: 'duplicate', baseOffset: 1, lastOffset: 3, timestamp: 1000n })
  const gap = await lead(log, batch({ producerId: 4n, producerEpoch: 0, baseSequence: 9 }))
  strictEqual(gap.kind === 'refused' && gap.errorCode, 45)
  strictEqual(log.logEndOffset, 4)
})

test('concurrent appends of one producer are checked one after the other', async () => {
  const log = await openLog()
  const results = await Promise.all(
    [0, 1, 2, 3, 3, 5].map(baseSequence => lead(log, batch({ producerId: 4n, producerEpoch: 0, baseSequence }))),
  )
  deepStrictEqual(
    results.map(({ kind }) => kind),
    ['appended', 'appended', 'appended', 'appended', 'duplicate', 'refused'],
  )
})

test('a read gives at least one batch if asked, and never a partial one', async () => {
  const log = await openLog()
  await lead(log, batch({ size: 5000 }))
  await lead(log, batch({ size: 100 }))
  const bytesOf = async (maxBytes: number, minOneBatch: boolean) => {
    const result = await read(log, 0, { maxBytes, minOneBatch })
    return result.kind === 'batches' ? result.records.length : -1
  }
  const [large, small] = [batch({ size: 5000 }).length, batch({ size: 100 }).length]
  strictEqual(await bytesOf(10, false), 0)
  strictEqual(await bytesOf(0, true), large)
  strictEqual(await bytesOf(10, true), large)
  strictEqual(await bytesOf(large + small - 1, true), large)
  strictEqual(await bytesOf(large + small, false), large + small)
})

test('segments roll by size, by the time between batches, and by a full index', async () => {
  const size = batch({ size: 400 }).length
  const bySize = new MemoryFileSystem()
  const log = await openLog({ fs: bySize, config: { segmentBytes: size * 2 } })
  for (let i = 0; i < 5; i++) await lead(log, batch({ size: 400 }))
  deepStrictEqual(await segmentBases(bySize), [0, 2, 4])

  const byTime = new MemoryFileSystem()
  const timed = await openLog({ fs: byTime, config: { segmentMs: 100 } })
  for (const timestamp of [1000n, 1100n, 1101n, 1150n, 1202n]) await lead(timed, batch({ timestamp }))
  deepStrictEqual(await segmentBases(byTime), [0, 2, 4])

  const byIndex = new MemoryFileSystem()
  const indexed = await openLog({ fs: byIndex, config: { segmentIndexBytes: 36, indexIntervalBytes: 0 } })
  for (let i = 0n; i < 6n; i++) await lead(indexed, batch({ timestamp: i }))
  deepStrictEqual(await segmentBases(byIndex), [0, 3])
})

test('concurrent flushes of many appends share a sync or two', async () => {
  const fs = new MemoryFileSystem()
  const log = await openLog({ fs })
  await Promise.all(Array.from({ length: 50 }, () => lead(log, batch())))
  await log.flush()
  await Promise.all(Array.from({ length: 50 }, () => lead(log, batch())))
  fs.syncs = 0
  await Promise.all(Array.from({ length: 50 }, () => log.flush()))
  deepStrictEqual([log.flushedOffset, fs.syncs <= 2], [100, true])
  await log.flush()
  strictEqual(fs.syncs <= 2, true)
})

test('a full disk refuses appends, changes nothing, and is forgotten when space returns', async () => {
  const fs = new MemoryFileSystem()
  const log = await openLog({ fs })
  await lead(log, batch())
  fs.failWhen = ({ name, path }) => (name === 'write' ? systemError('ENOSPC', path) : undefined)
  await rejects(lead(log, batch({ size: 1000 })), { kind: 'storage', failed: false })
  fs.failWhen = () => undefined
  strictEqual(log.logEndOffset, 1)
  await lead(log, batch())
  deepStrictEqual(await log.close(), { clean: true })
  strictEqual((await openLog({ fs })).logEndOffset, 2)
})

test('recovery cuts a zeroed and a torn tail', async () => {
  const fs = new MemoryFileSystem()
  const log = await openLog({ fs })
  for (let i = 0; i < 3; i++) await lead(log, batch({ size: 100 }))
  const { sizeBytes } = log
  fs.kill()
  await fs.file('/data/t-0/00000000000000000000.log').write([Buffer.alloc(500)], sizeBytes)
  const zeroed = await openLog({ fs, recover: true })
  deepStrictEqual([zeroed.logEndOffset, zeroed.sizeBytes], [3, sizeBytes])
  fs.kill()
  await fs.file('/data/t-0/00000000000000000000.log').write([Buffer.from('x')], sizeBytes - 3)
  const torn = await openLog({ fs, recover: true })
  strictEqual(torn.logEndOffset, 2)
})

// One flipped bit in an old batch looked like the torn tail of a crash: links, mirrors and topics behind it were forgotten.
test('a log that refuses damage loses no more than a torn last append', async () => {
  const path = '/data/t-0/00000000000000000000.log'
  for (const [offset, byte] of [
    [0, 30],
    [0, 9],
    [1, 70],
    [2, 9],
  ] as const) {
    const fs = new MemoryFileSystem()
    const log = await openLog({ fs })
    for (let i = 0; i < 3; i++) await lead(log, batch())
    await log.flush()
    fs.kill()
    const before = await fs.readFile(path)
    const at = (before.length / 3) * offset + byte
    await fs.file(path).write([Buffer.from([(before[at] ?? 0) ^ 1])], at)
    const damaged = await fs.readFile(path)
    const opening = openLog({ fs, recover: true, damage: 'refuse' })
    if (offset === 2) strictEqual((await opening).logEndOffset, 2)
    else {
      await rejects(opening, {
        kind: 'corrupt',
        message: new RegExp(`${path} is damaged at byte .* \\(offset ${offset}\\)`),
      })
      deepStrictEqual(await fs.readFile(path), damaged)
      strictEqual((await openLog({ fs, recover: true })).logEndOffset, offset)
    }
  }
})

test('times are found to the record', async () => {
  const log = await openLog()
  const records = [5n, 3n, 9n].map(timestamp => ({ timestamp, key: null, value: null }))
  await lead(log, buildBatch({ records, compression: 'zstd' }), 2)
  await lead(log, batch({ timestamp: 8n }), 2)
  deepStrictEqual(await log.offsetForTimestamp(4n), { offset: 0, timestamp: 5n, leaderEpoch: 2 })
  deepStrictEqual(await log.offsetForTimestamp(6n), { offset: 2, timestamp: 9n, leaderEpoch: 2 })
  strictEqual(await log.offsetForTimestamp(10n), undefined)
  deepStrictEqual(await log.maxTimestamp(), { offset: 2, timestamp: 9n, leaderEpoch: 2 })
  await log.raiseLogStartOffset(1)
  deepStrictEqual(await log.offsetForTimestamp(4n), { offset: 2, timestamp: 9n, leaderEpoch: 2 })
})

test('a closed log refuses everything but a second close', async () => {
  const log = await openLog()
  await log.close()
  await rejects(lead(log, batch()), { kind: 'closed' })
  await rejects(log.flush(), { kind: 'closed' })
  deepStrictEqual(await log.close(), { clean: true })
})

test('a transaction below the log start holds readers back no further than that', async () => {
  const log = await openLog()
  await mirror(log, batch({ count: 3, producerId: 5n, producerEpoch: 0, baseSequence: 0, transactional: true }))
  await mirror(log, batch({ count: 3, baseOffset: 3 }))
  strictEqual(log.lastStableOffset(6), 0)
  await log.raiseLogStartOffset(4)
  strictEqual(log.lastStableOffset(6), 4)
  await log.close()
})

test('the largest producer id survives truncation and restart', async () => {
  const fs = new MemoryFileSystem()
  const log = await openLog({ fs })
  await lead(log, batch())
  await lead(log, batch({ producerId: 4000n, producerEpoch: 0, baseSequence: 0 }))
  await log.truncateTo(1)
  strictEqual(log.maxProducerId, 4000n)
  await log.close()
  strictEqual((await openLog({ fs })).maxProducerId, 4000n)
})
