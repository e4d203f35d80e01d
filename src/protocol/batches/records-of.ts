/** Decodes the records of a batch: browsing, validation of produced batches, cleaning, state replay. Never on the mirror path. */
import { BatchError } from './batch-error.ts'
import { type BatchHeader, compressionOf, usesLogAppendTime } from './batch-header.ts'
import { recordBytesOf } from './batch-iteration.ts'
import { decompress } from './compression/codecs.ts'
import { RecordCursor } from './record-cursor.ts'
import type { RecordHeader } from './record-encoder.ts'

/** A record as its consumer sees it. Key, value and header values are references into the (decompressed) bytes. */
export interface DecodedRecord {
  readonly offset: number
  /** Milliseconds since 1970; the batch's max timestamp under log append time. */
  readonly timestamp: bigint
  readonly key: Buffer | null
  readonly value: Buffer | null
  readonly headers: readonly RecordHeader[]
}

/** Bounds against batches that are small on the wire and huge in memory. */
export interface DecodeLimits {
  /** Most bytes that decompression may give; default 256 MiB. */
  readonly decompressedBytesMax?: number
  /** Most records and headers kept as objects at once; default 2 million. */
  readonly itemsMax?: number
}

const DECOMPRESSED_BYTES_MAX = 256 * 1024 * 1024
const ITEMS_MAX = 2_000_000
const NO_HEADERS: readonly RecordHeader[] = []

/**
 * The records one after the other, each garbage once dropped. The batch must be complete; its CRC need not have been checked.
 * Throws BatchError: 'truncated', 'unsupported-compression', 'decompression-failed', 'too-large' or 'invalid-records'.
 */
export function* recordsIn(
  buffer: Buffer,
  header: BatchHeader,
  limits: DecodeLimits = {},
): Generator<DecodedRecord, void, undefined> {
  const cursor = new RecordCursor(plainRecordBytes(buffer, header, limits))
  const itemsMax = limits.itemsMax ?? ITEMS_MAX
  const appendTime = usesLogAppendTime(header) ? header.maxTimestamp : undefined
  if (header.recordCount < 0)
    throw new BatchError('invalid-records', `the batch says it has ${header.recordCount} records`)
  for (let index = 0; index < header.recordCount; index++) {
    if (cursor.atEnd) {
      throw new BatchError('invalid-records', `the batch says ${header.recordCount} records and holds ${index}`)
    }
    yield readRecord(cursor, header, { appendTime, itemsMax })
  }
  if (!cursor.atEnd) {
    throw new BatchError('invalid-records', `bytes are left behind the ${header.recordCount} records of the batch`)
  }
}

/** All records of a batch. Throws like recordsIn; 'too-large' also for more than `itemsMax` records and headers. */
export function recordsOf(buffer: Buffer, header: BatchHeader, limits: DecodeLimits = {}): DecodedRecord[] {
  const itemsMax = limits.itemsMax ?? ITEMS_MAX
  const records: DecodedRecord[] = []
  let items = 0
  for (const record of recordsIn(buffer, header, limits)) {
    items += 1 + record.headers.length
    if (items > itemsMax) throw tooManyItems(itemsMax)
    records.push(record)
  }
  return records
}

function plainRecordBytes(buffer: Buffer, header: BatchHeader, limits: DecodeLimits): Buffer {
  const bytes = recordBytesOf(buffer, header)
  if (header.position + header.sizeBytes > buffer.length) {
    throw new BatchError('truncated', `batch at offset ${header.baseOffset} is not complete`)
  }
  const compression = compressionOf(header)
  if (compression === 'none' || header.recordCount === 0) return bytes
  return decompress(compression, bytes, limits.decompressedBytesMax ?? DECOMPRESSED_BYTES_MAX)
}

function readRecord(
  cursor: RecordCursor,
  header: BatchHeader,
  by: { appendTime: bigint | undefined; itemsMax: number },
): DecodedRecord {
  cursor.enterRecord()
  cursor.byte() // attributes, unused by Kafka so far
  const timestampDelta = cursor.varlong()
  const offset = header.baseOffset + cursor.varint()
  const key = cursor.nullableBytes()
  const value = cursor.nullableBytes()
  const headers = readHeaders(cursor, by.itemsMax)
  cursor.leaveRecord()
  return { offset, timestamp: by.appendTime ?? header.baseTimestamp + timestampDelta, key, value, headers }
}

function readHeaders(cursor: RecordCursor, itemsMax: number): readonly RecordHeader[] {
  const count = cursor.varint()
  if (count === 0) return NO_HEADERS
  if (count < 0) throw new BatchError('invalid-records', `a record says it has ${count} headers`)
  if (count > itemsMax) throw tooManyItems(itemsMax)
  const headers: RecordHeader[] = []
  for (let index = 0; index < count; index++) headers.push({ key: cursor.text(), value: cursor.nullableBytes() })
  return headers
}

const tooManyItems = (itemsMax: number) =>
  new BatchError('too-large', `the batch has more than ${itemsMax} records and headers`)
