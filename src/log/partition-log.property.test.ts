/** Random operations on a log in an in-memory file system, compared with a plain list of batches, through crashes and failures. */
import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { ManualClock } from '../core/clock.ts'
import { silentLogger } from '../core/logger.ts'
import { type Random, seededRandom } from '../core/random.ts'
import { batchesIn } from '../protocol/batches/batch-iteration.ts'
import { buildBatch } from '../protocol/batches/build-batch.ts'
import { LogModel } from './fakes/log-model.ts'
import { MemoryFileSystem, systemError } from './fakes/memory-file-system.ts'
import { randomBatches } from './fakes/random-batches.ts'
import { verifyIndexFiles } from './fakes/verify-index-files.ts'
import { defaultLogConfig } from './log-config.ts'
import { LogError } from './log-error.ts'
import { LogStore } from './log-store.ts'
import type { PartitionLog } from './partition-log.ts'

const config = { ...defaultLogConfig, segmentBytes: 3000, indexIntervalBytes: 150, segmentIndexBytes: 120 }
const STEPS = 60

/** One run: everything in it follows from its seed. */
class Run {
  readonly random: Random
  readonly fs = new MemoryFileSystem()
  readonly clock = new ManualClock()
  readonly model = new LogModel()
  readonly trace: string[] = []
  epoch = 0
  /** Appends that failed may have written whole batches, which a crash may bring to light. */
  readonly failed: Buffer[] = []
  #store: LogStore | undefined
  #log: PartitionLog | undefined

  constructor(seed: number) {
    this.random = seededRandom(seed)
  }

  get log(): PartitionLog {
    ok(this.#log)
    return this.#log
  }

  below(bound: number): number {
    return Math.floor(this.random() * bound)
  }

  async open(): Promise<void> {
    const { fs, clock } = this
    const identity = { clusterId: 'c', nodeId: 1 }
    this.#store = await LogStore.open({ directory: '/data', identity, clock, logger: silentLogger, fs })
    this.#log = await this.#store.openLog({ topic: 't', partition: 0, config })
  }

  async step(): Promise<void> {
    const operations = [
      this.append,
      this.append,
      this.append,
      this.mirror,
      this.mirror,
      this.flush,
      this.readSomewhere,
      this.truncate,
      this.raise,
      this.extend,
      this.startFully,
      this.restart,
      this.powerLoss,
      this.powerLossAmid,
      this.diskTrouble,
    ]
    const operation = operations[this.below(operations.length)] ?? this.append
    this.trace.push(operation.name)
    await operation.call(this)
  }

  batches(first: number): Buffer {
    return randomBatches(this.random, { first, leaderEpoch: this.epoch })
  }

  async append(): Promise<void> {
    const bytes = this.batches(0)
    const options = { leaderEpoch: this.epoch, origin: 'replication' } as const
    const result = await this.log.appendAsLeader(bytes, options)
    strictEqual(result.kind, 'appended')
    this.model.append(bytes)
  }

  async mirror(): Promise<void> {
    const end = this.model.logEndOffset
    const isEmpty = this.log.sizeBytes === 0 && this.model.logStartOffset === end
    const inside = isEmpty && end > 2 && this.random() < 0.5
    const hole = this.random() < 0.02 ? 3_000_000_000 : this.random() < 0.3 ? this.below(100) : 0
    let bytes = this.batches(inside ? end - 2 : end + hole)
    if (inside) {
      const records = [0, 5].map(offsetDelta => ({ timestamp: 5n, key: null, value: Buffer.alloc(9), offsetDelta }))
      bytes = buildBatch({ baseOffset: end - 2, records })
    }
    await this.log.appendMirror(bytes, { leaderEpoch: this.epoch, expectedEndOffset: end })
    if (inside) this.model.startAt(end)
    this.model.append(bytes)
  }

  async flush(): Promise<void> {
    await Promise.all([this.log.flush(), this.log.flush()])
    strictEqual(this.log.flushedOffset, this.model.logEndOffset)
  }

  async readSomewhere(): Promise<void> {
    const { logStartOffset, logEndOffset } = this.model
    const offset = logStartOffset + this.below(logEndOffset - logStartOffset + 1)
    const bound = offset + this.below(logEndOffset - offset + 1)
    const maxBytes = this.below(2000)
    const minOneBatch = this.random() < 0.5
    const result = await this.log.read({ offset, maxBytes, maxOffset: bound, minOneBatch })
    ok(result.kind === 'batches')
    const expected: Buffer[] = []
    let size = 0
    for (const batch of this.model.read(offset, bound)) {
      if (size + batch.length > maxBytes && !(size === 0 && minOneBatch)) break
      size += batch.length
      expected.push(batch)
    }
    // A read may stop at the end of a segment.
    const got = result.records.length
    deepStrictEqual(result.records, Buffer.concat(expected).subarray(0, got))
    if (expected.length > 0) ok(got >= (expected[0]?.length ?? 0))
  }

  async truncate(): Promise<void> {
    const { logStartOffset, logEndOffset } = this.model
    const offset = Math.max(0, logEndOffset - this.below(Math.min(60, logEndOffset - logStartOffset + 2)))
    await this.log.truncateTo(offset)
    this.model.truncateTo(offset)
    this.epoch++
  }

  async raise(): Promise<void> {
    const { logStartOffset, logEndOffset } = this.model
    const offset = logStartOffset + this.below(Math.min(200, logEndOffset - logStartOffset + 1))
    await this.log.raiseLogStartOffset(offset)
    this.model.logStartOffset = offset
  }

  async extend(): Promise<void> {
    if (this.random() < 0.5) return
    const offset = this.model.logEndOffset + this.below(20)
    const isEmpty = this.log.sizeBytes === 0
    await this.log.extendTo(offset)
    if (isEmpty && offset > this.model.logEndOffset) this.model.startAt(offset)
    this.model.logEndOffset = offset
  }

  async startFully(): Promise<void> {
    if (this.random() < 0.7) return
    const offset = Math.max(0, this.model.logEndOffset + 50 - this.below(300))
    await this.log.truncateFullyAndStartAt(offset)
    this.model.startAt(offset)
  }

  async restart(): Promise<void> {
    await this.#store?.close()
    await verifyIndexFiles(this.fs, '/data/t-0')
    await this.open()
  }

  async powerLoss(): Promise<void> {
    const flushed = this.log.flushedOffset
    if (this.random() < 0.3) this.fs.kill()
    else this.fs.crash(this.random)
    await this.open()
    await this.checkSurvivors(flushed)
  }

  /** Everything fails from some operation of a running append on. */
  async powerLossAmid(): Promise<void> {
    const flushed = this.log.flushedOffset
    let left = this.below(25)
    this.fs.failWhen = () => (left-- <= 0 ? systemError('EIO', 'power loss') : undefined)
    const before = this.model.logEndOffset
    const bytes = this.batches(before)
    const appended = this.log.appendMirror(bytes, { leaderEpoch: this.epoch, expectedEndOffset: before })
    this.failed.push(bytes)
    const survives = appended.then(async () => {
      this.model.append(bytes)
      await this.log.flush()
    })
    await survives.catch(error => ok(error instanceof LogError, String(error)))
    this.fs.crash(this.random)
    this.fs.failWhen = () => undefined
    await this.open()
    await this.checkSurvivors(flushed)
  }

  /** Operations fail now and then, later not any more. */
  async diskTrouble(): Promise<void> {
    this.fs.failWhen = () => (this.random() < 0.3 ? systemError('ENOSPC', 'full') : undefined)
    for (let round = 0; round < 5; round++) {
      const expectedEndOffset = this.log.logEndOffset
      const bytes = this.batches(expectedEndOffset)
      const append = this.log.appendMirror(bytes, { leaderEpoch: this.epoch, expectedEndOffset })
      this.failed.push(bytes)
      await append.catch(error => ok(error instanceof LogError, String(error)))
      this.model.append(bytes)
      this.model.cutToSurvivors(this.log.logEndOffset)
      await this.log.flush().catch(error => ok(error instanceof LogError, String(error)))
    }
    this.fs.failWhen = () => undefined
    if (!this.log.failure) return
    const flushed = this.log.flushedOffset
    this.#log = await this.#store?.reopenLog({ topic: 't', partition: 0, config })
    await this.checkSurvivors(flushed)
  }

  async adoptFailed(): Promise<void> {
    const tail = await readFrom(this.log, this.model.logEndOffset)
    ok(
      this.failed.some(bytes => bytes.includes(tail)),
      'the log has batches that were never appended',
    )
    this.model.append(tail)
  }

  async checkSurvivors(flushedOffset: number): Promise<void> {
    const { logEndOffset, logStartOffset } = this.log
    if (logEndOffset > this.model.logEndOffset) await this.adoptFailed()
    ok(logEndOffset >= flushedOffset, `flushed to ${flushedOffset}, recovered to ${logEndOffset}`)
    ok(logEndOffset <= this.model.logEndOffset, 'nothing new')
    ok(logStartOffset <= this.model.logStartOffset)
    if (logEndOffset < this.model.logEndOffset) this.model.cutToSurvivors(logEndOffset)
    this.model.logStartOffset = logStartOffset
    this.epoch++
  }

  /** Everything that can be asked is as the model has it. */
  async check(): Promise<void> {
    const { log, model } = this
    deepStrictEqual([log.logStartOffset, log.logEndOffset], [model.logStartOffset, model.logEndOffset])
    const [actual, expected] = [
      await readFrom(log, log.logStartOffset),
      Buffer.concat(model.visible.map(({ bytes }) => bytes)),
    ]
    deepStrictEqual(offsetsOf(actual), offsetsOf(expected))
    ok(actual.equals(expected), 'the same bytes')
    const { open, aborted } = model.transactions()
    deepStrictEqual(
      log.openTransactions().map(({ producerId, firstOffset }) => ({ producerId, firstOffset })),
      open.map(({ producerId, firstOffset }) => ({ producerId, firstOffset })),
    )
    const found = await log.abortedTransactions(model.logStartOffset, model.logEndOffset)
    deepStrictEqual(
      found.map(({ producerId, firstOffset, lastOffset }) => ({ producerId, firstOffset, lastOffset })),
      aborted.filter(({ lastOffset }) => lastOffset >= model.logStartOffset),
    )
    const timestamp = BigInt(this.below(1_000_000))
    strictEqual((await log.offsetForTimestamp(timestamp))?.offset, model.offsetForTimestamp(timestamp))
    const last = model.visible.at(-1)?.header
    if (last) strictEqual((await log.lastBatch())?.lastOffset, last.lastOffset)
    for (const { header } of model.visible) {
      strictEqual(log.epochAt(Math.max(header.baseOffset, model.logStartOffset)), header.leaderEpoch)
    }
  }
}

const offsetsOf = (bytes: Buffer): string[] =>
  Array.from(
    batchesIn(bytes),
    ({ baseOffset, lastOffset, leaderEpoch }) => `${baseOffset}-${lastOffset}@${leaderEpoch}`,
  )

async function readFrom(log: PartitionLog, from: number): Promise<Buffer> {
  const parts: Buffer[] = []
  let offset = from
  while (offset < log.logEndOffset) {
    const result = await log.read({ offset, maxBytes: 1500, maxOffset: log.logEndOffset, minOneBatch: true })
    ok(result.kind === 'batches')
    if (result.records.length === 0) break
    parts.push(result.records)
    offset = result.nextOffset
  }
  return Buffer.concat(parts)
}

const range = (process.env['LOG_SEEDS'] ?? '1-20').split('-').map(Number)

test('random operations, crashes and disk failures leave a log that equals the model', async () => {
  for (let seed = range[0] ?? 1; seed <= (range[1] ?? range[0] ?? 1); seed++) {
    const run = new Run(seed)
    try {
      await run.open()
      for (let step = 0; step < STEPS; step++) {
        await run.step()
        await run.check()
      }
    } catch (error) {
      throw new Error(`seed ${seed}: ${run.trace.slice(-12).join(', ')}`, { cause: error })
    }
  }
})
