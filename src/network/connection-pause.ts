/** How long a connection whose client is over its quota begins no further request; one per ServerConnection. */
import { type Clock, sleep } from '../core/clock.ts'

export class ConnectionPause {
  readonly #clock: Clock
  readonly #cancelled = new AbortController()
  #untilMs = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Of pauses that overlap the longest counts. */
  extend(ms: number): void {
    this.#untilMs = Math.max(this.#untilMs, this.#clock.monotonicMs() + ms)
  }

  get isActive(): boolean {
    return this.#untilMs > 0
  }

  /** Ends it for good: the connection shall close. */
  cancel(): void {
    this.#cancelled.abort()
  }

  /** Resolves when it is over, cancelled, or `signal` is aborted. */
  async end(signal: AbortSignal): Promise<void> {
    const ended = AbortSignal.any([signal, this.#cancelled.signal])
    const leftMs = () => this.#untilMs - this.#clock.monotonicMs()
    for (let ms = leftMs(); ms > 0 && !ended.aborted; ms = leftMs()) await sleep(this.#clock, ms, ended)
    this.#untilMs = 0
  }
}
