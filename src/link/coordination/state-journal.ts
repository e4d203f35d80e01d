/** Group commit in front of the state log: records of many callers go into one durable append. Used by whatever writes state. */
import { NotLinkCoordinator, type StateLog, type StateRecord } from '../ports.ts'
import { coordinatorStateRecord } from '../state-records/record-codec.ts'

/** Records of one append; bounds the batch. */
const recordsMax = 500

interface Waiting {
  readonly records: readonly StateRecord[]
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

export class StateJournal {
  readonly #log: StateLog
  readonly #onFailure: () => void
  readonly #keyId: string | undefined
  /** The last append failed: whether it is decided is not known. */
  #uncertain = false
  #waiting: Waiting[] = []
  #running: Promise<void> | undefined

  /** `onFailure` is called after every append that failed; `keyId`: of the key that this node keeps secrets with, for other nodes. */
  constructor(log: StateLog, onFailure: () => void = () => {}, keyId?: string) {
    this.#log = log
    this.#onFailure = onFailure
    this.#keyId = keyId
  }

  /** Decides nothing; what is decided later is on top of everything that others wrote. */
  async appendNoOp(): Promise<void> {
    await this.append([coordinatorStateRecord(this.#keyId)])
  }

  /**
   * Resolves when everything that is decided has been replayed here; to be waited for before anything is decided. After a
   * failed append that takes a no-op, since a successful append comes behind whatever the failed one left. Rejects as append.
   */
  async certain(): Promise<void> {
    // Who only proposes is told by what is replayed.
    if (this.#uncertain && this.isCoordinator) await this.appendNoOp()
  }

  /**
   * Appends atomically. Resolves when the records are durable and replayed here; rejects as StateLog.append does, for
   * everyone whose records went into the same append.
   */
  append(records: readonly StateRecord[]): Promise<void> {
    if (records.length === 0) return Promise.resolve()
    if (!this.isCoordinator) return Promise.reject(new NotLinkCoordinator('this node is not the link coordinator'))
    return new Promise((resolve, reject) => {
      this.#waiting.push({ records, resolve, reject })
      this.#running ??= this.#run()
    })
  }

  /**
   * What the leader of a mirror partition has to say: appended here, or written by the coordinator on another node. Must be called
   * in the turn in which it was decided. Settles as append; rejects also if it has to be decided again.
   */
  report(records: readonly StateRecord[]): Promise<void> {
    const { propose } = this.#log
    return this.isCoordinator || !propose || records.length === 0
      ? this.append(records)
      : propose.call(this.#log, records)
  }

  /** Is this node the link coordinator, as far as it knows? */
  get isCoordinator(): boolean {
    const { leadership } = this.#log
    return leadership === undefined || leadership.term !== undefined
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
        this.#uncertain = false
        for (const waiting of group) waiting.resolve()
      } catch (error) {
        this.#uncertain = true
        for (const waiting of group) waiting.reject(error)
        this.#onFailure()
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
