/** Bytes of Kafka's producer state snapshot (`.snapshot`, version 1); ProducerState encodes and decodes with it. */
import { crc32c } from '../protocol/batches/crc32c.ts'
import { ProducerEntry } from './producer-entry.ts'

const HEADER_BYTES = 10
const ENTRY_BYTES = 46
/** The CRC covers everything behind itself. */
const CRC_COVERS_FROM = 6

/** int16 version, uint32 CRC-32C, int32 count, then 46 bytes per producer with its last batch only. */
export function encodeProducerSnapshot(entries: readonly ProducerEntry[]): Buffer {
  const bytes = Buffer.alloc(HEADER_BYTES + entries.length * ENTRY_BYTES)
  bytes.writeInt16BE(1, 0)
  bytes.writeInt32BE(entries.length, 6)
  entries.forEach((entry, index) => {
    const at = HEADER_BYTES + index * ENTRY_BYTES
    const last = entry.lastBatch
    bytes.writeBigInt64BE(entry.producerId, at)
    bytes.writeInt16BE(entry.producerEpoch, at + 8)
    bytes.writeInt32BE(last?.lastSequence ?? -1, at + 10)
    bytes.writeBigInt64BE(BigInt(last?.lastOffset ?? -1), at + 14)
    bytes.writeInt32BE(last?.offsetDelta ?? 0, at + 22)
    bytes.writeInt32BE(entry.timestampHigh, at + 26)
    bytes.writeUInt32BE(entry.timestampLow, at + 30)
    bytes.writeInt32BE(entry.coordinatorEpoch, at + 34)
    bytes.writeBigInt64BE(BigInt(entry.transactionFirstOffset), at + 38)
  })
  bytes.writeUInt32BE(crc32c(bytes.subarray(CRC_COVERS_FROM)), 2)
  return bytes
}

/** undefined if the bytes are torn, of another version, or fail their CRC. */
export function decodeProducerSnapshot(bytes: Buffer): ProducerEntry[] | undefined {
  if (bytes.length < HEADER_BYTES || bytes.readInt16BE(0) !== 1) return undefined
  if (crc32c(bytes.subarray(CRC_COVERS_FROM)) !== bytes.readUInt32BE(2)) return undefined
  const count = bytes.readInt32BE(6)
  if (bytes.length !== HEADER_BYTES + count * ENTRY_BYTES) return undefined
  return Array.from({ length: count }, (_, index) => decodeEntry(bytes, HEADER_BYTES + index * ENTRY_BYTES))
}

function decodeEntry(bytes: Buffer, at: number): ProducerEntry {
  const entry = new ProducerEntry(bytes.readBigInt64BE(at))
  entry.producerEpoch = bytes.readInt16BE(at + 8)
  entry.timestampHigh = bytes.readInt32BE(at + 26)
  entry.timestampLow = bytes.readUInt32BE(at + 30)
  entry.coordinatorEpoch = bytes.readInt32BE(at + 34)
  entry.transactionFirstOffset = Number(bytes.readBigInt64BE(at + 38))
  const lastOffset = Number(bytes.readBigInt64BE(at + 14))
  if (lastOffset >= 0) {
    entry.batches.push({
      lastSequence: bytes.readInt32BE(at + 10),
      lastOffset,
      offsetDelta: bytes.readInt32BE(at + 22),
      timestampHigh: entry.timestampHigh,
      timestampLow: entry.timestampLow,
    })
  }
  return entry
}
