/** Those who wait until a partition's high watermark reaches an offset; Partition owns one and tells it every advance. */
import type { Clock } from '../core/clock.ts'

/** How a wait ended: the offset was reached, the time was up, or the partition is not led here any more. */
export type WaitResult = 'reached' | 'timeout' | 'gone'

interface Waiter {
  readonly offset: number
  readonly finish: (result: WaitResult) => void
}

export class OffsetWaiters {
  readonly #waiters = new Set<Waiter>()

  get size(): number {
    return this.#waiters.size
  }

  /** Resolves when `advance` is called with at least `offset`, after `timeoutMs`, or on `close`. */
  wait(offset: number, until: { readonly timeoutMs: number; readonly clock: Clock }): Promise<WaitResult> {
    return new Promise(resolve => {
      const waiter: Waiter = {
        offset,
        finish: result => {
          timer.cancel()
          this.#waiters.delete(waiter)
          resolve(result)
        },
      }
      const timer = until.clock.after(until.timeoutMs, () => waiter.finish('timeout'))
      this.#waiters.add(waiter)
    })
  }

  advance(offset: number): void {
    for (const waiter of this.#waiters) if (waiter.offset <= offset) waiter.finish('reached')
  }

  close(): void {
    for (const waiter of this.#waiters) waiter.finish('gone')
  }
}
