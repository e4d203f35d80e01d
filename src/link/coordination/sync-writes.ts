/** Writes of a link's syncs to its mirrors that are under way: a stop waits for them, so that nothing of a stopped topic is written any more. */
export class SyncWrites {
  readonly #running = new Set<Promise<unknown>>()

  /** `write` looks first, before it waits for anything, whether its mirror is still to be written. */
  async run<T>(write: () => Promise<T>): Promise<T> {
    const running = write()
    this.#running.add(running)
    try {
      return await running
    } finally {
      this.#running.delete(running)
    }
  }

  /** Resolves when everything begun so far has ended, however it ended. */
  async settled(): Promise<void> {
    await Promise.allSettled([...this.#running])
  }
}
