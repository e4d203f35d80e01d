/** Walks batch headers in a buffer without allocating; the mirror's verification and all paths of the log share it. */
import { at, attributeBit, HEADER_BYTES, LOG_OVERHEAD_BYTES } from './batch-layout.ts'

const TWO_32 = 0x1_0000_0000
const NOTHING = Buffer.alloc(0)
const NOTHING_VIEW = viewOf(NOTHING)

/** The header fields that a copy needs of the batch at `position`; valid after `moveTo` answered `whole` or `partial`. */
export class BatchCursor {
  buffer: Buffer = NOTHING
  #view = NOTHING_VIEW
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
    if (buffer !== this.buffer) {
      this.buffer = buffer
      this.#view = viewOf(buffer)
    }
    const view = this.#view
    const sizeBytes = view.getInt32(position + at.batchLength) + LOG_OVERHEAD_BYTES
    if (sizeBytes < HEADER_BYTES || view.getUint8(position + at.magic) !== 2) return 'invalid'
    // Base offsets from 0 to 2^53 only.
    const high = view.getUint32(position + at.baseOffset)
    if (high > 0x1f_ffff) return 'invalid'
    this.baseOffset = high * TWO_32 + view.getUint32(position + at.baseOffset + 4)
    this.lastOffset = this.baseOffset + view.getInt32(position + at.lastOffsetDelta)
    if (this.lastOffset < this.baseOffset || this.lastOffset >= Number.MAX_SAFE_INTEGER) return 'invalid'
    this.position = position
    this.sizeBytes = sizeBytes
    return position + sizeBytes <= buffer.length ? 'whole' : 'partial'
  }

  get leaderEpoch(): number {
    return this.#view.getInt32(this.position + at.leaderEpoch)
  }

  get crc(): number {
    return this.#view.getUint32(this.position + at.crc)
  }

  get recordCount(): number {
    return this.#view.getInt32(this.position + at.recordCount)
  }

  get isControl(): boolean {
    return (this.#view.getUint8(this.position + at.attributes + 1) & attributeBit.control) !== 0
  }

  get isTransactional(): boolean {
    return (this.#view.getUint8(this.position + at.attributes + 1) & attributeBit.transactional) !== 0
  }

  get hasProducerId(): boolean {
    return this.#view.getInt32(this.position + at.producerId) >= 0
  }

  get maxTimestamp(): bigint {
    return this.#view.getBigInt64(this.position + at.maxTimestamp)
  }

  /** The max timestamp as a number: exact below 2^53, good enough for ages beyond. */
  get timestampMs(): number {
    return this.timestampHigh * TWO_32 + this.timestampLow
  }

  /** High and low half of the max timestamp, for comparisons that allocate nothing. */
  get timestampHigh(): number {
    return this.#view.getInt32(this.position + at.maxTimestamp)
  }

  get timestampLow(): number {
    return this.#view.getUint32(this.position + at.maxTimestamp + 4)
  }
}

/** Reads integers faster than Buffer's own methods. */
function viewOf(buffer: Buffer): DataView {
  return new DataView(buffer.buffer, buffer.byteOffset, buffer.length)
}
