/** How long a connection to an address may take to open: longer after every failure in a row (KIP-601); the broker pool asks. */
import type { Random } from '../core/random.ts'

export class ConnectTimeouts {
  readonly #initialMs: number
  readonly #maxMs: number
  readonly #random: Random
  /** Failures in a row by address. */
  readonly #failures = new Map<string, number>()

  constructor(options: { initialMs: number; maxMs: number; random: Random }) {
    this.#initialMs = options.initialMs
    this.#maxMs = Math.max(options.initialMs, options.maxMs)
    this.#random = options.random
  }

  /** Doubles per failure up to the bound; ±20 % from the second attempt on. */
  timeoutMs(address: string): number {
    const failures = this.#failures.get(address) ?? 0
    if (failures === 0) return this.#initialMs
    const timeoutMs = Math.min(this.#maxMs, this.#initialMs * 2 ** Math.min(failures, 20))
    return Math.min(this.#maxMs, Math.round(timeoutMs * (0.8 + 0.4 * this.#random())))
  }

  failed(address: string): void {
    this.#failures.set(address, (this.#failures.get(address) ?? 0) + 1)
  }

  opened(address: string): void {
    this.#failures.delete(address)
  }
}
