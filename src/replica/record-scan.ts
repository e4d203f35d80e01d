/** Walks the records of an uncompressed record section without making objects of them; the validation of client appends calls it. */

/** A record section that does not parse. */
export class MalformedRecords extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'MalformedRecords'
  }
}

/** What a record says about itself, its payload left where it is. */
export interface ScannedRecord {
  readonly index: number
  /** Milliseconds relative to the batch's base timestamp; a bigint only where a number would not be exact. */
  readonly timestampDelta: number | bigint
  readonly offsetDelta: number
  readonly hasKey: boolean
}

/** Totals over a record section. */
export interface RecordScan {
  readonly minTimestampDelta: number | bigint
  readonly maxTimestampDelta: number | bigint
  /** Offset deltas are 0, 1, 2, ... */
  readonly consecutive: boolean
  readonly everyRecordHasKey: boolean
}

/**
 * Checks that `bytes` is exactly `count` well-formed records and sums them up. Throws MalformedRecords.
 * `onRecord` is called for each one where the totals are not enough.
 */
export function scanRecords(bytes: Buffer, count: number, onRecord?: (record: ScannedRecord) => void): RecordScan {
  const cursor = new Cursor(bytes)
  let minTimestampDelta: number | bigint = Number.POSITIVE_INFINITY
  let maxTimestampDelta: number | bigint = Number.NEGATIVE_INFINITY
  let consecutive = true
  let everyRecordHasKey = true
  for (let index = 0; index < count; index++) {
    const end = cursor.open()
    cursor.skip(1) // record attributes: none are defined
    const timestampDelta = cursor.varlong()
    const offsetDelta = cursor.varint()
    const keyBytes = cursor.varint()
    if (keyBytes >= 0) cursor.skip(keyBytes)
    const valueBytes = cursor.varint()
    if (valueBytes >= 0) cursor.skip(valueBytes)
    skipHeaders(cursor)
    if (cursor.position !== end)
      throw new MalformedRecords(`record ${index} says it ends at byte ${end} but ends at byte ${cursor.position}`)
    if (timestampDelta < minTimestampDelta) minTimestampDelta = timestampDelta
    if (timestampDelta > maxTimestampDelta) maxTimestampDelta = timestampDelta
    if (offsetDelta !== index) consecutive = false
    if (keyBytes < 0) everyRecordHasKey = false
    onRecord?.({ index, timestampDelta, offsetDelta, hasKey: keyBytes >= 0 })
  }
  if (cursor.position !== bytes.length)
    throw new MalformedRecords(
      `${bytes.length - cursor.position} bytes follow the ${count} records that the header declares`,
    )
  return { minTimestampDelta, maxTimestampDelta, consecutive, everyRecordHasKey }
}

function skipHeaders(cursor: Cursor): void {
  const headers = cursor.varint()
  if (headers < 0) throw new MalformedRecords(`a record has ${headers} headers`)
  for (let i = 0; i < headers; i++) {
    const keyBytes = cursor.varint()
    if (keyBytes < 0) throw new MalformedRecords('a record header has no key')
    cursor.skip(keyBytes)
    const valueBytes = cursor.varint()
    if (valueBytes >= 0) cursor.skip(valueBytes)
  }
}

/** A position in the bytes, moved by zig-zag varints; nothing is read past the end of the record that is open. */
class Cursor {
  readonly #bytes: Buffer
  #limit: number
  position = 0

  constructor(bytes: Buffer) {
    this.#bytes = bytes
    this.#limit = bytes.length
  }

  /** Reads a record's length; returns where the record must end. */
  open(): number {
    this.#limit = this.#bytes.length
    const size = this.varint()
    const end = this.position + size
    if (size < 0 || end > this.#bytes.length)
      throw new MalformedRecords(
        `a record of ${size} bytes does not fit into what is left (${this.#bytes.length - this.position} bytes)`,
      )
    this.#limit = end
    return end
  }

  skip(count: number): void {
    this.position += count
    if (this.position > this.#limit) throw new MalformedRecords('a field reaches past the end of its record')
  }

  varint(): number {
    let raw = 0
    for (let shift = 0; ; shift += 7) {
      const byte = this.#next()
      if (shift === 28 && byte > 0x0f) throw new MalformedRecords('a varint has more than 32 bits')
      raw |= (byte & 0x7f) << shift
      if (byte < 0x80) return (raw >>> 1) ^ -(raw & 1)
    }
  }

  varlong(): number | bigint {
    const start = this.position
    let raw = 0
    let scale = 1
    for (let count = 0; count < 7; count++) {
      const byte = this.#next()
      raw += (byte & 0x7f) * scale
      // 7 bytes are 49 bits: halving and negating stay exact.
      if (byte < 0x80) return raw % 2 === 0 ? raw / 2 : -(raw + 1) / 2
      scale *= 128
    }
    this.position = start
    return this.#wideVarlong()
  }

  #wideVarlong(): bigint {
    let raw = 0n
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = this.#next()
      if (shift === 63n && byte > 1) break
      raw |= BigInt(byte & 0x7f) << shift
      if (byte < 0x80) return BigInt.asIntN(64, (raw >> 1n) ^ -(raw & 1n))
    }
    throw new MalformedRecords('a varlong has more than 64 bits')
  }

  #next(): number {
    const byte = this.position < this.#limit ? this.#bytes[this.position] : undefined
    if (byte === undefined) throw new MalformedRecords('a varint reaches past the end of its record')
    this.position++
    return byte
  }
}
