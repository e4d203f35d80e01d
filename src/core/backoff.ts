import type { Random } from './random.ts'

/** Exponential backoff with jitter: the wait before each retry of one thing that keeps failing. */
export class Backoff {
  readonly #initialMs: number
  readonly #maxMs: number
  readonly #random: Random
  #attempts = 0

  constructor(options: { initialMs: number; maxMs: number; random: Random }) {
    this.#initialMs = options.initialMs
    this.#maxMs = options.maxMs
    this.#random = options.random
  }

  /** Consecutive failures so far. */
  get attempts(): number {
    return this.#attempts
  }

  /** The wait before the next retry: doubles per failure up to the bound, ±20 %. */
  nextMs(): number {
    const base = Math.min(this.#maxMs, this.#initialMs * 2 ** Math.min(this.#attempts, 30))
    this.#attempts++
    return Math.round(base * (0.8 + 0.4 * this.#random()))
  }

  /** Call after a success. */
  reset(): void {
    this.#attempts = 0
  }
}
