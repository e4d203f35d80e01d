/** Keeps the cleaner's reads and writes under `log.cleaner.io.max.bytes.per.second`; LogCleaner has one for all its threads. */
import { type Clock, sleep } from '../../core/clock.ts'

/** Shorter waits are saved up. */
const WAIT_MS_MIN = 20

export class IoThrottle {
  readonly #clock: Clock
  /** May change at any time. */
  bytesPerSecond: number
  /** When everything taken so far is paid for, on the monotonic clock. */
  #paidMs = 0

  constructor(clock: Clock, bytesPerSecond: number) {
    this.#clock = clock
    this.bytesPerSecond = bytesPerSecond
  }

  /** Resolves when so many bytes may have been moved, or at once when `signal` aborts. */
  async take(bytes: number, signal: AbortSignal): Promise<void> {
    const nowMs = this.#clock.monotonicMs()
    this.#paidMs = Math.max(this.#paidMs, nowMs) + (bytes / this.bytesPerSecond) * 1000
    const waitMs = this.#paidMs - nowMs
    if (waitMs >= WAIT_MS_MIN) await sleep(this.#clock, waitMs, signal)
  }
}
