/** Growing output for Kafka's primitive encodings; called by compiled encoders and by hand-written record frames. */
import { ZERO_UUID } from '../../core/uuid.ts'
import { EncodeError } from './codec-errors.ts'

const FIRST_BYTES = 256
const TOTAL_BYTES_MAX = 0x7fffffff
const STRING_BYTES_MAX = 0x7fff
const INT64_MIN = -(2n ** 63n)
const INT64_MAX = 2n ** 63n - 1n

const refuse = (value: unknown, what: string): EncodeError =>
  new EncodeError('invalid-value', `${String(value)} is not ${what}`)

/**
 * Collects one encoded value. Buffers of at least `spliceBytesMin` bytes are not copied but become chunks of their own
 * (they must not change until the chunks are used). Values out of a type's range throw EncodeError instead of wrapping.
 */
export class Writer {
  readonly #spliceBytesMin: number
  readonly #chunks: Buffer[] = []
  /** Bytes in #chunks. */
  #chunkedBytes = 0
  #buffer: Buffer = Buffer.allocUnsafe(FIRST_BYTES)
  #view: DataView = new DataView(this.#buffer.buffer, this.#buffer.byteOffset, FIRST_BYTES)
  /** First byte of #buffer that is not in #chunks yet. */
  #start = 0
  #position = 0

  constructor(spliceBytesMin = Number.POSITIVE_INFINITY) {
    this.#spliceBytesMin = spliceBytesMin
  }

  get sizeBytes(): number {
    return this.#chunkedBytes + this.#position - this.#start
  }

  /** What was written, as one buffer; copies only if something was spliced in. */
  toBuffer(): Buffer {
    if (this.#chunks.length === 0) return this.#buffer.subarray(0, this.#position)
    return Buffer.concat(this.toChunks())
  }

  /** What was written, in order; spliced buffers by reference. */
  toChunks(): Buffer[] {
    this.#closeChunk()
    return this.#chunks
  }

  /** A writer for a part whose size must be known first; give it back with sized(). */
  child(): Writer {
    return new Writer(this.#spliceBytesMin)
  }

  /** Writes the size of the child as uvarint, then its content. */
  sized(child: Writer): void {
    this.uvarint(child.sizeBytes)
    for (const chunk of child.toChunks()) this.raw(chunk)
  }

  #closeChunk(): void {
    if (this.#position === this.#start) return
    this.#chunks.push(this.#buffer.subarray(this.#start, this.#position))
    this.#chunkedBytes += this.#position - this.#start
    this.#start = this.#position
  }

  /** Makes room for `size` bytes and returns where they go; may replace #buffer and #view, so read those afterwards. */
  #reserve(size: number): number {
    const position = this.#position
    if (position + size > this.#buffer.length) return this.#grow(size)
    this.#position = position + size
    return position
  }

  #grow(size: number): number {
    const pending = this.#position - this.#start
    if (this.#chunkedBytes + pending + size > TOTAL_BYTES_MAX) throw refuse(size, 'a number of bytes that fits')
    const bigger = Buffer.allocUnsafe(Math.max(pending + size, Math.min(this.#buffer.length * 2, TOTAL_BYTES_MAX)))
    this.#buffer.copy(bigger, 0, this.#start, this.#position)
    this.#buffer = bigger
    this.#view = new DataView(bigger.buffer, bigger.byteOffset, bigger.length)
    this.#start = 0
    this.#position = pending + size
    return pending
  }

  int8(value: number): void {
    if ((value << 24) >> 24 !== value) throw refuse(value, 'an int8')
    const at = this.#reserve(1)
    this.#view.setInt8(at, value)
  }

  bool(value: boolean): void {
    const at = this.#reserve(1)
    this.#view.setInt8(at, value ? 1 : 0)
  }

  int16(value: number): void {
    if ((value << 16) >> 16 !== value) throw refuse(value, 'an int16')
    const at = this.#reserve(2)
    this.#view.setInt16(at, value)
  }

  uint16(value: number): void {
    if ((value & 0xffff) !== value) throw refuse(value, 'a uint16')
    const at = this.#reserve(2)
    this.#view.setUint16(at, value)
  }

  int32(value: number): void {
    if ((value | 0) !== value) throw refuse(value, 'an int32')
    const at = this.#reserve(4)
    this.#view.setInt32(at, value)
  }

  uint32(value: number): void {
    if (value >>> 0 !== value) throw refuse(value, 'a uint32')
    const at = this.#reserve(4)
    this.#view.setUint32(at, value)
  }

  int64(value: bigint): void {
    if (typeof value !== 'bigint' || value < INT64_MIN || value > INT64_MAX) throw refuse(value, 'an int64')
    const at = this.#reserve(8)
    this.#view.setBigInt64(at, value)
  }

  float64(value: number): void {
    if (typeof value !== 'number') throw refuse(value, 'a float64')
    const at = this.#reserve(8)
    this.#view.setFloat64(at, value)
  }

  uuid(value: string): void {
    const at = this.#reserve(16)
    if (value === ZERO_UUID) this.#buffer.fill(0, at, at + 16)
    else if (value.length !== 22 || this.#buffer.write(value, at, 16, 'base64url') !== 16) throw refuse(value, 'a uuid')
  }

  /** Unsigned varint of at most 31 bits. */
  uvarint(value: number): void {
    if ((value | 0) !== value || value < 0) throw refuse(value, 'an unsigned varint')
    let rest = value
    while (rest > 0x7f) {
      const at = this.#reserve(1)
      this.#view.setUint8(at, (rest & 0x7f) | 0x80)
      rest >>>= 7
    }
    const at = this.#reserve(1)
    this.#view.setUint8(at, rest)
  }

  string(value: string): void {
    const bytes = this.#textBytes(value)
    this.int16(bytes)
    this.#text(value, bytes)
  }

  nullableString(value: string | null): void {
    if (value === null) this.int16(-1)
    else this.string(value)
  }

  compactString(value: string): void {
    const bytes = this.#textBytes(value)
    this.uvarint(bytes + 1)
    this.#text(value, bytes)
  }

  compactNullableString(value: string | null): void {
    if (value === null) this.uvarint(0)
    else this.compactString(value)
  }

  bytes(value: Buffer): void {
    this.int32(value.length)
    this.raw(value)
  }

  nullableBytes(value: Buffer | null): void {
    if (value === null) this.int32(-1)
    else this.bytes(value)
  }

  compactBytes(value: Buffer): void {
    this.uvarint(value.length + 1)
    this.raw(value)
  }

  compactNullableBytes(value: Buffer | null): void {
    if (value === null) this.uvarint(0)
    else this.compactBytes(value)
  }

  /** Count of an array; −1 = null. */
  count(value: number): void {
    this.int32(value)
  }

  /** Count of an array in a flexible version; −1 = null. */
  compactCount(value: number): void {
    this.uvarint(value + 1)
  }

  /** The bytes as they are; from `spliceBytesMin` on by reference. */
  raw(value: Buffer): void {
    if (value.length >= this.#spliceBytesMin) {
      if (this.sizeBytes + value.length > TOTAL_BYTES_MAX) throw refuse(value.length, 'a number of bytes that fits')
      this.#closeChunk()
      this.#chunks.push(value)
      this.#chunkedBytes += value.length
      return
    }
    const at = this.#reserve(value.length)
    value.copy(this.#buffer, at)
  }

  #textBytes(value: string): number {
    const bytes = Buffer.byteLength(value, 'utf8')
    if (bytes > STRING_BYTES_MAX) throw refuse(`a text of ${bytes} bytes`, `at most ${STRING_BYTES_MAX} bytes`)
    return bytes
  }

  #text(value: string, bytes: number): void {
    const at = this.#reserve(bytes)
    this.#buffer.write(value, at, bytes, 'utf8')
  }
}
