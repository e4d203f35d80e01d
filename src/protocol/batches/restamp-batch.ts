/** Changes what a broker may change in a batch it accepts: offset, leader epoch, append time. In place; called by log and replica. */
import {
  at,
  attributeBit,
  attributesAt,
  maxTimestampAt,
  sizeAt,
  stampBaseOffset,
  stampLeaderEpoch,
} from './batch-layout.ts'
import { computeCrc } from './verify-batch.ts'

/** What to overwrite. Absent fields stay. */
export interface Restamp {
  readonly baseOffset?: number
  readonly leaderEpoch?: number
  /** Sets the max timestamp and its type; recomputes the CRC if that changes a byte. */
  readonly maxTimestamp?: { readonly timestamp: bigint; readonly type: 'create' | 'append' }
}

/** Restamps the whole batch at `position` in place. The batch must have been verified. */
export function restampBatch(buffer: Buffer, position: number, change: Restamp): void {
  if (change.baseOffset !== undefined) stampBaseOffset(buffer, position, change.baseOffset)
  if (change.leaderEpoch !== undefined) stampLeaderEpoch(buffer, position, change.leaderEpoch)
  if (change.maxTimestamp !== undefined) stampMaxTimestamp(buffer, position, change.maxTimestamp)
}

function stampMaxTimestamp(
  buffer: Buffer,
  position: number,
  to: { timestamp: bigint; type: 'create' | 'append' },
): void {
  const before = attributesAt(buffer, position)
  const attributes = to.type === 'append' ? before | attributeBit.logAppendTime : before & ~attributeBit.logAppendTime
  if (attributes === before && maxTimestampAt(buffer, position) === to.timestamp) return
  buffer.writeInt16BE(attributes, position + at.attributes)
  buffer.writeBigInt64BE(to.timestamp, position + at.maxTimestamp)
  buffer.writeUInt32BE(computeCrc(buffer, position, sizeAt(buffer, position)), position + at.crc)
}
