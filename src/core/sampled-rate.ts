/** A rate over a sliding window made of samples, as Kafka's quotas measure it; quotas of the broker and of its listeners are held with it. */

export interface SampleWindows {
  /** Samples in the window, the one being filled included. */
  readonly count: number
  readonly sizeMs: number
}

interface Sample {
  readonly startMs: number
  value: number
}

/** Times are monotonic milliseconds and do not go back. */
export class SampledRate {
  readonly #windows: SampleWindows
  #samples: Sample[] = []

  constructor(windows: SampleWindows) {
    this.#windows = windows
  }

  /** @param value may be negative: what was recorded is taken back */
  record(value: number, nowMs: number): void {
    this.#forget(nowMs)
    const last = this.#samples.at(-1)
    if (last && nowMs - last.startMs < this.#windows.sizeMs) last.value += value
    else this.#samples.push({ startMs: nowMs, value })
  }

  /** Per second. A window that has hardly begun counts as if all but one of its samples were over, so that a burst at the start is none. */
  perSecond(nowMs: number): number {
    this.#forget(nowMs)
    const sum = this.#samples.reduce((total, { value }) => total + value, 0)
    return (sum * 1000) / this.#elapsedMs(nowMs)
  }

  /** How long nothing may be recorded for the rate to be back at `bound`; 0 if it is not above. */
  excessMs(bound: number, nowMs: number): number {
    const rate = this.perSecond(nowMs)
    return rate <= bound ? 0 : Math.round(((rate - bound) / bound) * this.#elapsedMs(nowMs))
  }

  #elapsedMs(nowMs: number): number {
    const { count, sizeMs } = this.#windows
    const elapsed = nowMs - (this.#samples[0]?.startMs ?? nowMs)
    const missing = Math.max(0, count - 1 - Math.floor(elapsed / sizeMs))
    return Math.max(sizeMs, elapsed + missing * sizeMs)
  }

  #forget(nowMs: number): void {
    const { count, sizeMs } = this.#windows
    const [oldest] = this.#samples
    if (oldest && nowMs - oldest.startMs >= count * sizeMs)
      this.#samples = this.#samples.filter(({ startMs }) => nowMs - startMs < count * sizeMs)
  }
}
