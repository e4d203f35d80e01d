/** The running maximum of batch timestamps of one segment, kept without allocating; owned by Segment. */
import type { BatchCursor } from '../protocol/batches/batch-cursor.ts'
import { joined } from './producer-entry.ts'
import type { TimestampOffset } from './time-index.ts'

/** An int64 as two halves, so that a batch costs two comparisons and no bigint. Starts at -1, Kafka's "no timestamp". */
export class LargestTimestamp {
  #high = -1
  #low = 0xffff_ffff
  #offset: number

  constructor(baseOffset: number) {
    this.#offset = baseOffset
  }

  get value(): TimestampOffset {
    return { timestamp: joined(this.#high, this.#low), offset: this.#offset }
  }

  note(cursor: BatchCursor): void {
    const high = cursor.timestampHigh
    if (high < this.#high) return
    const low = cursor.timestampLow
    if (high === this.#high && low <= this.#low) return
    this.#high = high
    this.#low = low
    this.#offset = cursor.lastOffset
  }

  /** Starts again from an index entry. */
  restart({ timestamp, offset }: TimestampOffset): void {
    this.#high = Number(timestamp >> 32n)
    this.#low = Number(timestamp & 0xffff_ffffn)
    this.#offset = offset
  }
}
