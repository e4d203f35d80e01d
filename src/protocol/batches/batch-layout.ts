/** Where the fields of a magic 2 batch lie, and allocation-free access to single ones; used by the mirror path and everything here. */
import { BatchError } from './batch-error.ts'

/** Bytes of baseOffset and batchLength, which batchLength does not count. */
export const LOG_OVERHEAD_BYTES = 12
/** Bytes before the first record. */
export const HEADER_BYTES = 61
/** First byte that the CRC covers: base offset, length, leader epoch and magic can be restamped without touching it. */
export const CRC_COVERS_FROM = 21

/** Byte positions inside a batch. */
export const at = {
  baseOffset: 0,
  batchLength: 8,
  leaderEpoch: 12,
  magic: 16,
  crc: 17,
  attributes: 21,
  lastOffsetDelta: 23,
  baseTimestamp: 27,
  maxTimestamp: 35,
  producerId: 43,
  producerEpoch: 51,
  baseSequence: 53,
  recordCount: 57,
} as const

/** Bits of the attributes field above the codec number. */
export const attributeBit = {
  logAppendTime: 0x08,
  transactional: 0x10,
  control: 0x20,
  deleteHorizon: 0x40,
} as const

/** The codec number's bits. */
export const CODEC_MASK = 0x07

const TWO_32 = 0x1_0000_0000

/** Base offset of the batch at `position`. Throws BatchError 'invalid-header' for a negative one or one beyond 2^53. */
export function baseOffsetAt(buffer: Buffer, position: number): number {
  const high = buffer.readInt32BE(position)
  if (high < 0 || high > 0x1f_ffff) {
    throw new BatchError('invalid-header', `base offset ${buffer.readBigInt64BE(position)} is not between 0 and 2^53`)
  }
  return high * TWO_32 + buffer.readUInt32BE(position + 4)
}

/** Size in bytes of the whole batch at `position`, its first 12 bytes included; not checked against anything. */
export const sizeAt = (buffer: Buffer, position: number): number =>
  buffer.readInt32BE(position + at.batchLength) + LOG_OVERHEAD_BYTES

export const leaderEpochAt = (buffer: Buffer, position: number): number => buffer.readInt32BE(position + at.leaderEpoch)
export const magicAt = (buffer: Buffer, position: number): number => buffer.readInt8(position + at.magic)
export const crcAt = (buffer: Buffer, position: number): number => buffer.readUInt32BE(position + at.crc)
export const attributesAt = (buffer: Buffer, position: number): number => buffer.readInt16BE(position + at.attributes)
export const recordCountAt = (buffer: Buffer, position: number): number => buffer.readInt32BE(position + at.recordCount)
export const maxTimestampAt = (buffer: Buffer, position: number): bigint =>
  buffer.readBigInt64BE(position + at.maxTimestamp)
export const producerIdAt = (buffer: Buffer, position: number): bigint =>
  buffer.readBigInt64BE(position + at.producerId)

/** Last offset that the batch at `position` covers; the cleaner may have removed the record itself. */
export const lastOffsetAt = (buffer: Buffer, position: number): number =>
  baseOffsetAt(buffer, position) + buffer.readInt32BE(position + at.lastOffsetDelta)

/** Overwrites the base offset; the CRC does not cover it. */
export function stampBaseOffset(buffer: Buffer, position: number, baseOffset: number): void {
  buffer.writeInt32BE(Math.floor(baseOffset / TWO_32), position)
  buffer.writeUInt32BE(baseOffset % TWO_32, position + 4)
}

/** Overwrites the leader epoch; the CRC does not cover it. */
export const stampLeaderEpoch = (buffer: Buffer, position: number, leaderEpoch: number): void => {
  buffer.writeInt32BE(leaderEpoch, position + at.leaderEpoch)
}
