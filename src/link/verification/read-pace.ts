/** How fast a verification reads from the source, so that mirroring and other clients go on; one per verification. */
import { type Clock, sleep } from '../../core/clock.ts'

export class ReadPace {
  readonly #clock: Clock
  readonly #bytesPerSecond: number
  #freeAtMs = 0

  constructor(clock: Clock, bytesPerSecond: number) {
    this.#clock = clock
    this.#bytesPerSecond = bytesPerSecond
  }

  /** Resolves when the next read may begin, or the signal is aborted; what was read is paid for afterwards. */
  async turn(signal: AbortSignal): Promise<void> {
    const waitMs = this.#freeAtMs - this.#clock.monotonicMs()
    if (waitMs > 0) await sleep(this.#clock, waitMs, signal)
  }

  pay(bytes: number): void {
    this.#freeAtMs = Math.max(this.#freeAtMs, this.#clock.monotonicMs()) + (bytes * 1000) / this.#bytesPerSecond
  }
}
