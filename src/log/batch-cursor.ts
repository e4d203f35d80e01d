/** Walks batch headers in a buffer without allocating; the log's append, read, recovery and replay paths share it. */
import { at, attributeBit, baseOffsetAt, HEADER_BYTES, lastOffsetAt, sizeAt } from '../protocol/batches/batch-layout.ts'

/** The header fields that a log needs of the batch at `position`; valid after `moveTo` answered `whole` or `partial`. */
export class BatchCursor {
  buffer: Buffer = Buffer.alloc(0)
  position = 0
  sizeBytes = 0
  baseOffset = 0
  lastOffset = 0

  /**
   * Looks at the batch at `position`. `whole`: all its bytes are in the buffer; `partial`: at least its header is;
   * `short`: fewer bytes than a header; `invalid`: not a magic 2 batch with possible length and offsets.
   */
  moveTo(buffer: Buffer, position: number): 'whole' | 'partial' | 'short' | 'invalid' {
    if (buffer.length - position < HEADER_BYTES) return 'short'
    const sizeBytes = sizeAt(buffer, position)
    if (sizeBytes < HEADER_BYTES || buffer[position + at.magic] !== 2) return 'invalid'
    // Base offsets from 0 to 2^53 only.
    if (buffer.readUInt32BE(position) > 0x1f_ffff) return 'invalid'
    this.baseOffset = baseOffsetAt(buffer, position)
    this.lastOffset = lastOffsetAt(buffer, position)
    if (this.lastOffset < this.baseOffset || this.lastOffset >= Number.MAX_SAFE_INTEGER) return 'invalid'
    this.buffer = buffer
    this.position = position
    this.sizeBytes = sizeBytes
    return position + sizeBytes <= buffer.length ? 'whole' : 'partial'
  }

  get leaderEpoch(): number {
    return this.buffer.readInt32BE(this.position + at.leaderEpoch)
  }

  get isControl(): boolean {
    return ((this.buffer[this.position + at.attributes + 1] ?? 0) & attributeBit.control) !== 0
  }

  get isTransactional(): boolean {
    return ((this.buffer[this.position + at.attributes + 1] ?? 0) & attributeBit.transactional) !== 0
  }

  get hasProducerId(): boolean {
    return this.buffer.readInt32BE(this.position + at.producerId) >= 0
  }

  get maxTimestamp(): bigint {
    return this.buffer.readBigInt64BE(this.position + at.maxTimestamp)
  }

  /** The max timestamp as a number: exact below 2^53, good enough for ages beyond. */
  get timestampMs(): number {
    return this.timestampHigh * 0x1_0000_0000 + this.timestampLow
  }

  /** High and low half of the max timestamp, for comparisons that allocate nothing. */
  get timestampHigh(): number {
    return this.buffer.readInt32BE(this.position + at.maxTimestamp)
  }

  get timestampLow(): number {
    return this.buffer.readUInt32BE(this.position + at.maxTimestamp + 4)
  }
}
