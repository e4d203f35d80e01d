/** The memory that the records of one Fetch answer take, out of the budget of the node; the fetch path reserves before it reads. */
import type { ByteBudget, ReleaseBytes } from '../core/byte-budget.ts'
import { type FrameBuffers, POOLED_BYTES_MIN } from '../network/frame-buffers.ts'

/** To be called with the bytes that a read brought; what was reserved beyond them is given back. */
export type SettleRead = (readBytes: number) => void

export class AnswerMemory {
  readonly #budget: ByteBudget
  readonly #signal: AbortSignal
  readonly #buffers: FrameBuffers | undefined
  #held: ReleaseBytes[] = []
  #allocated: Buffer[] = []

  /**
   * @param signal ends the wait for memory: the client is gone
   * @param buffers memory that answers use one after the other; without it each is given fresh one
   */
  constructor(budget: ByteBudget, signal: AbortSignal, buffers?: FrameBuffers) {
    this.#budget = budget
    this.#signal = signal
    this.#buffers = buffers
  }

  /** Memory for records, until `release`. */
  readonly allocate = (bytes: number): Buffer => {
    if (!this.#buffers || bytes < POOLED_BYTES_MIN) return Buffer.allocUnsafe(bytes)
    const buffer = this.#buffers.take(bytes)
    this.#allocated.push(buffer)
    return buffer
  }

  /**
   * Waits for memory if the answer holds none yet; one that does (and so keeps others waiting) gets it at once or not at all.
   * Resolves to undefined where there is none.
   */
  async reserve(bytes: number): Promise<SettleRead | undefined> {
    const release = this.#held.length > 0 ? this.#budget.tryAcquire(bytes) : await this.#acquire(bytes)
    if (!release) return undefined
    return readBytes => {
      release(Math.min(readBytes, bytes))
      if (readBytes > 0) this.#held.push(release)
      // A batch that is larger than the limit comes all the same.
      if (readBytes > bytes) this.#held.push(this.#budget.take(readBytes - bytes))
    }
  }

  /** The records are not needed any more: nobody looks at their memory again. */
  release(): void {
    for (const release of this.#held.splice(0)) release()
    for (const buffer of this.#allocated.splice(0)) this.#buffers?.give(buffer)
  }

  async #acquire(bytes: number): Promise<ReleaseBytes | undefined> {
    try {
      return await this.#budget.acquire(bytes, this.#signal)
    } catch {
      return undefined
    }
  }
}
