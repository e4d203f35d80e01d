/** Tokens that refill at a rate up to a burst and may be overdrawn once; mutations of the metadata are paid with them (KIP-599). */
import type { SampleWindows } from '../../core/sampled-rate.ts'

export class TokenBucket {
  readonly #windows: SampleWindows
  #tokens = 0
  #refilledMs: number | undefined

  /** @param windows together as long as the bucket takes to fill */
  constructor(windows: SampleWindows) {
    this.#windows = windows
  }

  /** Takes tokens, also ones that are not there. */
  take(count: number, of: { readonly rate: number; readonly nowMs: number }): void {
    this.#refill(of)
    this.#tokens -= count
  }

  /** Until there is no debt; 0 without. */
  debtMs(of: { readonly rate: number; readonly nowMs: number }): number {
    this.#refill(of)
    return this.#tokens >= 0 ? 0 : Math.round((-this.#tokens / of.rate) * 1000)
  }

  #refill({ rate, nowMs }: { readonly rate: number; readonly nowMs: number }): void {
    const burst = (this.#windows.count * this.#windows.sizeMs * rate) / 1000
    const since = this.#refilledMs
    this.#tokens = since === undefined ? burst : Math.min(burst, this.#tokens + (rate * (nowMs - since)) / 1000)
    this.#refilledMs = nowMs
  }
}
