// Waits until an assertion holds; the only way in which test code waits for something it cannot await.
import { setTimeout as delay } from 'node:timers/promises'

/** How long and how often to try. */
export interface EventuallyOptions {
  /** Give up after this long and throw what the last try threw; default 90 s: a busy machine is slow. */
  readonly timeoutMs?: number
  /** Pause between tries; default 50 ms. */
  readonly intervalMs?: number
}

/** Runs `attempt` until it does not throw and returns its result; after the deadline its last error is thrown. */
export async function eventually<T>(
  attempt: () => Promise<T> | T,
  { timeoutMs = 90_000, intervalMs = 50 }: EventuallyOptions = {},
): Promise<T> {
  const deadline = performance.now() + timeoutMs
  for (;;) {
    try {
      return await attempt()
    } catch (error) {
      if (performance.now() >= deadline) throw error
      await delay(intervalMs)
    }
  }
}
