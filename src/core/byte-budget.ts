/** A bounded amount of memory shared by many users, granted first come first served. */
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

  /**
   * Waits until `bytes` fit, then takes them; returns the function that gives them back (idempotent).
   * A request larger than the whole budget is granted when nothing else is in use. Rejects with the signal's reason.
   */
  acquire(bytes: number, signal?: AbortSignal): Promise<() => void> {
    if (signal?.aborted) return Promise.reject(signal.reason)
    if (this.#waiting.length === 0 && this.#fits(bytes)) return Promise.resolve(this.#take(bytes))
    return new Promise((resolve, reject) => {
      const entry = {
        bytes,
        grant: () => {
          signal?.removeEventListener('abort', onAbort)
          resolve(this.#take(bytes))
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

  #fits(bytes: number): boolean {
    return this.#used === 0 || this.#used + bytes <= this.bytesMax
  }

  #take(bytes: number): () => void {
    this.#used += bytes
    let released = false
    return () => {
      if (released) return
      released = true
      this.#used -= bytes
      this.#grantWaiting()
    }
  }

  #grantWaiting(): void {
    for (let first = this.#waiting[0]; first && this.#fits(first.bytes); first = this.#waiting[0]) {
      this.#waiting.shift()
      first.grant()
    }
  }
}
