/** Bounds-checked reading of Kafka's primitive encodings from a Buffer; called by compiled decoders and by hand-written record frames. */
import { type Uuid, uuidFromBytes, ZERO_UUID } from '../../core/uuid.ts'
import { DecodeError, type DecodeFailure } from './codec-errors.ts'

/** Shared by every empty bytes field. */
export const EMPTY_BYTES: Buffer = Buffer.alloc(0)

const STRING_BYTES_MAX = 0x7fff

/**
 * Reads forward only and never beyond its end: every method throws DecodeError instead. Bytes come back as subarrays of the input.
 * Counts are checked against the bytes that remain before anybody allocates by them.
 */
export class Reader {
  readonly #buffer: Buffer
  readonly #view: DataView
  readonly #end: number
  #position: number

  constructor(buffer: Buffer, start = 0, end = buffer.length) {
    this.#buffer = buffer
    this.#view = new DataView(buffer.buffer, buffer.byteOffset, buffer.byteLength)
    this.#position = start
    this.#end = end
  }

  /** Index of the next byte in the input. */
  get position(): number {
    return this.#position
  }

  get remaining(): number {
    return this.#end - this.#position
  }

  /** The error to throw for the current position. */
  failure(kind: DecodeFailure, detail: string): DecodeError {
    return new DecodeError(kind, this.#position, detail)
  }

  /** Moves over `size` bytes and returns where they begin. */
  #take(size: number): number {
    const position = this.#position
    if (size > this.#end - position) throw this.failure('truncated', `${size} bytes announced, ${this.remaining} left`)
    this.#position = position + size
    return position
  }

  int8(): number {
    return this.#view.getInt8(this.#take(1))
  }

  bool(): boolean {
    return this.#view.getInt8(this.#take(1)) !== 0
  }

  int16(): number {
    return this.#view.getInt16(this.#take(2))
  }

  uint16(): number {
    return this.#view.getUint16(this.#take(2))
  }

  int32(): number {
    return this.#view.getInt32(this.#take(4))
  }

  uint32(): number {
    return this.#view.getUint32(this.#take(4))
  }

  int64(): bigint {
    return this.#view.getBigInt64(this.#take(8))
  }

  float64(): number {
    return this.#view.getFloat64(this.#take(8))
  }

  uuid(): Uuid {
    const at = this.#take(16)
    if (this.#view.getBigInt64(at) === 0n && this.#view.getBigInt64(at + 8) === 0n) return ZERO_UUID
    return uuidFromBytes(this.#buffer.subarray(at, at + 16))
  }

  /** Unsigned varint of at most 31 bits, as Kafka uses for lengths, counts and tags. */
  uvarint(): number {
    const first = this.#view.getUint8(this.#take(1))
    if (first < 0x80) return first
    let value = first & 0x7f
    for (let shift = 7; shift <= 28; shift += 7) {
      const byte = this.#view.getUint8(this.#take(1))
      if (shift === 28 && byte > 0x07) throw this.failure('malformed', 'varint above 31 bits')
      value |= (byte & 0x7f) << shift
      if (byte < 0x80) return value
    }
    throw this.failure('malformed', 'varint above 5 bytes')
  }

  string(): string {
    return this.#text(this.#present(this.int16()))
  }

  nullableString(): string | null {
    const length = this.#lengthOrNull(this.int16())
    return length < 0 ? null : this.#text(length)
  }

  compactString(): string {
    return this.#text(this.#present(this.uvarint() - 1))
  }

  compactNullableString(): string | null {
    const length = this.uvarint() - 1
    return length < 0 ? null : this.#text(length)
  }

  /** A view of the input, not a copy. */
  bytes(): Buffer {
    return this.raw(this.#present(this.int32()))
  }

  nullableBytes(): Buffer | null {
    const length = this.#lengthOrNull(this.int32())
    return length < 0 ? null : this.raw(length)
  }

  compactBytes(): Buffer {
    return this.raw(this.#present(this.uvarint() - 1))
  }

  compactNullableBytes(): Buffer | null {
    const length = this.uvarint() - 1
    return length < 0 ? null : this.raw(length)
  }

  /** Count of an array whose elements take at least `elementBytesMin` bytes each. */
  count(elementBytesMin: number): number {
    return this.#affordable(this.#present(this.int32()), elementBytesMin)
  }

  /** Like count; −1 = null. */
  nullableCount(elementBytesMin: number): number {
    return this.#affordable(this.#lengthOrNull(this.int32()), elementBytesMin)
  }

  compactCount(elementBytesMin: number): number {
    return this.#affordable(this.#present(this.uvarint() - 1), elementBytesMin)
  }

  compactNullableCount(elementBytesMin: number): number {
    return this.#affordable(this.uvarint() - 1, elementBytesMin)
  }

  /** `length` bytes as a view of the input. */
  raw(length: number): Buffer {
    const at = this.#take(length)
    return length === 0 ? EMPTY_BYTES : this.#buffer.subarray(at, at + length)
  }

  /** Reads the size of a tagged field and returns the position at which it ends. */
  taggedEnd(): number {
    const size = this.uvarint()
    if (size > this.remaining) throw this.failure('truncated', `tagged field of ${size} bytes, ${this.remaining} left`)
    return this.#position + size
  }

  /** Skips to the end of a tagged field of unknown meaning. */
  skipTo(end: number): void {
    this.#take(end - this.#position)
  }

  /** A known tagged field must fill exactly the size announced for it. */
  expectAt(end: number): void {
    if (this.#position !== end) throw this.failure('malformed', `tagged field should end at byte ${end}`)
  }

  /** Skips a whole section of tagged fields. */
  skipTaggedFields(): void {
    for (let left = this.uvarint(); left > 0; left--) {
      this.uvarint()
      this.skipTo(this.taggedEnd())
    }
  }

  /** The input must be used up. */
  expectEnd(): void {
    if (this.remaining > 0) throw this.failure('trailing', `${this.remaining} bytes too many`)
  }

  #present(length: number): number {
    if (length < 0)
      throw this.failure('malformed', length === -1 ? 'null where none may be' : `negative length ${length}`)
    return length
  }

  #lengthOrNull(length: number): number {
    if (length < -1) throw this.failure('malformed', `negative length ${length}`)
    return length
  }

  #affordable(count: number, elementBytesMin: number): number {
    if (count * elementBytesMin > this.remaining) {
      throw this.failure('truncated', `${count} elements announced, ${this.remaining} bytes left`)
    }
    return count
  }

  #text(length: number): string {
    if (length > STRING_BYTES_MAX) throw this.failure('malformed', `string of ${length} bytes`)
    const at = this.#take(length)
    return length === 0 ? '' : this.#buffer.toString('utf8', at, at + length)
  }
}
