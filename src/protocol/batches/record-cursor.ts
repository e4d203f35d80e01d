/** Reads the primitive fields of the record format from bytes that nobody has checked; called by records-of.ts. */
import { BatchError } from './batch-error.ts'

/** A position in record bytes. Every read checks its bounds and throws BatchError 'invalid-records'. */
export class RecordCursor {
  readonly #buffer: Buffer
  #position = 0
  #end: number

  constructor(buffer: Buffer) {
    this.#buffer = buffer
    this.#end = buffer.length
  }

  get position(): number {
    return this.#position
  }

  get atEnd(): boolean {
    return this.#position >= this.#buffer.length
  }

  /** Reads the length in front of a record and confines the following reads to it. */
  enterRecord(): void {
    this.#end = this.#buffer.length
    const length = this.varint()
    if (length < 0 || length > this.#end - this.#position) {
      throw invalid(`a record of ${length} bytes does not fit the ${this.#end - this.#position} that are left`)
    }
    this.#end = this.#position + length
  }

  /** Checks that the record was as long as it said. */
  leaveRecord(): void {
    if (this.#position !== this.#end) throw invalid(`a record has ${this.#end - this.#position} unread bytes`)
    this.#end = this.#buffer.length
  }

  byte(): number {
    if (this.#position >= this.#end) throw invalid('a record ends inside a field')
    return this.#buffer[this.#position++] as number
  }

  /** Signed 32-bit zigzag number of at most 5 bytes. */
  varint(): number {
    let raw = 0
    for (let shift = 0; shift < 35; shift += 7) {
      const byte = this.byte()
      raw |= (byte & 0x7f) << shift
      if (byte < 0x80) return (raw >>> 1) ^ -(raw & 1)
    }
    throw invalid('a number has more than 5 bytes')
  }

  /** Signed 64-bit zigzag number of at most 10 bytes. */
  varlong(): bigint {
    let low = 0
    for (let shift = 0; shift < 28; shift += 7) {
      const byte = this.byte()
      low |= (byte & 0x7f) << shift
      if (byte < 0x80) return BigInt((low >>> 1) ^ -(low & 1))
    }
    let raw = BigInt(low)
    for (let shift = 28n; shift < 70n; shift += 7n) {
      const byte = this.byte()
      raw |= BigInt(byte & 0x7f) << shift
      if (byte < 0x80) return BigInt.asIntN(64, (BigInt.asUintN(64, raw) >> 1n) ^ -(raw & 1n))
    }
    throw invalid('a number has more than 10 bytes')
  }

  /** Length and that many bytes by reference; null for length -1. */
  nullableBytes(): Buffer | null {
    const length = this.varint()
    return length === -1 ? null : this.#take(length)
  }

  /** Length and UTF-8 text, never null. */
  text(): string {
    return this.#take(this.varint()).toString()
  }

  #take(length: number): Buffer {
    if (length < 0 || length > this.#end - this.#position) throw invalid(`a field of ${length} bytes does not fit`)
    const start = this.#position
    this.#position += length
    return this.#buffer.subarray(start, this.#position)
  }
}

const invalid = (what: string) => new BatchError('invalid-records', what)
