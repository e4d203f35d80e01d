/** Which offset of each key is the newest, in bounded memory: cleaning fills it from the dirty part of a log and asks it about all. */
import assert from 'node:assert/strict'
import { hash } from 'node:crypto'

/** Keys go by their MD5 hash, as in Kafka: 16 bytes, and 8 for the offset. */
const ENTRY_WORDS = 6
const ENTRY_BYTES = ENTRY_WORDS * 4
/** A shard grows on its own, so that growing never doubles the whole map. */
const SHARD_ENTRIES_WANTED = 16_384
const SHARDS_MAX = 256
const SLOTS_MIN = 16
/** Of a shard's slots; beyond it probing gets slow. */
const FILL_MAX = 0.9
/** Hashes do not spread perfectly evenly over the shards. */
const UNEVENNESS = 1.25
const TWO_32 = 0x1_0000_0000

export class OffsetMap {
  /** Keys that fit: what the memory holds times the load factor, as Kafka counts. */
  readonly entriesMax: number
  readonly #shards: Shard[]
  #size = 0
  /** Newest offset that was indexed, or passed over; nothing above it may be judged by this map. -1 = none. */
  latestOffset = -1

  /** `bytes` bounds the memory of the full map (within an eighth); a small one takes little. */
  constructor({ bytes, loadFactor }: { bytes: number; loadFactor: number }) {
    this.entriesMax = Math.floor(Math.floor(bytes / ENTRY_BYTES) * loadFactor)
    assert(this.entriesMax > 1, 'log.cleaner.dedupe.buffer.size is too small for even one key')
    let shards = 1
    while (shards < SHARDS_MAX && this.entriesMax / shards > SHARD_ENTRIES_WANTED) shards *= 2
    const slotsMax = Math.ceil((this.entriesMax / shards) * UNEVENNESS) + SLOTS_MIN
    this.#shards = Array.from({ length: shards }, () => new Shard(slotsMax))
  }

  /** Keys in the map. */
  get size(): number {
    return this.#size
  }

  /** Bytes taken now. */
  get bytes(): number {
    return this.#shards.reduce((sum, shard) => sum + shard.bytes, 0)
  }

  /** Remembers the offset of a key, over an older one. False, and nothing changed, if the map is full. */
  put(key: Buffer, offset: number): boolean {
    if (this.#size >= this.entriesMax) return false
    const digest = hash('md5', key, 'buffer')
    const added = this.#shardOf(digest).put(digest, offset)
    if (added === undefined) return false
    if (added) this.#size++
    this.latestOffset = offset
    return true
  }

  /** Newest offset of the key, -1 if the map does not know it. */
  offsetOf(key: Buffer): number {
    const digest = hash('md5', key, 'buffer')
    return this.#shardOf(digest).offsetOf(digest)
  }

  #shardOf(digest: Buffer): Shard {
    return this.#shards[digest.readUInt8(0) % this.#shards.length] as Shard
  }
}

/** Open addressing; a slot holds the hash and the offset plus one, so that zeros are an empty slot. */
class Shard {
  readonly #slotsMax: number
  #words = new Int32Array(SLOTS_MIN * ENTRY_WORDS)
  #slots = SLOTS_MIN
  #used = 0

  constructor(slotsMax: number) {
    this.#slotsMax = slotsMax
  }

  get bytes(): number {
    return this.#words.byteLength
  }

  /** True for a new key, false for a known one, undefined if there is no room. */
  put(digest: Buffer, offset: number): boolean | undefined {
    let at = this.#find(digest)
    const isNew = this.#isEmpty(at)
    if (isNew && this.#used + 1 > this.#slots * FILL_MAX) {
      if (!this.#grow()) return undefined
      at = this.#find(digest)
    }
    const words = this.#words
    if (isNew) {
      for (let word = 0; word < 4; word++) words[at + word] = digest.readInt32LE(word * 4)
      this.#used++
    }
    words[at + 4] = Math.floor((offset + 1) / TWO_32)
    words[at + 5] = (offset + 1) | 0
    return isNew
  }

  offsetOf(digest: Buffer): number {
    const at = this.#find(digest)
    if (this.#isEmpty(at)) return -1
    return this.#word(at + 4) * TWO_32 + (this.#word(at + 5) >>> 0) - 1
  }

  /** Where the hash is, or the empty slot where it would be. */
  #find(digest: Buffer): number {
    const [a, b, c, d] = [digest.readInt32LE(0), digest.readInt32LE(4), digest.readInt32LE(8), digest.readInt32LE(12)]
    const words = this.#words
    let slot = (b >>> 0) % this.#slots
    for (;;) {
      const at = slot * ENTRY_WORDS
      if (this.#isEmpty(at)) return at
      if (words[at] === a && words[at + 1] === b && words[at + 2] === c && words[at + 3] === d) return at
      slot = slot + 1 === this.#slots ? 0 : slot + 1
    }
  }

  #isEmpty(at: number): boolean {
    return this.#words[at + 4] === 0 && this.#words[at + 5] === 0
  }

  #word(index: number): number {
    return this.#words[index] as number
  }

  #grow(): boolean {
    const slots = Math.min(this.#slots * 2, this.#slotsMax)
    if (slots <= this.#slots) return false
    const before = this.#words
    this.#words = new Int32Array(slots * ENTRY_WORDS)
    this.#slots = slots
    for (let from = 0; from < before.length; from += ENTRY_WORDS) {
      if (before[from + 4] === 0 && before[from + 5] === 0) continue
      let slot = ((before[from + 1] as number) >>> 0) % slots
      while (!this.#isEmpty(slot * ENTRY_WORDS)) slot = slot + 1 === slots ? 0 : slot + 1
      this.#words.set(before.subarray(from, from + ENTRY_WORDS), slot * ENTRY_WORDS)
    }
    return true
  }
}
