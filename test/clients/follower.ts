// What clients that follow topics in a group have in common: where they read, what they were given, how they end.

/** What a reader was given: the value at each place (`TOPIC-PARTITION:OFFSET`). */
export class Seen {
  readonly values = new Map<string, string>()
  /** Places that were read more than once: a group that is given a partition again begins where it last committed. */
  repeats = 0
  /** The same place with two values: nothing may ever do that. */
  readonly shifted: string[] = []

  add(partition: string, offset: number | string | bigint, value: string): void {
    const place = `${partition}:${offset}`
    const before = this.values.get(place)
    if (before !== undefined) this.repeats++
    if (before !== undefined && before !== value) this.shifted.push(`${place}: ${before}, then ${value}`)
    this.values.set(place, value)
  }
}

/** Where a reader reads. */
export interface Following {
  readonly bootstrap: string
  readonly topics: readonly string[]
  readonly group: string
}

/** A client that reads until it is closed or gives up. */
export interface Follower {
  /** Resolves or rejects when the client has given up. */
  readonly ended: Promise<unknown>
  readonly close: () => Promise<void>
}
