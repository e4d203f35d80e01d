/** Cuts that a power loss interrupts, at every operation on the disk: what is left is the old log, less of it, or the new one. */
import { deepStrictEqual, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { ManualClock } from '../core/clock.ts'
import { silentLogger } from '../core/logger.ts'
import { type Random, seededRandom } from '../core/random.ts'
import { LogModel } from './fakes/log-model.ts'
import { MemoryFileSystem, systemError } from './fakes/memory-file-system.ts'
import { randomBatches } from './fakes/random-batches.ts'
import { verifyIndexFiles } from './fakes/verify-index-files.ts'
import { defaultLogConfig } from './log-config.ts'
import { LogStore } from './log-store.ts'
import type { PartitionLog } from './partition-log.ts'

const config = { ...defaultLogConfig, segmentBytes: 2000, indexIntervalBytes: 150 }

async function open(fs: MemoryFileSystem): Promise<{ store: LogStore; log: PartitionLog }> {
  const identity = { clusterId: 'c', nodeId: 1 }
  const clock = new ManualClock()
  const store = await LogStore.open({ directory: '/data', identity, clock, logger: silentLogger, fs })
  return { store, log: await store.openLog({ topic: 't', partition: 0, config }) }
}

async function append(log: PartitionLog, model: LogModel, random: Random): Promise<void> {
  const expectedEndOffset = log.logEndOffset
  const bytes = randomBatches(random, { first: expectedEndOffset, leaderEpoch: 0 })
  await log.appendMirror(bytes, { leaderEpoch: 0, expectedEndOffset })
  model.append(bytes)
}

/** A flushed log from offset 100 on, of several segments. */
async function filled(fs: MemoryFileSystem, random: Random) {
  const { log, store } = await open(fs)
  const model = new LogModel()
  await log.truncateFullyAndStartAt(100)
  model.startAt(100)
  for (let i = 0; i < 15; i++) await append(log, model, random)
  await log.flush()
  await store.saveCheckpoints()
  return { log, model }
}

async function batchesOf(log: PartitionLog): Promise<Buffer> {
  const parts: Buffer[] = []
  for (let offset = log.logStartOffset; offset < log.logEndOffset; ) {
    const read = await log.read({ offset, maxBytes: 4000, maxOffset: log.logEndOffset, minOneBatch: true })
    ok(read.kind === 'batches')
    if (read.records.length === 0) break
    parts.push(read.records)
    offset = read.nextOffset
  }
  return Buffer.concat(parts)
}

interface Cut {
  readonly name: string
  readonly run: (log: PartitionLog, offset: number) => Promise<void>
  /** Where the offset lies: -1 the log start, 1 the log end, more is behind it. */
  readonly range: readonly [number, number]
  /** Everything below must still be there. */
  readonly keepsBelow: (offset: number, model: LogModel) => number
}

const cuts: readonly Cut[] = [
  {
    name: 'truncateTo',
    run: (log, offset) => log.truncateTo(offset),
    range: [0, 1],
    // The hole in which a cut may lie can be lost, no batch below it.
    keepsBelow: (offset, model) =>
      1 + (model.batches.findLast(of => of.header.lastOffset < offset)?.header.lastOffset ?? 99),
  },
  { name: 'startFullyAt', run: (log, to) => log.truncateFullyAndStartAt(to), range: [-0.5, 1.5], keepsBelow: () => 0 },
  { name: 'raise', run: (log, to) => log.raiseLogStartOffset(to), range: [0, 1], keepsBelow: (_, m) => m.logEndOffset },
  { name: 'extendTo', run: (log, to) => log.extendTo(to), range: [1, 1.5], keepsBelow: (_, m) => m.logEndOffset },
]

async function interrupt(cut: Cut, seed: number): Promise<void> {
  const random = seededRandom(seed)
  const fs = new MemoryFileSystem()
  const { log, model } = await filled(fs, random)
  const length = model.logEndOffset - 100
  const [from, to] = cut.range
  const offset = 100 + Math.floor(length * (from + (to - from) * random()))
  let left = Math.floor(random() * 60)
  fs.failWhen = () => (left-- <= 0 ? systemError('EIO', 'power loss') : undefined)
  const done = await cut.run(log, offset).then(
    () => true,
    () => false,
  )
  fs.crash(random)
  fs.failWhen = () => undefined
  const { log: after, store } = await open(fs)
  const { logStartOffset, logEndOffset } = after
  const kept = cut.keepsBelow(offset, model)
  ok(logEndOffset >= kept, `the log ends at ${logEndOffset}, not above ${kept}`)
  ok(logEndOffset <= model.logEndOffset || logEndOffset === offset)
  if (done && cut.name === 'truncateTo') ok(logEndOffset <= offset)
  if (done && cut.range[1] > 1) deepStrictEqual(logEndOffset, offset)
  ok(logStartOffset === model.logStartOffset || logStartOffset <= offset)
  const expected = model.read(logStartOffset, logEndOffset)
  const found = await batchesOf(after)
  // A start that was cut to an offset inside of the old log leaves no batches of it, but may leave all below.
  if (found.length > 0) deepStrictEqual(found, Buffer.concat(expected))
  else ok(expected.length === 0 || cut.name === 'startFullyAt')
  if (found.length === 0) model.startAt(logEndOffset)
  model.cutToSurvivors(logEndOffset)
  model.logStartOffset = logStartOffset
  for (let i = 0; i < 3; i++) await append(after, model, random)
  await store.close()
  await verifyIndexFiles(fs, '/data/t-0')
  const again = (await open(fs)).log
  ok(
    (await batchesOf(again))
      .subarray(-100)
      .equals(Buffer.concat(model.visible.map(({ bytes }) => bytes)).subarray(-100)),
  )
}

const [first = 1, last = first] = (process.env['LOG_SEEDS'] ?? '1-8').split('-').map(Number)

for (const cut of cuts) {
  test(`a power loss amid ${cut.name} leaves the old log, less of it, or the new one`, async () => {
    for (let seed = first; seed <= last; seed++) {
      await interrupt(cut, seed).catch(error => {
        throw new Error(`seed ${seed}`, { cause: error })
      })
    }
  })
}
