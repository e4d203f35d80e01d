/** Up to where the log of a `__share_group_state` partition may be deleted: below the last snapshot of every key. ShareShard keeps one. */

export class RedundantRecords {
  readonly #snapshots = new Map<string, number>()
  /** Of the last tombstone; matters only while there are no keys. */
  #removedAt = 0

  snapshot(key: string, offset: number): void {
    this.#snapshots.set(key, offset)
  }

  removed(key: string, offset: number): void {
    this.#snapshots.delete(key)
    this.#removedAt = offset
  }

  /** First offset that still matters; everything below it may go. */
  get below(): number {
    if (this.#snapshots.size === 0) return this.#removedAt
    let lowest = Number.MAX_SAFE_INTEGER
    for (const offset of this.#snapshots.values()) lowest = Math.min(lowest, offset)
    return lowest
  }
}
