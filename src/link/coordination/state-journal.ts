/** Group commit in front of the state log: records of many callers go into one durable append. Used by whatever writes state. */
import type { StateLog, StateRecord } from '../ports.ts'

/** Records of one append; bounds the batch. */
const recordsMax = 500

interface Waiting {
  readonly records: readonly StateRecord[]
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

export class StateJournal {
  readonly #log: StateLog
  #waiting: Waiting[] = []
  #running: Promise<void> | undefined

  constructor(log: StateLog) {
    this.#log = log
  }

  /**
   * Appends atomically. Resolves when the records are durable and replayed here; rejects as StateLog.append does, for
   * everyone whose records went into the same append.
   */
  append(records: readonly StateRecord[]): Promise<void> {
    if (records.length === 0) return Promise.resolve()
    return new Promise((resolve, reject) => {
      this.#waiting.push({ records, resolve, reject })
      this.#running ??= this.#run()
    })
  }

  /** Resolves when nothing is being written. */
  async idle(): Promise<void> {
    while (this.#running) await this.#running
  }

  async #run(): Promise<void> {
    // Callers of the same turn are collected first.
    await Promise.resolve()
    while (this.#waiting.length > 0) {
      const group = this.#nextGroup()
      try {
        await this.#log.append(group.flatMap(waiting => waiting.records))
        for (const waiting of group) waiting.resolve()
      } catch (error) {
        for (const waiting of group) waiting.reject(error)
      }
    }
    // In the same turn as the last look at `#waiting`: a caller that comes later starts a new run.
    this.#running = undefined
  }

  #nextGroup(): Waiting[] {
    let records = 0
    let count = 0
    for (const waiting of this.#waiting) {
      if (count > 0 && records + waiting.records.length > recordsMax) break
      records += waiting.records.length
      count++
    }
    return this.#waiting.splice(0, count)
  }
}
