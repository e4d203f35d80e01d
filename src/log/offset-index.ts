/** The sparse index from offset to file position of one segment (`.index`, Kafka's format); owned by Segment. */
import type { EntryFile } from './entry-file.ts'

export const OFFSET_ENTRY_BYTES = 8

/** Where the batch lies whose last offset is `offset`. */
export interface IndexedPosition {
  readonly offset: number
  readonly position: number
}

/** Each entry: int32 last offset of a batch relative to the segment's base, int32 position of the batch. Both ascend. */
export class OffsetIndex {
  readonly entries: EntryFile
  readonly #baseOffset: number

  constructor(entries: EntryFile, baseOffset: number) {
    this.entries = entries
    this.#baseOffset = baseOffset
  }

  append(offset: number, position: number): void {
    const { buffer, at } = this.entries.append()
    buffer.writeInt32BE(offset - this.#baseOffset, at)
    buffer.writeInt32BE(position, at + 4)
  }

  /** The last entry at or below `offset`; position 0 if there is none. */
  async lookup(offset: number): Promise<IndexedPosition> {
    const relative = Math.min(offset - this.#baseOffset, 0x7fff_ffff)
    const unsaved = this.entries.unsaved()
    const recent = lastAtOrBelow(unsaved, relative)
    if (recent >= 0) return this.#entry(unsaved, recent)
    const saved = await this.entries.saved()
    const slot = lastAtOrBelow(saved, relative)
    return slot < 0 ? { offset: this.#baseOffset, position: 0 } : this.#entry(saved, slot)
  }

  async last(): Promise<IndexedPosition | undefined> {
    const entry = await this.entries.last()
    return entry && this.#entry(entry, 0)
  }

  /** Drops entries at or above `offset`. */
  async truncateTo(offset: number): Promise<void> {
    const below = offset - this.#baseOffset - 1
    const { saved, unsaved } = await this.entries.all()
    const kept = lastAtOrBelow(saved, below) + 1 + lastAtOrBelow(unsaved, below) + 1
    await this.entries.truncate(kept)
  }

  #entry(bytes: Buffer, slot: number): IndexedPosition {
    const at = slot * OFFSET_ENTRY_BYTES
    return { offset: this.#baseOffset + bytes.readInt32BE(at), position: bytes.readInt32BE(at + 4) }
  }
}

function lastAtOrBelow(bytes: Buffer, relative: number): number {
  let low = -1
  let high = bytes.length / OFFSET_ENTRY_BYTES - 1
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if (bytes.readInt32BE(middle * OFFSET_ENTRY_BYTES) <= relative) low = middle
    else high = middle - 1
  }
  return low
}
