/** Group commit: callers that wait for durability share passes over the disk; owned by PartitionLog. */

/** Makes everything durable that was in the log when it was called. */
export type FlushPass = () => Promise<void>

export class Flusher {
  readonly #pass: FlushPass
  /** The pass that is running or, while `#held`, the exclusive work. */
  #running: Promise<void> | undefined
  /** The pass that starts after it; whoever comes meanwhile joins it. */
  #next: Promise<void> | undefined

  constructor(pass: FlushPass) {
    this.#pass = pass
  }

  /** Resolves when what was appended before the call is durable. */
  flush(): Promise<void> {
    if (!this.#running) return this.#start(this.#pass)
    this.#next ??= this.#after(this.#running, this.#pass)
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

  async #after(before: Promise<void>, pass: FlushPass): Promise<void> {
    await before.catch(() => {})
    while (this.#running) await this.#running.catch(() => {})
    this.#next = undefined
    await this.#start(pass)
  }

  #start(job: () => Promise<void>): Promise<void> {
    const running = job().finally(() => {
      if (this.#running === running) this.#running = undefined
    })
    this.#running = running
    return running
  }
}
