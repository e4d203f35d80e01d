/** A deadline that is moved often (each heartbeat) and seldom met: moving it costs no timer; sessions of group members use it. */
import type { Clock, Timer } from '../../core/clock.ts'

export class DeadlineTimer {
  readonly #clock: Clock
  readonly #expired: () => void
  #deadlineMs = 0
  #firesMs = 0
  #timer: Timer | undefined

  constructor(clock: Clock, expired: () => void) {
    this.#clock = clock
    this.#expired = expired
  }

  /** Calls `expired` after `delayMs` unless it is restarted or cancelled before. */
  restart(delayMs: number): void {
    this.#deadlineMs = this.#clock.monotonicMs() + delayMs
    if (this.#timer && this.#firesMs <= this.#deadlineMs) return
    this.#timer?.cancel()
    this.#arm()
  }

  cancel(): void {
    this.#timer?.cancel()
    this.#timer = undefined
  }

  #arm(): void {
    this.#firesMs = this.#deadlineMs
    this.#timer = this.#clock.after(Math.max(0, this.#deadlineMs - this.#clock.monotonicMs()), () => {
      this.#timer = undefined
      // A timer may fire a fraction of a millisecond early.
      if (this.#clock.monotonicMs() + 1 <= this.#deadlineMs) this.#arm()
      else this.#expired()
    })
  }
}
