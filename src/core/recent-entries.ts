/** Things made on demand by name and forgotten again, so that names chosen by clients cost bounded memory; quotas keep their measurements in it. */

export interface RecentEntriesOptions<T> {
  /** Entries kept; the one not asked for the longest goes first. */
  readonly max: number
  /** Monotonic milliseconds without a question after which an entry goes. */
  readonly forgetMs: number
  readonly create: () => T
}

export class RecentEntries<T> {
  readonly #options: RecentEntriesOptions<T>
  /** In the order of the last question. */
  readonly #entries = new Map<string, { readonly value: T; readonly askedMs: number }>()

  constructor(options: RecentEntriesOptions<T>) {
    this.#options = options
  }

  get size(): number {
    return this.#entries.size
  }

  /** The entry of that name, made if there is none. */
  get(name: string, nowMs: number): T {
    const value = this.#entries.get(name)?.value ?? this.#options.create()
    this.#entries.delete(name)
    this.#entries.set(name, { value, askedMs: nowMs })
    const { max, forgetMs } = this.#options
    for (const [oldest, { askedMs }] of this.#entries) {
      if (this.#entries.size <= max && nowMs - askedMs < forgetMs) break
      this.#entries.delete(oldest)
    }
    return value
  }
}
