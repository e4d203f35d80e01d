/** Slows down who guesses passwords: each failure of an address takes longer than the one before, and only so many may wait. Used by the logins of REST. */
import { type Clock, sleep } from '../../core/clock.ts'

const DELAY_MS_MIN = 100
const DELAY_MS_MAX = 5000
/** Failures of one address that may wait at a time; more are refused unseen. */
const WAITING_MAX = 10
/** A failure is forgotten after this. */
const FORGET_MS = 300_000
const ADDRESSES_MAX = 10_000

interface Failures {
  count: number
  waiting: number
  lastMs: number
}

export class FailedLogins {
  readonly #clock: Clock
  readonly #addresses = new Map<string, Failures>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Must the next login of this address be refused without a look at it? */
  isLimited(address: string): boolean {
    return (this.#addresses.get(address)?.waiting ?? 0) >= WAITING_MAX
  }

  /**
   * Counts a failure of a login that began at `sinceMs` (monotonic) and resolves when it may be answered; to how many there
   * were. The time of the check is part of the wait: how long an answer takes says nothing about whether the user exists.
   */
  async failed(address: string, sinceMs: number): Promise<number> {
    const failures = this.#of(address)
    failures.count++
    failures.lastMs = this.#clock.monotonicMs()
    const { count } = failures
    failures.waiting++
    const delayMs = Math.min(DELAY_MS_MAX, DELAY_MS_MIN * 2 ** Math.min(count - 1, 16))
    await sleep(this.#clock, Math.max(0, sinceMs + delayMs - this.#clock.monotonicMs()))
    failures.waiting--
    return count
  }

  succeeded(address: string): void {
    const failures = this.#addresses.get(address)
    if (failures?.waiting === 0) this.#addresses.delete(address)
  }

  #of(address: string): Failures {
    const known = this.#addresses.get(address)
    // Moved to the end: the order is that of the last failure.
    this.#addresses.delete(address)
    const isFresh = known !== undefined && this.#clock.monotonicMs() - known.lastMs < FORGET_MS
    const failures = known && (isFresh || known.waiting > 0) ? known : { count: 0, waiting: 0, lastMs: 0 }
    this.#addresses.set(address, failures)
    for (const oldest of this.#addresses.keys()) {
      if (this.#addresses.size <= ADDRESSES_MAX) break
      this.#addresses.delete(oldest)
    }
    return failures
  }
}
