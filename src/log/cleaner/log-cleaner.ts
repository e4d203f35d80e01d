/** Chooses the dirtiest log and cleans it, again and again, as Kafka's cleaner threads do; a node has one (replica/log-cleaning.ts). */
import { type Clock, sleep } from '../../core/clock.ts'
import { messageOf } from '../../core/errors.ts'
import type { Logger } from '../../core/logger.ts'
import { LogError, systemCode } from '../log-error.ts'
import { CleaningAborted } from './cleaning-plan.ts'
import type { Dirt } from './dirt.ts'
import { IoThrottle } from './io-throttle.ts'
import type { CleaningResult, LogCleaning, PassTools } from './log-cleaning.ts'

/** Kafka's `log.cleaner.*`; they may change while the cleaner runs. */
export interface CleanerSettings {
  /** `log.cleaner.threads`: logs cleaned at a time; 0 = none. */
  readonly threads: number
  /** `log.cleaner.backoff.ms`: between two looks while nothing is due. */
  readonly backoffMs: number
  /** `log.cleaner.dedupe.buffer.size`, for all threads together. */
  readonly dedupeBufferBytes: number
  /** `log.cleaner.io.buffer.load.factor` */
  readonly dedupeBufferLoadFactor: number
  /** `log.cleaner.io.buffer.size`, for all threads together. */
  readonly ioBufferBytes: number
  /** `log.cleaner.io.max.bytes.per.second`, reads and writes. */
  readonly ioBytesPerSecondMax: number
}

/** A partition whose log may be compacted. */
export interface CleanablePartition {
  /** `orders-3` */
  readonly name: string
  readonly log: { readonly cleaning: LogCleaning; readonly config: { readonly compacts: boolean } }
  /** Nothing at or above it is cleaned. */
  readonly lastStableOffset: number
}

export interface LogCleanerOptions<P extends CleanablePartition> {
  /** Those of the node, asked before each choice. */
  readonly partitions: () => Iterable<P>
  /** A log failed and must be opened again. */
  readonly failed: (partition: P, error: unknown) => void
  readonly settings: () => CleanerSettings
  readonly clock: Clock
  readonly logger: Logger
}

/** Figures for /metrics, named after Kafka's. */
export interface CleanerFigures {
  /** Logs that are not cleaned any more until they are opened again, with the reason. */
  readonly uncleanable: readonly { readonly partition: string; readonly reason: string }[]
  /** Dirty bytes of the dirtiest log at the last look, 0 to 1. */
  readonly dirtiestRatio: number
  /** How long the most overdue log had passed `max.compaction.lag.ms` at the last look. */
  readonly overdueMsMax: number
  readonly msSinceLastLook: number
  readonly passes: number
  readonly bytesRead: number
  readonly bytesWritten: number
  readonly recordsRemoved: number
}

/** How long the cleaner runs before others may. */
const SLICE_MS = 5

export class LogCleaner<P extends CleanablePartition> {
  readonly #o: LogCleanerOptions<P>
  readonly #logger: Logger
  readonly #throttle: IoThrottle
  readonly #abort = new AbortController()
  readonly #threads: Promise<void>[] = []
  readonly #busy = new Set<LogCleaning>()
  /** Damaged logs, with the reason: cleaning them again and again would not help. */
  readonly #uncleanable = new Map<LogCleaning, { readonly partition: string; readonly reason: string }>()
  #counts = { passes: 0, bytesRead: 0, bytesWritten: 0, recordsRemoved: 0 }
  #dirtiestRatio = 0
  #overdueMsMax = 0
  #lookedMs: number

  constructor(options: LogCleanerOptions<P>) {
    this.#o = options
    this.#logger = options.logger.child({ component: 'cleaner' })
    this.#throttle = new IoThrottle(options.clock, options.settings().ioBytesPerSecondMax)
    this.#lookedMs = options.clock.monotonicMs()
    this.#startThreads()
  }

  /** Resolves when nothing is being cleaned any more. Passes under way end at their logs' close at the latest. */
  async close(): Promise<void> {
    this.#abort.abort()
    await Promise.all(this.#threads)
  }

  get figures(): CleanerFigures {
    return {
      ...this.#counts,
      uncleanable: [...this.#uncleanable.values()],
      dirtiestRatio: this.#dirtiestRatio,
      overdueMsMax: this.#overdueMsMax,
      msSinceLastLook: this.#o.clock.monotonicMs() - this.#lookedMs,
    }
  }

  /** Cleans the dirtiest log that is due; resolves to whether there was one. */
  async cleanOne(): Promise<boolean> {
    const chosen = await this.#choose()
    if (!chosen) return false
    const { partition, dirt } = chosen
    const { cleaning } = partition.log
    if (this.#busy.has(cleaning)) return true
    this.#busy.add(cleaning)
    try {
      const startMs = this.#o.clock.monotonicMs()
      const result = await cleaning.clean(dirt, this.#tools())
      this.#cleaned(partition, result, this.#o.clock.monotonicMs() - startMs)
      return true
    } catch (error) {
      return this.#notCleaned(partition, error)
    } finally {
      this.#busy.delete(cleaning)
    }
  }

  /** At least one, which sees when more are wanted. */
  #startThreads(): void {
    const wanted = Math.max(1, this.#o.settings().threads)
    while (this.#threads.length < wanted) this.#threads.push(this.#work(this.#threads.length))
  }

  async #work(thread: number): Promise<void> {
    const { signal } = this.#abort
    // Not while the node is starting.
    await sleep(this.#o.clock, this.#o.settings().backoffMs, signal)
    while (!signal.aborted) {
      this.#startThreads()
      const isWanted = thread < this.#o.settings().threads
      if (isWanted && (await this.cleanOne())) continue
      await sleep(this.#o.clock, this.#o.settings().backoffMs, signal)
    }
  }

  async #choose(): Promise<{ partition: P; dirt: Dirt } | undefined> {
    let chosen: { partition: P; dirt: Dirt } | undefined
    let dirtiest = 0
    let overdueMs = 0
    const known = new Set<LogCleaning>()
    for (const partition of [...this.#o.partitions()]) {
      const { cleaning, config } = partition.log
      known.add(cleaning)
      if (this.#abort.signal.aborted) return undefined
      if (!config.compacts || this.#busy.has(cleaning) || this.#uncleanable.has(cleaning)) continue
      // A log that is just being cut or closed: another time.
      const dirt = await cleaning.dirt(partition.lastStableOffset).catch(() => undefined)
      if (!dirt) continue
      dirtiest = Math.max(dirtiest, dirt.ratio)
      overdueMs = Math.max(overdueMs, dirt.overdueMs)
      if (dirt.due && dirt.ratio > (chosen?.dirt.ratio ?? -1)) chosen = { partition, dirt }
    }
    for (const cleaning of this.#uncleanable.keys()) if (!known.has(cleaning)) this.#uncleanable.delete(cleaning)
    this.#dirtiestRatio = dirtiest
    this.#overdueMsMax = overdueMs
    this.#lookedMs = this.#o.clock.monotonicMs()
    return chosen
  }

  #tools(): PassTools {
    const { threads, dedupeBufferBytes, dedupeBufferLoadFactor, ioBufferBytes, ioBytesPerSecondMax } =
      this.#o.settings()
    const { clock } = this.#o
    const { signal } = this.#abort
    this.#throttle.bytesPerSecond = ioBytesPerSecondMax
    let sliceMs = clock.monotonicMs()
    return {
      memory: {
        mapBytes: Math.floor(dedupeBufferBytes / threads),
        mapLoadFactor: dedupeBufferLoadFactor,
        chunkBytes: Math.max(1, Math.floor(ioBufferBytes / threads / 2)),
      },
      stop: signal,
      throttle: bytes => this.#throttle.take(bytes, signal),
      pause: async () => {
        if (clock.monotonicMs() - sliceMs < SLICE_MS) return
        await new Promise<void>(resolve => setImmediate(resolve))
        sliceMs = clock.monotonicMs()
      },
    }
  }

  #cleaned({ name }: P, result: CleaningResult, elapsedMs: number): void {
    const recordsRemoved = result.recordsRead - result.recordsKept
    this.#counts.passes++
    this.#counts.bytesRead += result.bytesRead
    this.#counts.bytesWritten += result.bytesWritten
    this.#counts.recordsRemoved += recordsRemoved
    this.#logger.info('log cleaned', { partition: name, ...result, recordsRemoved, elapsedMs: Math.round(elapsedMs) })
    if (result.invalidRecords > 0)
      this.#logger.warn('records without key were removed', { partition: name, records: result.invalidRecords })
  }

  /** Resolves to whether the next log may follow at once. */
  #notCleaned(partition: P, error: unknown): boolean {
    const { name } = partition
    if (error instanceof CleaningAborted) {
      this.#logger.debug('cleaning given up', { partition: name, reason: error.message })
      return false
    }
    if (error instanceof LogError && error.failed) {
      this.#o.failed(partition, error)
      return false
    }
    const reason = messageOf(error)
    const isDisk = (error instanceof LogError && error.kind !== 'corrupt') || systemCode(error) !== undefined
    if (isDisk) {
      this.#logger.warn('cleaning failed; it is tried again', { partition: name, reason })
      return false
    }
    this.#uncleanable.set(partition.log.cleaning, { partition: name, reason })
    this.#logger.error('a log cannot be cleaned and grows until it is opened again', { partition: name, reason })
    return true
  }
}
