/** The sparse index from timestamp to offset of one segment (`.timeindex`, Kafka's format); owned by Segment. */
import type { EntryFile } from './entry-file.ts'

export const TIME_ENTRY_BYTES = 12

/** A timestamp and the last offset of the first batch that has it as its maximum. */
export interface TimestampOffset {
  readonly timestamp: bigint
  readonly offset: number
}

/** Each entry: int64 largest timestamp so far, int32 last offset of its batch relative to the base. Timestamps strictly ascend. */
export class TimeIndex {
  readonly entries: EntryFile
  readonly #baseOffset: number
  /** The newest entry once it is known. */
  #last: TimestampOffset | undefined

  constructor(entries: EntryFile, baseOffset: number) {
    this.entries = entries
    this.#baseOffset = baseOffset
    if (entries.count === 0) this.#last = this.#nothing()
  }

  /** The newest entry; timestamp -1 at the base offset if there is none. */
  async last(): Promise<TimestampOffset> {
    if (this.#last === undefined) {
      const entry = await this.entries.last()
      this.#last = entry ? this.#entry(entry, 0) : this.#nothing()
    }
    return this.#last
  }

  /** Adds an entry if the timestamp is later than all before. `last` must have been awaited since opening or truncation. */
  appendIfLater({ timestamp, offset }: TimestampOffset): void {
    if (this.#last === undefined || timestamp <= this.#last.timestamp) return
    const { buffer, at } = this.entries.append()
    buffer.writeBigInt64BE(timestamp, at)
    buffer.writeInt32BE(offset - this.#baseOffset, at + 8)
    this.#last = { timestamp, offset }
  }

  /** The last entry with a timestamp at or below the given one; the base offset if there is none. */
  async lookup(timestamp: bigint): Promise<TimestampOffset> {
    const unsaved = this.entries.unsaved()
    const recent = lastAtOrBelow(unsaved, timestamp)
    if (recent >= 0) return this.#entry(unsaved, recent)
    const saved = await this.entries.saved()
    const slot = lastAtOrBelow(saved, timestamp)
    return slot < 0 ? this.#nothing() : this.#entry(saved, slot)
  }

  /** Drops entries whose offset is at or above `offset`. */
  async truncateTo(offset: number): Promise<void> {
    const { saved, unsaved } = await this.entries.all()
    const relative = offset - this.#baseOffset
    const kept = countBelow(saved, relative) + countBelow(unsaved, relative)
    this.#last = undefined
    await this.entries.truncate(kept)
    await this.last()
  }

  async reset(): Promise<void> {
    await this.entries.reset({ create: true })
    this.#last = this.#nothing()
  }

  #nothing(): TimestampOffset {
    return { timestamp: -1n, offset: this.#baseOffset }
  }

  #entry(bytes: Buffer, slot: number): TimestampOffset {
    const at = slot * TIME_ENTRY_BYTES
    return { timestamp: bytes.readBigInt64BE(at), offset: this.#baseOffset + bytes.readInt32BE(at + 8) }
  }
}

function lastAtOrBelow(bytes: Buffer, timestamp: bigint): number {
  let low = -1
  let high = bytes.length / TIME_ENTRY_BYTES - 1
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if (bytes.readBigInt64BE(middle * TIME_ENTRY_BYTES) <= timestamp) low = middle
    else high = middle - 1
  }
  return low
}

function countBelow(bytes: Buffer, relative: number): number {
  let count = bytes.length / TIME_ENTRY_BYTES
  while (count > 0 && bytes.readInt32BE((count - 1) * TIME_ENTRY_BYTES + 8) >= relative) count--
  return count
}
