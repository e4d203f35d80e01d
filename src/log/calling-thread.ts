/** Decides which small reads and writes run in the calling thread instead of the pool; node-file-system.ts asks it. */
import type { Clock } from '../core/clock.ts'

/**
 * Larger ones are better copied by another thread meanwhile. Handing one over costs 50 µs and more of two threads, and on a busy
 * machine the wait for both; the system's cache takes this much in 10 µs.
 */
const BYTES_MAX = 64 * 1024
/** An operation that took longer than this was not served by the system's cache alone. */
const QUICK_MS = 1
/** For so many times of what a slow one took, the pool does the work: a sick disk holds up a tenth of this thread at most. */
const PAUSE_FACTOR = 10
const PAUSE_MS_MAX = 30_000

export class CallingThread {
  readonly #clock: Clock
  #pausedUntilMs = Number.NEGATIVE_INFINITY

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** May an operation on so many bytes, which the system's cache probably serves, run here? */
  allows(bytes: number): boolean {
    return bytes <= BYTES_MAX && (this.#pausedUntilMs < 0 || this.#clock.monotonicMs() >= this.#pausedUntilMs)
  }

  /** Runs it, and learns from how long it took. */
  run<T>(operation: () => T): T {
    const beganMs = this.#clock.monotonicMs()
    try {
      return operation()
    } finally {
      const endedMs = this.#clock.monotonicMs()
      const tookMs = endedMs - beganMs
      if (tookMs > QUICK_MS) this.#pausedUntilMs = endedMs + Math.min(tookMs * PAUSE_FACTOR, PAUSE_MS_MAX)
    }
  }
}
