/** Decides which small reads and writes run in the calling thread instead of the pool; node-file-system.ts asks it, and the start of a joined node. */
import type { Clock } from '../core/clock.ts'

/**
 * Larger ones are better copied by another thread meanwhile. Handing one over costs 50 µs and more of two threads, and on a busy
 * machine the wait for both; the system's cache takes this much in 10 µs.
 */
const BYTES_MAX = 64 * 1024
/** What takes longer was not served by the system's cache alone, or this thread lost its processor meanwhile. */
const QUICK_MS = 1
/** Slow operations may take so much of this thread's time: beyond it, and once DEBT_MS_MAX are used up, the pool does the work. */
const SHARE_MAX = 0.1
const DEBT_MS_MAX = 50

export class CallingThread {
  readonly #clock: Clock
  /** Time that slow operations took, paid back as time goes by. */
  #debtMs = 0
  #reckonedMs = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** May an operation on so many bytes, which the system's cache probably serves, run here? */
  allows(bytes: number): boolean {
    if (bytes > BYTES_MAX) return false
    return this.#debtMs === 0 || this.#reckon(this.#clock.monotonicMs()) < DEBT_MS_MAX
  }

  /** Runs it, and learns from how long it took. */
  run<T>(operation: () => T): T {
    const beganMs = this.#clock.monotonicMs()
    try {
      return operation()
    } finally {
      const endedMs = this.#clock.monotonicMs()
      const tookMs = endedMs - beganMs
      if (tookMs > QUICK_MS) this.#debtMs = this.#reckon(endedMs) + tookMs
    }
  }

  #reckon(nowMs: number): number {
    this.#debtMs = Math.max(0, this.#debtMs - (nowMs - this.#reckonedMs) * SHARE_MAX)
    this.#reckonedMs = nowMs
    return this.#debtMs
  }
}

/** Does a part of a start with all small reads in the calling thread (`NodeFileSystem.blocking`), and none after it, however that ends. */
export async function inCallingThread<T>(fs: { blocking: boolean }, work: () => Promise<T>): Promise<T> {
  fs.blocking = true
  try {
    return await work()
  } finally {
    fs.blocking = false
  }
}
