/** Tries again and again to open logs that failed (full disk, I/O error), each with its own backoff; ReplicaSet owns one. */
import { Backoff } from '../core/backoff.ts'
import type { Clock, Timer } from '../core/clock.ts'
import { type Random, systemRandom } from '../core/random.ts'

const FIRST_DELAY_MS = 1000
const DELAY_MS_MAX = 30_000

export class Reopening {
  readonly #clock: Clock
  readonly #random: Random
  readonly #timers = new Map<string, Timer>()
  readonly #backoffs = new Map<string, Backoff>()
  #closed = false

  constructor(options: { clock: Clock; random?: Random }) {
    this.#clock = options.clock
    this.#random = options.random ?? systemRandom
  }

  /** Runs `attempt` after a while; if it resolves to false, again later. One schedule per key. It must not reject. */
  schedule(key: string, attempt: () => Promise<boolean>): void {
    if (this.#closed || this.#timers.has(key)) return
    const backoff = this.#backoffs.get(key) ?? this.#newBackoff()
    this.#backoffs.set(key, backoff)
    const run = async () => {
      const done = await attempt()
      if (this.#timers.get(key) !== timer) return
      this.#timers.delete(key)
      if (done) this.#backoffs.delete(key)
      else this.schedule(key, attempt)
    }
    const timer = this.#clock.after(backoff.nextMs(), () => void run())
    this.#timers.set(key, timer)
  }

  /** The partition is gone or fine. */
  cancel(key: string): void {
    this.#timers.get(key)?.cancel()
    this.#timers.delete(key)
    this.#backoffs.delete(key)
  }

  close(): void {
    this.#closed = true
    for (const timer of this.#timers.values()) timer.cancel()
    this.#timers.clear()
  }

  #newBackoff(): Backoff {
    return new Backoff({ initialMs: FIRST_DELAY_MS, maxMs: DELAY_MS_MAX, random: this.#random })
  }
}
