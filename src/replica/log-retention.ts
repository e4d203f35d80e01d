/** Deletes old segments of all partitions now and then (`retention.ms`, `retention.bytes`); the node starts one. */
import type { Clock, Timer } from '../core/clock.ts'
import type { Logger } from '../core/logger.ts'
import { isStorageFailure } from './log-failure.ts'
import type { Partition } from './partition.ts'
import type { RetentionGate } from './retention-gate.ts'

export interface LogRetentionOptions {
  /** Those that this node leads, and whom to tell of a log that cannot be written. */
  readonly replicas: {
    readonly partitions: Iterable<Partition>
    storageFailed(partition: Partition, error: unknown): void
  }
  readonly gate: RetentionGate
  /** `log.retention.check.interval.ms` */
  readonly intervalMs: number
  readonly clock: Clock
  readonly logger: Logger
}

/** Kafka's delay before the first look. */
const FIRST_DELAY_MS = 30_000
/** The wall clock went so much further than time itself between two looks: somebody set it, or the machine slept. */
const CLOCK_JUMP_MS = 3_600_000
/** How long nothing is deleted for its age after that: time to notice a clock that is wrong. */
const AFTER_JUMP_MS = 3_600_000

/** One partition after the other: retention is in no hurry, and must not keep the disk from those who wait. */
export class LogRetention {
  readonly #o: LogRetentionOptions
  readonly #logger: Logger
  #timer: Timer
  #running: Promise<void> | undefined
  #closed = false
  #lastLook: { readonly wallMs: number; readonly monotonicMs: number }
  #ageCountsFromMs = 0

  constructor(options: LogRetentionOptions) {
    this.#lastLook = lookAt(options.clock)
    this.#o = options
    this.#logger = options.logger.child({ component: 'retention' })
    this.#timer = this.#after(Math.min(FIRST_DELAY_MS, options.intervalMs))
  }

  /** Resolves when nothing is being deleted any more. */
  async close(): Promise<void> {
    this.#closed = true
    this.#timer.cancel()
    await this.#running
  }

  #after(delayMs: number): Timer {
    return this.#o.clock.after(delayMs, () => {
      this.#running = this.#sweep().finally(() => {
        this.#running = undefined
        if (!this.#closed) this.#timer = this.#after(this.#o.intervalMs)
      })
    })
  }

  /** The time by which segments may be judged; undefined while the wall clock may be wrong by more than data can take. */
  #trustedTime(): number | undefined {
    const before = this.#lastLook
    const now = lookAt(this.#o.clock)
    this.#lastLook = now
    const jumpMs = now.wallMs - before.wallMs - (now.monotonicMs - before.monotonicMs)
    if (jumpMs > CLOCK_JUMP_MS) {
      this.#ageCountsFromMs = now.monotonicMs + AFTER_JUMP_MS
      this.#logger.warn('the clock jumped forward: for an hour nothing is deleted because of its age', {
        jumpMs: Math.round(jumpMs),
      })
    } else if (jumpMs < -CLOCK_JUMP_MS) this.#ageCountsFromMs = now.monotonicMs
    return now.monotonicMs >= this.#ageCountsFromMs ? now.wallMs : undefined
  }

  async #sweep(): Promise<void> {
    const nowMs = this.#trustedTime()
    for (const partition of [...this.#o.replicas.partitions]) {
      if (this.#closed) return
      if (!this.#isBounded(partition)) continue
      try {
        await partition.writes.run(() => this.#apply(partition, nowMs))
      } catch (error) {
        if (!partition.unavailable && isStorageFailure(error)) this.#o.replicas.storageFailed(partition, error)
      }
    }
  }

  #isBounded({ topicId, settings }: Partition): boolean {
    const { retentionMs, retentionBytes } = this.#o.gate.limitsOf(topicId) ?? settings
    return settings.deletes && (retentionMs >= 0 || retentionBytes >= 0)
  }

  /** In turn with the writes of the partition, so that the answer of the gate still holds. */
  async #apply(partition: Partition, nowMs: number | undefined): Promise<void> {
    const { topicId, topic, name, log, highWatermark } = partition
    if (partition.unavailable || !this.#o.gate.mayDelete(topicId, topic)) return
    const before = log.logStartOffset
    await log.applyRetention(highWatermark, { nowMs, limits: this.#o.gate.limitsOf(topicId) })
    const { logStartOffset } = log
    if (logStartOffset === before) return
    partition.logStartMoved()
    this.#logger.info('old segments deleted', { partition: name, from: before, logStartOffset })
  }
}

const lookAt = (clock: Clock) => ({ wallMs: clock.nowMs(), monotonicMs: clock.monotonicMs() })
