/** Group commit: callers that wait for durability share passes over the disk; owned by PartitionLog. */

/**
 * Makes everything durable that was in the log when it was called. It may say so only once `before`, the passes that began
 * earlier and still run, has resolved; if that rejects, so must the pass.
 */
export type FlushPass = (before: Promise<void>) => Promise<void>

/** While a disk is busy, a flush that is with it already gets its turn earlier than one that is sent after the last has ended. */
const PASSES_MAX = 3

export class Flusher {
  readonly #pass: FlushPass
  readonly #mayOverlap: () => boolean
  /** Passes that run, or the exclusive work; these promises never reject. */
  readonly #running = new Set<Promise<void>>()
  /** The pass that began last. */
  #latest: Promise<void> = Promise.resolve()
  /** The pass that starts next; whoever comes meanwhile joins it. */
  #next: Promise<void> | undefined
  /** Exclusive works that wait: no pass begins before them. */
  #waiting = 0
  #alone = false

  /** @param mayOverlap may a pass begin while others run? */
  constructor(pass: FlushPass, mayOverlap: () => boolean = () => false) {
    this.#pass = pass
    this.#mayOverlap = mayOverlap
  }

  /**
   * Resolves when what was appended before the call is durable. A pass starts at the end of the event loop's turn: the appends
   * of all requests that came in together share it.
   */
  flush(): Promise<void> {
    this.#next ??= this.#startLater()
    return this.#next
  }

  /** Runs `work` while no pass runs: for cuts, which must not race with one. */
  async exclusive<T>(work: () => Promise<T>): Promise<T> {
    this.#waiting++
    while (this.#running.size > 0) await Promise.race(this.#running)
    this.#waiting--
    this.#alone = true
    const result = work().finally(() => {
      this.#alone = false
    })
    this.#track(result)
    return await result
  }

  async #startLater(): Promise<void> {
    await new Promise(resolve => setImmediate(resolve))
    while (!this.#mayStart) await (this.#running.size > 0 ? Promise.race(this.#running) : undefined)
    this.#next = undefined
    const before = this.#running.size > 0 ? this.#latest : Promise.resolve()
    this.#latest = this.#pass(before)
    this.#track(this.#latest)
    await this.#latest
  }

  get #mayStart(): boolean {
    if (this.#waiting > 0 || this.#alone) return false
    return this.#running.size === 0 || (this.#running.size < PASSES_MAX && this.#mayOverlap())
  }

  #track(job: Promise<unknown>): void {
    const ended = () => {
      this.#running.delete(run)
    }
    const run: Promise<void> = job.then(ended, ended)
    this.#running.add(run)
  }
}
