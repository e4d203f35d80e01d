/** Random keyed, deleted and transactional records, cleaned at random, through restarts and crashes: readers find what the model says. */
import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { ManualClock } from '../../core/clock.ts'
import { silentLogger } from '../../core/logger.ts'
import { type Random, seededRandom } from '../../core/random.ts'
import { MemoryFileSystem, systemError } from '../fakes/memory-file-system.ts'
import { verifyIndexFiles } from '../fakes/verify-index-files.ts'
import { defaultLogConfig } from '../log-config.ts'
import { LogStore } from '../log-store.ts'
import type { PartitionLog } from '../partition-log.ts'
import { CleaningAborted } from './cleaning-plan.ts'
import { KeyedWorkload, type ModelRecord } from './fakes/keyed-workload.ts'
import { readRecords } from './fakes/read-log.ts'
import type { PassTools } from './log-cleaning.ts'

const DELETE_RETENTION_MS = 60_000
const config = {
  ...defaultLogConfig,
  segmentBytes: 1500,
  indexIntervalBytes: 150,
  compacts: true,
  deletes: false,
  minCleanableDirtyRatio: 0,
  deleteRetentionMs: DELETE_RETENTION_MS,
  producerIdExpirationMs: 1e12,
}

class Run {
  readonly random: Random
  readonly fs = new MemoryFileSystem()
  readonly clock = new ManualClock()
  readonly workload: KeyedWorkload
  readonly trace: string[] = []
  /** Everything from here on is as it was appended. */
  cleanedTo = 0
  #store: LogStore | undefined
  #log: PartitionLog | undefined

  constructor(seed: number) {
    this.random = seededRandom(seed)
    this.workload = new KeyedWorkload(this.random, { keys: 2 + Math.floor(this.random() * 30) })
  }

  get log(): PartitionLog {
    ok(this.#log)
    return this.#log
  }

  async open(): Promise<void> {
    const { fs, clock } = this
    const identity = { clusterId: 'c', nodeId: 1 }
    this.#store = await LogStore.open({ directory: '/data', identity, clock, logger: silentLogger, fs })
    this.#log = await this.#store.openLog({ topic: 't', partition: 0, config })
  }

  async append(batches = 1 + this.workload.below(8)): Promise<void> {
    for (let batch = 0; batch < batches; batch++) await this.put(this.workload.next(this.clock.nowMs()))
  }

  async put(bytes: Buffer): Promise<void> {
    await this.log.appendMirror(bytes, { leaderEpoch: 0, expectedEndOffset: this.log.logEndOffset })
  }

  async clean(): Promise<void> {
    const { log } = this
    const dirt = await log.cleaning.dirt(log.lastStableOffset(log.logEndOffset))
    if (!dirt) return
    ok(dirt.due)
    this.cleanedTo = Math.max(this.cleanedTo, dirt.firstUncleanableOffset)
    const full = this.random() < 0.3
    const { endOffset, mapUse } = await log.cleaning.clean(dirt, this.tools(full ? 500 : 1_000_000))
    ok(endOffset > dirt.firstDirtyOffset || mapUse === 1)
    ok(endOffset <= dirt.firstUncleanableOffset)
    if (!full) strictEqual(endOffset, dirt.firstUncleanableOffset)
  }

  tools(mapBytes: number): PassTools {
    const memory = { mapBytes, mapLoadFactor: 0.9, chunkBytes: 100 + this.workload.below(3000) }
    return { memory, throttle: async () => {}, pause: async () => {} }
  }

  async cleanBesideAppends(): Promise<void> {
    const cleaning = this.clean()
    await this.append(5)
    await this.checkReads()
    await cleaning
  }

  async cleanBesideCut(): Promise<void> {
    const cleaning = this.clean().catch(error => ok(error instanceof CleaningAborted, String(error)))
    if (this.random() < 0.5) {
      const { logStartOffset, logEndOffset } = this.log
      await this.log.raiseLogStartOffset(logStartOffset + this.workload.below((logEndOffset - logStartOffset) / 3))
    } else {
      await this.restart()
    }
    await cleaning
  }

  async wait(): Promise<void> {
    await this.clock.advance(this.workload.below(DELETE_RETENTION_MS))
  }

  async restart(): Promise<void> {
    await this.#store?.close()
    await verifyIndexFiles(this.fs, '/data/t-0')
    await this.open()
  }

  /** Everything fails from some operation of a cleaning on; the machine loses power, or the process is killed. */
  async crashAmidCleaning(): Promise<void> {
    await this.log.flush()
    let left = this.workload.below(120)
    this.fs.failWhen = () => (left-- <= 0 ? systemError('EIO', 'power loss') : undefined)
    await this.clean().catch(() => {})
    if (this.random() < 0.3) this.fs.kill()
    else this.fs.crash(this.random)
    this.fs.failWhen = () => undefined
    await this.open()
  }

  async step(): Promise<void> {
    const steps = [
      this.append,
      this.append,
      this.append,
      this.clean,
      this.cleanBesideAppends,
      this.cleanBesideCut,
      this.wait,
      this.restart,
      this.crashAmidCleaning,
    ]
    const step = steps[this.workload.below(steps.length)] ?? this.append
    this.trace.push(step.name)
    await step.call(this)
  }

  async check(): Promise<void> {
    const { log, workload } = this
    strictEqual(log.logEndOffset, workload.endOffset)
    deepStrictEqual(log.lastStableOffset(log.logEndOffset), Math.max(log.logStartOffset, workload.stableOffset))
    for (const { producerId, epoch, nextSequence } of workload.producers.values()) {
      if (nextSequence === 0) continue
      const entry = [...log.producers()].find(entry => entry.producerId === producerId)
      deepStrictEqual([entry?.producerEpoch, entry?.lastBatch?.lastSequence], [epoch, nextSequence - 1])
    }
    await this.checkReads()
  }

  async checkReads(): Promise<void> {
    const { log, workload } = this
    const start = log.logStartOffset
    const bound = log.logEndOffset
    const all = await readRecords(log, { start, bound, committed: false })
    const appended = new Map(workload.records.map(record => [record.offset, record]))
    for (const record of all) deepStrictEqual(record, factsOf(appended.get(record.offset)))
    const untouched = workload.records.filter(
      ({ offset }) => offset >= Math.max(start, this.cleanedTo) && offset < bound,
    )
    deepStrictEqual(
      all.filter(({ offset }) => offset >= this.cleanedTo),
      untouched.map(factsOf),
    )
    const from = start + workload.below(Math.max(1, workload.stableOffset - start))
    const stable = log.lastStableOffset(bound)
    const seen = await readRecords(log, { start: from, bound: stable, committed: true })
    const visible = workload.committed(from).filter(({ offset }) => offset < stable)
    const offsets = new Set(visible.map(({ offset }) => offset))
    for (const { offset } of seen) ok(offsets.has(offset), `${offset} was aborted`)
    this.#checkLatest(seen, visible)
  }

  #checkLatest(seen: readonly { key: string | null; offset: number }[], visible: readonly ModelRecord[]): void {
    const latest = new Map(visible.map(record => [record.key, record]))
    const found = new Map(seen.map(record => [record.key, record]))
    for (const [key, { offset, value, appendedMs }] of latest) {
      const mayBeGone = value === null && this.clock.nowMs() >= appendedMs + DELETE_RETENTION_MS
      const actual = found.get(key)
      if (actual || !mayBeGone) strictEqual(actual?.offset, offset, `the last record of ${key} is at ${offset}`)
    }
  }
}

const factsOf = (record: ModelRecord | undefined) =>
  record && { offset: record.offset, timestamp: record.timestamp, key: record.key, value: record.value }

const [first = 1, last = 30] = (process.env['LOG_SEEDS'] ?? '1-8').split('-').map(Number)

test('whatever is cleaned, and whenever it is interrupted, readers find the last value of every key and nothing aborted', async () => {
  for (let seed = first; seed <= last; seed++) {
    const run = new Run(seed)
    try {
      await run.open()
      for (let step = 0; step < 50; step++) {
        await run.step()
        await run.check()
      }
    } catch (error) {
      throw new Error(`seed ${seed}: ${run.trace.slice(-15).join(', ')}`, { cause: error })
    }
  }
})

/** The log of a seed, with everything decided and a closed last segment. */
async function filled(seed: number): Promise<Run> {
  const run = new Run(seed)
  await run.open()
  await run.append(14)
  await run.clean()
  await run.clock.advance(DELETE_RETENTION_MS + 1)
  await run.append(14)
  for (const bytes of run.workload.endAll(run.clock.nowMs())) await run.put(bytes)
  await run.log.flush()
  return run
}

test('a crash at any file system call of a cleaning loses nothing', async () => {
  for (const how of ['kill', 'crash'] as const) {
    for (let calls = 0; ; calls += how === 'kill' ? 1 : 4) {
      const run = await filled(7)
      let left = calls
      run.fs.failWhen = () => (left-- <= 0 ? systemError('EIO', 'power loss') : undefined)
      const done = await run.clean().then(
        () => left >= 0,
        () => false,
      )
      run.fs[how](seededRandom(calls))
      run.fs.failWhen = () => undefined
      await run.open()
      await run.check()
      await run.clean()
      await run.restart()
      await run.check()
      if (done) break
    }
  }
})
