/** Group commit: callers that wait for durability share passes over the disk; owned by PartitionLog. */

/** Makes everything durable that was in the log when it was called. */
export type FlushPass = () => Promise<void>

export class Flusher {
  readonly #pass: FlushPass
  /** The pass that is running, or the exclusive work. */
  #running: Promise<void> | undefined
  /** The pass that starts next; whoever comes meanwhile joins it. */
  #next: Promise<void> | undefined

  constructor(pass: FlushPass) {
    this.#pass = pass
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
    while (this.#running) await this.#running.catch(() => {})
    let result: { value: T } | undefined
    await this.#start(async () => {
      result = { value: await work() }
    })
    return (result as unknown as { value: T }).value
  }

  async #startLater(): Promise<void> {
    await new Promise(resolve => setImmediate(resolve))
    while (this.#running) await this.#running.catch(() => {})
    this.#next = undefined
    await this.#start(this.#pass)
  }

  #start(job: () => Promise<void>): Promise<void> {
    const running = job().finally(() => {
      if (this.#running === running) this.#running = undefined
    })
    this.#running = running
    return running
  }
}
