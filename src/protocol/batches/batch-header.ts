/** The fixed 61-byte header of a record batch as an object; read by log, replica, broker and link without touching records. */
import { BatchError } from './batch-error.ts'
import {
  at,
  attributeBit,
  attributesAt,
  baseOffsetAt,
  CODEC_MASK,
  crcAt,
  HEADER_BYTES,
  leaderEpochAt,
  magicAt,
  maxTimestampAt,
  producerIdAt,
  recordCountAt,
  sizeAt,
} from './batch-layout.ts'

/** Header of a magic 2 batch. Fields are as on the wire; nothing but size, magic and base offset has been checked. */
export interface BatchHeader {
  /** Where the batch starts in the buffer it was read from. */
  readonly position: number
  /** The whole batch, including the 12 bytes that the length field does not count. */
  readonly sizeBytes: number
  readonly baseOffset: number
  readonly lastOffset: number
  readonly leaderEpoch: number
  readonly magic: number
  readonly crc: number
  readonly attributes: number
  readonly lastOffsetDelta: number
  /** Timestamp that record deltas are relative to; the delete horizon where that flag is set. */
  readonly baseTimestamp: bigint
  readonly maxTimestamp: bigint
  readonly producerId: bigint
  readonly producerEpoch: number
  readonly baseSequence: number
  /** 0 for the empty batches that the cleaner keeps. */
  readonly recordCount: number
}

/** Codecs by their number in the attributes. */
export const compressionNames = ['none', 'gzip', 'snappy', 'lz4', 'zstd'] as const
export type Compression = (typeof compressionNames)[number]

/** "No producer id / epoch / sequence / leader epoch" on the wire. */
export const NO_PRODUCER_ID = -1n
export const NO_PRODUCER_EPOCH = -1
export const NO_SEQUENCE = -1
export const NO_LEADER_EPOCH = -1
export const NO_TIMESTAMP = -1n

/**
 * Reads the header at `position`; the records need not be in the buffer.
 * Throws BatchError 'truncated' (fewer than 61 bytes), 'unsupported-magic', 'invalid-size' or 'invalid-header'.
 */
export function readBatchHeader(buffer: Buffer, position: number): BatchHeader {
  const available = buffer.length - position
  if (available <= at.magic) throw truncatedHeader(available)
  checkMagicAndSize(buffer, position)
  if (available < HEADER_BYTES) throw truncatedHeader(available)
  const baseOffset = baseOffsetAt(buffer, position)
  const lastOffsetDelta = buffer.readInt32BE(position + at.lastOffsetDelta)
  return {
    position,
    sizeBytes: sizeAt(buffer, position),
    baseOffset,
    lastOffset: baseOffset + lastOffsetDelta,
    leaderEpoch: leaderEpochAt(buffer, position),
    magic: magicAt(buffer, position),
    crc: crcAt(buffer, position),
    attributes: attributesAt(buffer, position),
    lastOffsetDelta,
    baseTimestamp: buffer.readBigInt64BE(position + at.baseTimestamp),
    maxTimestamp: maxTimestampAt(buffer, position),
    producerId: producerIdAt(buffer, position),
    producerEpoch: buffer.readInt16BE(position + at.producerEpoch),
    baseSequence: buffer.readInt32BE(position + at.baseSequence),
    recordCount: recordCountAt(buffer, position),
  }
}

/** Refuses old formats by name, then impossible lengths. Needs the first 17 bytes. */
export function checkMagicAndSize(buffer: Buffer, position: number): void {
  const magic = magicAt(buffer, position)
  if (magic !== 2) {
    const what =
      magic === 0 || magic === 1
        ? `message format ${magic} (magic ${magic}, written by clients or brokers before Kafka 0.11) is not supported; only record batches (magic 2) are`
        : `magic ${magic} at byte ${position + at.magic} is not a known record format`
    throw new BatchError('unsupported-magic', what)
  }
  const sizeBytes = sizeAt(buffer, position)
  if (sizeBytes < HEADER_BYTES) {
    throw new BatchError(
      'invalid-size',
      `batch at byte ${position} says it has ${sizeBytes} bytes, fewer than its ${HEADER_BYTES}-byte header`,
    )
  }
}

const truncatedHeader = (available: number) =>
  new BatchError('truncated', `${Math.max(available, 0)} bytes are too few for a ${HEADER_BYTES}-byte batch header`)

/** Codec of the records. Throws BatchError 'unsupported-compression' for numbers 5 to 7. */
export function compressionOf(header: Pick<BatchHeader, 'attributes'>): Compression {
  const number = header.attributes & CODEC_MASK
  const name = compressionNames[number]
  if (name === undefined) throw new BatchError('unsupported-compression', `compression codec ${number} does not exist`)
  return name
}

export const isTransactional = (header: Pick<BatchHeader, 'attributes'>): boolean =>
  (header.attributes & attributeBit.transactional) !== 0
export const isControl = (header: Pick<BatchHeader, 'attributes'>): boolean =>
  (header.attributes & attributeBit.control) !== 0
/** True if every record's timestamp is the batch's max timestamp, set by the broker. */
export const usesLogAppendTime = (header: Pick<BatchHeader, 'attributes'>): boolean =>
  (header.attributes & attributeBit.logAppendTime) !== 0
/** True if the base timestamp is the time after which the cleaner may drop tombstones and markers (KIP-534). */
export const hasDeleteHorizon = (header: Pick<BatchHeader, 'attributes'>): boolean =>
  (header.attributes & attributeBit.deleteHorizon) !== 0
export const hasProducerId = (header: Pick<BatchHeader, 'producerId'>): boolean => header.producerId >= 0n

/** `sequence` plus `count`, wrapping from 2^31 - 1 to 0 as idempotent producers do. */
export function incrementSequence(sequence: number, count: number): number {
  const next = sequence + count
  return next > 0x7fff_ffff ? next - 0x8000_0000 : next
}

/** Sequence number of the batch's last record, -1 without sequences. */
export const lastSequenceOf = (header: Pick<BatchHeader, 'baseSequence' | 'lastOffsetDelta'>): number =>
  header.baseSequence === NO_SEQUENCE ? NO_SEQUENCE : incrementSequence(header.baseSequence, header.lastOffsetDelta)
