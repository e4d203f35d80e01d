/** One record to bytes (format version 2); called by the batch builder. */
import { varintSize, varlongSize, writeVarint, writeVarlong } from './varint.ts'

/** A header of a record; the value may be null, the key may repeat. */
export interface RecordHeader {
  readonly key: string
  readonly value: Buffer | null
}

/** A record as the builder takes it. */
export interface RecordInput {
  /** Milliseconds since 1970; -1 for none. */
  readonly timestamp: bigint
  readonly key: Buffer | null
  readonly value: Buffer | null
  readonly headers?: readonly RecordHeader[]
  /** Offset relative to the batch's base offset; by default one more than the record before. */
  readonly offsetDelta?: number
}

/** A record's deltas within its batch. */
export interface RecordDeltas {
  readonly timestampDelta: bigint
  readonly offsetDelta: number
}

const NULL_LENGTH = -1

/** Bytes of the record without the length varint in front of it. */
export function recordBodySize(record: RecordInput, deltas: RecordDeltas): number {
  let size = 1 + varlongSize(deltas.timestampDelta) + varintSize(deltas.offsetDelta)
  size += bytesSize(record.key) + bytesSize(record.value)
  const headers = record.headers ?? []
  size += varintSize(headers.length)
  for (const header of headers) {
    const keyBytes = Buffer.byteLength(header.key)
    size += varintSize(keyBytes) + keyBytes + bytesSize(header.value)
  }
  return size
}

/** Writes length and record; returns the position after it. `bodySize` is what recordBodySize said. */
export function writeRecord(
  target: { buffer: Buffer; position: number; bodySize: number },
  record: RecordInput,
  deltas: RecordDeltas,
): number {
  const { buffer } = target
  let next = writeVarint(buffer, target.bodySize, target.position)
  buffer[next++] = 0
  next = writeVarlong(buffer, deltas.timestampDelta, next)
  next = writeVarint(buffer, deltas.offsetDelta, next)
  next = writeBytes(buffer, record.key, next)
  next = writeBytes(buffer, record.value, next)
  const headers = record.headers ?? []
  next = writeVarint(buffer, headers.length, next)
  for (const header of headers) {
    next = writeVarint(buffer, Buffer.byteLength(header.key), next)
    next += buffer.write(header.key, next)
    next = writeBytes(buffer, header.value, next)
  }
  return next
}

const bytesSize = (bytes: Buffer | null): number =>
  bytes === null ? varintSize(NULL_LENGTH) : varintSize(bytes.length) + bytes.length

function writeBytes(buffer: Buffer, bytes: Buffer | null, position: number): number {
  if (bytes === null) return writeVarint(buffer, NULL_LENGTH, position)
  const next = writeVarint(buffer, bytes.length, position)
  return next + bytes.copy(buffer, next)
}
