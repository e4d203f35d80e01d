/** What a leader knows of one follower from its fetches under the present leader epoch; InSyncReplicas has one for each. */

/** A follower's fetch, seen by the leader. */
export interface FollowerFetch {
  readonly replicaId: number
  /** Of its registration (KIP-903); -1 = not said. */
  readonly brokerEpoch: number
  readonly fetchOffset: number
}

/** What an answer told. */
export interface ToldOffsets {
  readonly highWatermark: number
  readonly logStartOffset: number
}

export class FollowerState {
  /** Log end of the follower; -1 = it has not fetched yet. */
  endOffset = -1
  brokerEpoch = -1
  #caughtUpMs: number
  #lastFetchMs = Number.NEGATIVE_INFINITY
  #leaderEndAtLastFetch = Number.POSITIVE_INFINITY
  #told: ToldOffsets = { highWatermark: -1, logStartOffset: -1 }

  /** A member of the ISR has the whole lag time to show up. */
  constructor(options: { readonly inSync: boolean; readonly nowMs: number }) {
    this.#caughtUpMs = options.inSync ? options.nowMs : Number.NEGATIVE_INFINITY
  }

  /** Kafka's rule: it is caught up as of now if it has all, as of its fetch before if it has all that the leader had then. */
  fetched(fetch: FollowerFetch, leader: { readonly endOffset: number; readonly nowMs: number }): void {
    if (fetch.fetchOffset >= leader.endOffset) this.#caughtUpMs = Math.max(this.#caughtUpMs, leader.nowMs)
    else if (fetch.fetchOffset >= this.#leaderEndAtLastFetch)
      this.#caughtUpMs = Math.max(this.#caughtUpMs, this.#lastFetchMs)
    this.#lastFetchMs = leader.nowMs
    this.#leaderEndAtLastFetch = leader.endOffset
    this.endOffset = fetch.fetchOffset
    this.brokerEpoch = fetch.brokerEpoch
  }

  isCaughtUp(leader: { readonly endOffset: number; readonly nowMs: number }, lagMaxMs: number): boolean {
    return this.endOffset === leader.endOffset || leader.nowMs - this.#caughtUpMs <= lagMaxMs
  }

  lacks({ highWatermark, logStartOffset }: ToldOffsets): boolean {
    return this.#told.highWatermark !== highWatermark || this.#told.logStartOffset !== logStartOffset
  }

  told(offsets: ToldOffsets): void {
    this.#told = offsets
  }
}
