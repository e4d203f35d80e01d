/** What has been started, to be stopped in reverse order: after a failed start or at the end. */
export class Startup {
  readonly #stops: { readonly name: string; readonly stop: () => Promise<unknown> | unknown }[] = []
  #stopping: Promise<void> | undefined

  /** Registers how to stop what was just started. */
  onStop(name: string, stop: () => Promise<unknown> | unknown): void {
    this.#stops.push({ name, stop })
  }

  /** Stops everything, the last started first; one failure does not keep the others from stopping. Idempotent. */
  stop(): Promise<void> {
    this.#stopping ??= this.#stopAll()
    return this.#stopping
  }

  async #stopAll(): Promise<void> {
    const failures: unknown[] = []
    for (const { name, stop } of this.#stops.toReversed()) {
      try {
        await stop()
      } catch (error) {
        failures.push(new Error(`${name} did not stop cleanly`, { cause: error }))
      }
    }
    if (failures.length > 0) throw new AggregateError(failures, 'the node did not stop cleanly')
  }
}
