// Things that a suite opened and must close again, also when opening the next one fails; used by suites.

interface Closable {
  readonly close: () => Promise<void>
}

/** Collects what is opened; `close()` closes all of it, the latest first. */
export class Opened {
  readonly #things: Closable[] = []

  /** Waits for `opening` and remembers to close what it gives. */
  async add<Thing extends Closable>(opening: Promise<Thing>): Promise<Thing> {
    const thing = await opening
    this.#things.push(thing)
    return thing
  }

  /** Opens several at once; when one cannot be opened, waits for the others before it throws. */
  async all<Things extends Closable[]>(opening: { [Index in keyof Things]: Promise<Things[Index]> }): Promise<Things> {
    const results = await Promise.allSettled(opening.map(one => this.add(one)))
    for (const result of results) if (result.status === 'rejected') throw result.reason
    return Promise.all(opening) as Promise<Things>
  }

  async close(): Promise<void> {
    for (const thing of this.#things.splice(0).reverse()) await thing.close()
  }
}
