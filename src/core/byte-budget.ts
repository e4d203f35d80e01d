/** A bounded amount of memory shared by many users, granted first come first served. */

/** Gives back all bytes of a grant but `keepBytes` (default none). Calling it again gives back what is left above that. */
export type ReleaseBytes = (keepBytes?: number) => void

export class ByteBudget {
  readonly bytesMax: number
  #used = 0
  #waiting: { bytes: number; grant: () => void }[] = []

  constructor(bytesMax: number) {
    this.bytesMax = bytesMax
  }

  get usedBytes(): number {
    return this.#used
  }

  get freeBytes(): number {
    return Math.max(0, this.bytesMax - this.#used)
  }

  /** Callers of `acquire` that wait. */
  get waitingCount(): number {
    return this.#waiting.length
  }

  /**
   * Waits until `bytes` fit, then takes them; returns the function that gives them back.
   * A request larger than the whole budget is granted when nothing else is in use. Rejects with the signal's reason.
   */
  acquire(bytes: number, signal?: AbortSignal): Promise<ReleaseBytes> {
    if (signal?.aborted) return Promise.reject(signal.reason)
    const taken = this.tryAcquire(bytes)
    if (taken) return Promise.resolve(taken)
    return new Promise((resolve, reject) => {
      const entry = {
        bytes,
        grant: () => {
          signal?.removeEventListener('abort', onAbort)
          resolve(this.take(bytes))
        },
      }
      const onAbort = () => {
        this.#waiting = this.#waiting.filter(other => other !== entry)
        reject(signal?.reason)
        this.#grantWaiting()
      }
      signal?.addEventListener('abort', onAbort, { once: true })
      this.#waiting.push(entry)
    })
  }

  /** Takes the bytes if they fit now and nobody waits before; undefined if not. */
  tryAcquire(bytes: number): ReleaseBytes | undefined {
    return this.#waiting.length === 0 && this.#fits(bytes) ? this.take(bytes) : undefined
  }

  /** Takes the bytes whether they fit or not: for memory that is in use already. Others wait for it. */
  take(bytes: number): ReleaseBytes {
    this.#used += bytes
    let held = bytes
    return (keepBytes = 0) => {
      const freed = held - keepBytes
      if (freed <= 0) return
      held = keepBytes
      this.#used -= freed
      this.#grantWaiting()
    }
  }

  #fits(bytes: number): boolean {
    return this.#used === 0 || this.#used + bytes <= this.bytesMax
  }

  #grantWaiting(): void {
    for (let first = this.#waiting[0]; first && this.#fits(first.bytes); first = this.#waiting[0]) {
      this.#waiting.shift()
      first.grant()
    }
  }
}
