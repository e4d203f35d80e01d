/** The aborted transactions whose marker lies in one segment (`.txnindex`, Kafka's format, version 0); owned by Segment. */
import type { EntryFile } from './entry-file.ts'

export const TRANSACTION_ENTRY_BYTES = 34

/** One aborted transaction of one producer in this partition. */
export interface AbortedTransaction {
  readonly producerId: bigint
  /** Offset of its first record. */
  readonly firstOffset: number
  /** Offset of its ABORT marker. */
  readonly lastOffset: number
  /** Last stable offset when the marker was appended: readers that need nothing above it can stop here. */
  readonly lastStableOffset: number
}

export class TransactionIndex {
  readonly entries: EntryFile

  constructor(entries: EntryFile) {
    this.entries = entries
  }

  append(aborted: AbortedTransaction): void {
    const { buffer, at } = this.entries.append()
    buffer.writeInt16BE(0, at)
    buffer.writeBigInt64BE(aborted.producerId, at + 2)
    buffer.writeBigInt64BE(BigInt(aborted.firstOffset), at + 10)
    buffer.writeBigInt64BE(BigInt(aborted.lastOffset), at + 18)
    buffer.writeBigInt64BE(BigInt(aborted.lastStableOffset), at + 26)
  }

  /** All entries, in the order of their markers. */
  async all(): Promise<AbortedTransaction[]> {
    return (await this.overlapping(0, Number.POSITIVE_INFINITY)).found
  }

  /**
   * Transactions with an offset in [from, to). `complete` if later segments cannot have more: an entry says that nothing
   * below `to` was open when its marker came.
   */
  async overlapping(from: number, to: number): Promise<{ found: AbortedTransaction[]; complete: boolean }> {
    const found: AbortedTransaction[] = []
    if (this.entries.count === 0) return { found, complete: false }
    const { saved, unsaved } = await this.entries.all()
    for (const bytes of [saved, unsaved]) {
      for (let at = firstEndingAtOrAbove(bytes, from); at < bytes.length; at += TRANSACTION_ENTRY_BYTES) {
        const entry = decode(bytes, at)
        if (entry.firstOffset < to) found.push(entry)
        if (entry.lastStableOffset >= to) return { found, complete: true }
      }
    }
    return { found, complete: false }
  }

  /** Drops the transactions whose marker is at or above `offset`. */
  async truncateTo(offset: number): Promise<void> {
    const all = await this.all()
    const kept = all.findIndex(aborted => aborted.lastOffset >= offset)
    if (kept >= 0) await this.entries.truncate(kept)
  }
}

const decode = (bytes: Buffer, at: number): AbortedTransaction => ({
  producerId: bytes.readBigInt64BE(at + 2),
  firstOffset: Number(bytes.readBigInt64BE(at + 10)),
  lastOffset: Number(bytes.readBigInt64BE(at + 18)),
  lastStableOffset: Number(bytes.readBigInt64BE(at + 26)),
})

/** Position of the first entry whose marker is at or above `offset`; entries are in the order of their markers. */
function firstEndingAtOrAbove(bytes: Buffer, offset: number): number {
  let low = 0
  let high = bytes.length / TRANSACTION_ENTRY_BYTES
  while (low < high) {
    const middle = (low + high) >> 1
    if (Number(bytes.readBigInt64BE(middle * TRANSACTION_ENTRY_BYTES + 18)) < offset) low = middle + 1
    else high = middle
  }
  return low * TRANSACTION_ENTRY_BYTES
}
