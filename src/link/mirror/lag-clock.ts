/** How far behind its source a mirror partition is, in offsets and in time, from what fetches saw; used by partition figures. */

/** Samples kept; beyond that every second one is dropped, so old ones get coarser. */
const samplesMax = 64

interface Sample {
  readonly highWatermark: number
  /** Monotonic time at which the source had this high watermark. */
  readonly atMs: number
}

/**
 * Lag in ms is the time since the mirror's log end last reached a source high watermark seen at that time. Timestamps of
 * records are never used.
 */
export class LagClock {
  #samples: Sample[] = []
  #reachedAtMs: number | undefined
  #highWatermark: number | undefined
  #seenAtMs: number | undefined

  /** Source high watermark of the last answer; undefined = none yet. */
  get highWatermark(): number | undefined {
    return this.#highWatermark
  }

  /** When the last answer came (monotonic); undefined = none yet. */
  get seenAtMs(): number | undefined {
    return this.#seenAtMs
  }

  /** An answer of the source. A high watermark that went back is followed: the figures tell the present. */
  seen(highWatermark: number, atMs: number): void {
    this.#highWatermark = highWatermark
    this.#seenAtMs = atMs
    const last = this.#samples.at(-1)
    if (last && last.highWatermark === highWatermark) return
    this.#samples.push({ highWatermark, atMs })
    if (this.#samples.length > samplesMax) this.#samples = this.#samples.filter((_, index) => index % 2 === 0)
  }

  /** The mirror's log end after an answer was appended. */
  reached(logEndOffset: number): void {
    const first = this.#samples.findIndex(sample => sample.highWatermark > logEndOffset)
    const reached = first === -1 ? this.#samples : this.#samples.slice(0, first)
    const last = reached.at(-1)
    if (!last) return
    // With everything reached, the mirror was equal when the last answer came, not when its mark was first seen.
    this.#reachedAtMs = first === -1 ? this.#seenAtMs : last.atMs
    this.#samples = first === -1 ? [last] : this.#samples.slice(first)
  }

  /** Offsets behind the last known high watermark; null before the first answer. */
  lag(logEndOffset: number): number | null {
    return this.#highWatermark === undefined ? null : Math.max(0, this.#highWatermark - logEndOffset)
  }

  /** The source stopped answering: up to now an equal mirror was equal, from now on nobody knows what the source has. */
  silentFrom(atMs: number, logEndOffset: number): void {
    if (this.lag(logEndOffset) === 0) this.#reachedAtMs = atMs
  }

  /** Null before the mirror reached anything; 0 for an equal mirror whose source answers. */
  lagMs(logEndOffset: number, now: { atMs: number; answering: boolean }): number | null {
    if (this.#reachedAtMs === undefined) return null
    if (now.answering && this.lag(logEndOffset) === 0) return 0
    return Math.max(0, Math.round(now.atMs - this.#reachedAtMs))
  }
}
