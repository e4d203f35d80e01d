/** How many bytes a fetch slot asks for: grows while answers come full, shrinks while they come small, so that idle slots hold little of the budget. */

const WINDOW_BYTES_MIN = 256 * 1024
/** A partition's share of an answer is not made smaller than this: what follows has costs per answer, not only per byte. */
const SHARE_BYTES_MIN = 1024 * 1024

export class FetchWindow {
  readonly #bytesMax: number
  #bytes: number
  #atTail = true

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax
    this.#bytes = Math.min(bytesMax, WINDOW_BYTES_MIN)
  }

  /** What to ask for next. */
  get bytes(): number {
    return this.#bytes
  }

  /** What to ask for of each of so many partitions, so that a few do not take the whole answer. */
  shareBytes(partitions: number, bytesMax: number): number {
    return Math.min(bytesMax, Math.max(SHARE_BYTES_MIN, Math.ceil(this.#bytes / partitions)))
  }

  /** Was the last answer so small that the source has nothing more? */
  get atTail(): boolean {
    return this.#atTail
  }

  /** Learns from the size of an answer. */
  record(answerBytes: number): void {
    this.#atTail = answerBytes * 4 < this.#bytes
    if (answerBytes * 2 >= this.#bytes) this.#bytes = Math.min(this.#bytesMax, this.#bytes * 4)
    else if (answerBytes * 8 < this.#bytes)
      this.#bytes = Math.max(Math.min(this.#bytesMax, WINDOW_BYTES_MIN), Math.floor(this.#bytes / 2))
  }
}
