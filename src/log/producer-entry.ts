/** What a log remembers about one producer id; ProducerState owns the entries, the snapshot file stores them. */

import type { BatchCursor } from '../protocol/batches/batch-cursor.ts'
import { at } from '../protocol/batches/batch-layout.ts'

/** Kafka lets an idempotent producer have five batches in flight, so as many may come again. */
const BATCHES_KEPT = 5
const SEQUENCES = 0x8000_0000

/** One appended batch: enough to recognise it when it comes again. */
export interface ProducedBatch {
  lastSequence: number
  lastOffset: number
  /** Last minus first, of offsets and of sequences. */
  offsetDelta: number
  /** Max timestamp of the batch, as two halves of an int64: the mirror path must not allocate bigints. */
  timestampHigh: number
  timestampLow: number
}

export class ProducerEntry {
  readonly producerId: bigint
  /** -1 before the first batch or marker. */
  producerEpoch = -1
  /** Epoch of the coordinator that wrote the last marker, -1 if none. */
  coordinatorEpoch = -1
  /** Offset at which the open transaction began, -1 if none is open. */
  transactionFirstOffset = -1
  timestampHigh = -1
  timestampLow = 0xffff_ffff
  /** The last batches of this epoch, oldest first. */
  readonly batches: ProducedBatch[] = []

  constructor(producerId: bigint) {
    this.producerId = producerId
  }

  /** Max timestamp of the last batch, or timestamp of the last marker; -1 if none. */
  get lastTimestamp(): bigint {
    return joined(this.timestampHigh, this.timestampLow)
  }

  get lastBatch(): ProducedBatch | undefined {
    return this.batches.at(-1)
  }

  /** Takes over a data batch, whatever its sequence. */
  applyData(cursor: BatchCursor): void {
    const { buffer, position } = cursor
    this.#enterEpoch(buffer.readInt16BE(position + at.producerEpoch))
    const baseSequence = buffer.readInt32BE(position + at.baseSequence)
    const offsetDelta = cursor.lastOffset - cursor.baseOffset
    const slot = (this.batches.length === BATCHES_KEPT ? this.batches.shift() : undefined) ?? emptySlot()
    slot.lastSequence = baseSequence < 0 ? -1 : sequenceAfter(baseSequence, offsetDelta)
    slot.lastOffset = cursor.lastOffset
    slot.offsetDelta = offsetDelta
    slot.timestampHigh = this.timestampHigh = cursor.timestampHigh
    slot.timestampLow = this.timestampLow = cursor.timestampLow
    this.batches.push(slot)
  }

  /** Takes over an end-transaction marker. */
  applyMarker(cursor: BatchCursor, coordinatorEpoch: number): void {
    this.#enterEpoch(cursor.buffer.readInt16BE(cursor.position + at.producerEpoch))
    this.coordinatorEpoch = coordinatorEpoch
    this.transactionFirstOffset = -1
    this.timestampHigh = cursor.timestampHigh
    this.timestampLow = cursor.timestampLow
  }

  #enterEpoch(epoch: number): void {
    if (epoch === this.producerEpoch) return
    this.producerEpoch = epoch
    this.batches.length = 0
  }
}

/** `sequence` + `count`, wrapping from 2^31 - 1 to 0. */
export const sequenceAfter = (sequence: number, count: number): number => (sequence + count) % SEQUENCES

/** `sequence` - `count`, wrapping likewise. */
export const sequenceBefore = (sequence: number, count: number): number =>
  sequence >= count ? sequence - count : sequence - count + SEQUENCES

/** Two halves of an int64 as a bigint. */
export const joined = (high: number, low: number): bigint => (BigInt(high) << 32n) | BigInt(low)

const emptySlot = (): ProducedBatch => ({
  lastSequence: -1,
  lastOffset: -1,
  offsetDelta: 0,
  timestampHigh: -1,
  timestampLow: 0xffff_ffff,
})
