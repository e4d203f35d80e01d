/** Time as an argument: every component that waits or stamps receives a Clock; tests pass a ManualClock. */

/** A pending timer; `cancel` is idempotent. */
export interface Timer {
  cancel(): void
}

export interface Clock {
  /** Wall clock, milliseconds since 1970 UTC. May jump: never use it to measure a duration. */
  nowMs(): number
  /** Monotonic milliseconds since an arbitrary point; for durations and deadlines. */
  monotonicMs(): number
  /** Runs `action` once after `delayMs` (≥ 0; beyond 24 days it may run early). A pending timer does not keep the process alive. */
  after(delayMs: number, action: () => void): Timer
}

/** What setTimeout can wait; a longer delay would fire at once. */
const TIMEOUT_MS_MAX = 2 ** 31 - 1

export const systemClock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  after(delayMs, action) {
    const handle = setTimeout(action, Math.min(delayMs, TIMEOUT_MS_MAX))
    handle.unref()
    return { cancel: () => clearTimeout(handle) }
  },
}

/** Resolves after `delayMs`, or at once (without an error) when `signal` aborts. */
export function sleep(clock: Clock, delayMs: number, signal?: AbortSignal): Promise<void> {
  return new Promise(resolve => {
    if (signal?.aborted) return resolve()
    const done = () => {
      timer.cancel()
      signal?.removeEventListener('abort', done)
      resolve()
    }
    const timer = clock.after(delayMs, done)
    signal?.addEventListener('abort', done, { once: true })
  })
}

/** A clock that moves only when `advance` is called. Timers fire in the order of their deadlines. */
export class ManualClock implements Clock {
  #now: number
  #monotonic = 0
  #timers: { at: number; action: () => void }[] = []

  constructor(startMs = 1_700_000_000_000) {
    this.#now = startMs
  }

  nowMs(): number {
    return this.#now
  }

  monotonicMs(): number {
    return this.#monotonic
  }

  after(delayMs: number, action: () => void): Timer {
    const timer = { at: this.#monotonic + Math.max(0, delayMs), action }
    this.#timers.push(timer)
    return {
      cancel: () => {
        this.#timers = this.#timers.filter(other => other !== timer)
      },
    }
  }

  /** Number of timers that have not fired. */
  get pending(): number {
    return this.#timers.length
  }

  /** Somebody sets the wall clock, forward or back; no time passes. */
  setWallClock(ms: number): void {
    this.#now = ms
  }

  /** Moves both clocks by `ms`, firing what falls due; awaits between timers so that promise chains can run. */
  async advance(ms: number): Promise<void> {
    const end = this.#monotonic + ms
    for (;;) {
      await new Promise<void>(resolve => setImmediate(resolve))
      const due = this.#timers.filter(timer => timer.at <= end).sort((a, b) => a.at - b.at)[0]
      if (!due) break
      this.#timers = this.#timers.filter(other => other !== due)
      this.#now += due.at - this.#monotonic
      this.#monotonic = due.at
      due.action()
    }
    this.#now += end - this.#monotonic
    this.#monotonic = end
    await new Promise<void>(resolve => setImmediate(resolve))
  }
}
