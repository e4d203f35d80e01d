/** Builds record batches: our own state records, control batches, recompression, test data. A mirror never builds what it copies. */
import assert from 'node:assert/strict'
import {
  type Compression,
  compressionNames,
  NO_LEADER_EPOCH,
  NO_PRODUCER_EPOCH,
  NO_PRODUCER_ID,
  NO_SEQUENCE,
  NO_TIMESTAMP,
} from './batch-header.ts'
import { at, attributeBit, CRC_COVERS_FROM, HEADER_BYTES, LOG_OVERHEAD_BYTES, stampBaseOffset } from './batch-layout.ts'
import { compress } from './compression/codecs.ts'
import { crc32c } from './crc32c.ts'
import { type RecordInput, recordBodySize, writeRecord } from './record-encoder.ts'
import { varintSize } from './varint.ts'

/** What to build. Only `records` is required; everything else defaults to what a plain producer sends. */
export interface BatchInput {
  /** Ascending by offset delta. Empty: a batch without records, as the cleaner keeps for a producer's last sequence. */
  readonly records: readonly RecordInput[]
  readonly baseOffset?: number
  readonly leaderEpoch?: number
  readonly compression?: Compression
  /** Of gzip or zstd. */
  readonly compressionLevel?: number
  readonly producerId?: bigint
  readonly producerEpoch?: number
  readonly baseSequence?: number
  readonly transactional?: boolean
  readonly control?: boolean
  /** Last offset delta if it lies beyond the last record's, as after cleaning. */
  readonly lastOffsetDelta?: number
  /** Max timestamp of a batch without records; its base timestamp is -1 as the cleaner writes it. */
  readonly emptyBatchTimestamp?: bigint
  /** Every record's timestamp is this one (log append time). */
  readonly logAppendTime?: bigint
  /** Time after which the cleaner may drop tombstones and markers (KIP-534); becomes the base timestamp. */
  readonly deleteHorizon?: bigint
}

/** Builds one batch, CRC included. Programming errors in the input (descending offsets, a size over 2 GiB) are assertions. */
export function buildBatch(input: BatchInput): Buffer {
  const baseTimestamp = input.deleteHorizon ?? input.records[0]?.timestamp ?? NO_TIMESTAMP
  const encoded = encodeRecords(input.records, baseTimestamp)
  const compression = input.records.length === 0 ? 'none' : (input.compression ?? 'none')
  const batch = withRoomForHeader(encoded.bytes, compression, input.compressionLevel)
  const lastOffsetDelta = input.lastOffsetDelta ?? Math.max(encoded.lastOffsetDelta, 0)
  assert(lastOffsetDelta >= encoded.lastOffsetDelta, 'the last offset delta covers every record')
  writeHeader(batch, input, {
    attributes: attributesOf(input, compression),
    baseTimestamp,
    maxTimestamp: input.logAppendTime ?? maxTimestampOf(input),
    lastOffsetDelta,
  })
  return batch
}

/** Records at HEADER_BYTES, so that an uncompressed batch is complete without another copy. */
function encodeRecords(records: readonly RecordInput[], baseTimestamp: bigint) {
  let lastOffsetDelta = -1
  let size = HEADER_BYTES
  const plan = records.map(record => {
    const offsetDelta = record.offsetDelta ?? lastOffsetDelta + 1
    assert(offsetDelta > lastOffsetDelta, 'records ascend by offset')
    lastOffsetDelta = offsetDelta
    const deltas = { offsetDelta, timestampDelta: record.timestamp - baseTimestamp }
    const bodySize = recordBodySize(record, deltas)
    size += varintSize(bodySize) + bodySize
    return { record, deltas, bodySize }
  })
  assert(size <= 0x7fff_ffff, 'a batch has less than 2 GiB')
  const buffer = Buffer.allocUnsafe(size)
  let position = HEADER_BYTES
  for (const { record, deltas, bodySize } of plan) {
    position = writeRecord({ buffer, position, bodySize }, record, deltas)
  }
  assert(position === size, 'the size pass and the write pass agree')
  return { bytes: buffer, lastOffsetDelta }
}

function withRoomForHeader(encoded: Buffer, compression: Compression, level: number | undefined): Buffer {
  if (compression === 'none') return encoded
  const compressed = compress(compression, encoded.subarray(HEADER_BYTES), level)
  const batch = Buffer.allocUnsafe(HEADER_BYTES + compressed.length)
  compressed.copy(batch, HEADER_BYTES)
  return batch
}

function attributesOf(input: BatchInput, compression: Compression): number {
  return (
    compressionNames.indexOf(compression) |
    (input.logAppendTime === undefined ? 0 : attributeBit.logAppendTime) |
    (input.transactional ? attributeBit.transactional : 0) |
    (input.control ? attributeBit.control : 0) |
    (input.deleteHorizon === undefined ? 0 : attributeBit.deleteHorizon)
  )
}

function maxTimestampOf(input: BatchInput): bigint {
  if (input.records.length === 0) return input.emptyBatchTimestamp ?? NO_TIMESTAMP
  let max = NO_TIMESTAMP
  for (const { timestamp } of input.records) if (timestamp > max) max = timestamp
  return max
}

function writeHeader(
  batch: Buffer,
  input: BatchInput,
  of: { attributes: number; baseTimestamp: bigint; maxTimestamp: bigint; lastOffsetDelta: number },
): void {
  stampBaseOffset(batch, 0, input.baseOffset ?? 0)
  batch.writeInt32BE(batch.length - LOG_OVERHEAD_BYTES, at.batchLength)
  batch.writeInt32BE(input.leaderEpoch ?? NO_LEADER_EPOCH, at.leaderEpoch)
  batch.writeInt8(2, at.magic)
  batch.writeInt16BE(of.attributes, at.attributes)
  batch.writeInt32BE(of.lastOffsetDelta, at.lastOffsetDelta)
  batch.writeBigInt64BE(of.baseTimestamp, at.baseTimestamp)
  batch.writeBigInt64BE(of.maxTimestamp, at.maxTimestamp)
  batch.writeBigInt64BE(input.producerId ?? NO_PRODUCER_ID, at.producerId)
  batch.writeInt16BE(input.producerEpoch ?? NO_PRODUCER_EPOCH, at.producerEpoch)
  batch.writeInt32BE(input.baseSequence ?? NO_SEQUENCE, at.baseSequence)
  batch.writeInt32BE(input.records.length, at.recordCount)
  batch.writeUInt32BE(crc32c(batch.subarray(CRC_COVERS_FROM)), at.crc)
}
