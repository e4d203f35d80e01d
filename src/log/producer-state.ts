/** What a log knows of its producers and transactions, built from batch headers and markers; owned by PartitionLog. */

import type { BatchCursor } from '../protocol/batches/batch-cursor.ts'
import { readBatchHeader } from '../protocol/batches/batch-header.ts'
import { at } from '../protocol/batches/batch-layout.ts'
import { decodeControlRecord } from '../protocol/batches/control-batch.ts'
import { joined, ProducerEntry } from './producer-entry.ts'
import { decodeProducerSnapshot, encodeProducerSnapshot } from './producer-snapshot.ts'
import type { AbortedTransaction } from './transaction-index.ts'

/** A transaction without a marker so far. */
export interface OpenTransaction {
  readonly producerId: bigint
  readonly producerEpoch: number
  /** Epoch of the coordinator that wrote this producer's last marker, -1 if there was none. */
  readonly coordinatorEpoch: number
  readonly firstOffset: number
}

interface CompletedTransaction {
  readonly firstOffset: number
  /** Offset of the marker. */
  readonly lastOffset: number
}

/**
 * Takes batches as they are in the log: no sequence is refused here (see producer-check.ts for what clients may append).
 * Kafka's ProducerStateManager, with the addition that the largest producer id ever seen is never forgotten.
 */
export class ProducerState {
  readonly #entries = new Map<bigint, ProducerEntry>()
  /** By producer, in the order of their first offsets. */
  #open = new Map<bigint, ProducerEntry>()
  /** Ended transactions whose marker may still be above the high watermark. */
  #completed: CompletedTransaction[] = []
  /** The entry of the largest producer id; kept, and stored, even after it expired. */
  #largest: ProducerEntry | undefined
  /** The producer of the last batch: batches of one producer tend to come together. */
  #recent: { readonly high: number; readonly low: number; readonly entry: ProducerEntry } | undefined

  /** Largest producer id in the life of the log, -1n if none. */
  get maxProducerId(): bigint {
    return this.#largest?.producerId ?? -1n
  }

  entry(producerId: bigint): ProducerEntry | undefined {
    return this.#entries.get(producerId)
  }

  /** All live producers, for DescribeProducers. */
  entries(): Iterable<ProducerEntry> {
    return this.#entries.values()
  }

  /** Open transactions, the oldest first. */
  openTransactions(): OpenTransaction[] {
    return Array.from(this.#open.values(), entry => ({
      producerId: entry.producerId,
      producerEpoch: entry.producerEpoch,
      coordinatorEpoch: entry.coordinatorEpoch,
      firstOffset: entry.transactionFirstOffset,
    }))
  }

  /**
   * Where read_committed readers stop: the first offset of a transaction that is open or whose marker is at or above the
   * high watermark, else the high watermark.
   */
  lastStableOffset(highWatermark: number): number {
    let stable = Math.min(highWatermark, this.#firstOpenOffset())
    if (this.#completed.length === 0) return stable
    this.#completed = this.#completed.filter(transaction => transaction.lastOffset >= highWatermark)
    for (const { firstOffset } of this.#completed) stable = Math.min(stable, firstOffset)
    return stable
  }

  /** Takes over one appended batch (control batches whole); answers the transaction that it aborted, for the index. */
  apply(cursor: BatchCursor): AbortedTransaction | undefined {
    if (!cursor.hasProducerId) return undefined
    const entry = this.#entryOf(cursor)
    if (cursor.isControl) return this.#applyMarker(cursor, entry)
    entry.applyData(cursor)
    if (cursor.isTransactional && entry.transactionFirstOffset < 0) {
      entry.transactionFirstOffset = cursor.baseOffset
      this.#open.set(entry.producerId, entry)
    }
    return undefined
  }

  /** Forgets producers without an open transaction whose last append is `expirationMs` old (record time, as in Kafka). */
  removeExpired(nowMs: number, expirationMs: number): void {
    for (const entry of this.#entries.values()) {
      if (isExpired(entry, nowMs, expirationMs)) this.#entries.delete(entry.producerId)
    }
    this.#recent = undefined
  }

  /** Forgets ended transactions below the log start. */
  logStartRaised(logStartOffset: number): void {
    this.#completed = this.#completed.filter(transaction => transaction.lastOffset >= logStartOffset)
  }

  /** Forgets everything but the largest producer id. */
  clear(): void {
    if (this.#largest) this.#largest = new ProducerEntry(this.#largest.producerId)
    this.#entries.clear()
    this.#open.clear()
    this.#completed = []
    this.#recent = undefined
  }

  /** The state as a snapshot file; it holds the last batch of each producer only. */
  encode(): Buffer {
    const largest = this.#largest
    const entries = [...this.#entries.values()]
    if (largest && !this.#entries.has(largest.producerId)) entries.push(largest)
    return encodeProducerSnapshot(entries)
  }

  /** Replaces the state with a snapshot's; false, and nothing changed, if it is damaged. */
  restore(snapshot: Buffer, expiry: { nowMs: number; expirationMs: number }): boolean {
    const entries = decodeProducerSnapshot(snapshot)
    if (!entries) return false
    this.clear()
    const open: ProducerEntry[] = []
    for (const entry of entries) {
      this.#noticeId(entry)
      if (isExpired(entry, expiry.nowMs, expiry.expirationMs)) continue
      this.#entries.set(entry.producerId, entry)
      if (entry.transactionFirstOffset >= 0) open.push(entry)
    }
    open.sort((a, b) => a.transactionFirstOffset - b.transactionFirstOffset)
    this.#open = new Map(open.map(entry => [entry.producerId, entry]))
    return true
  }

  #entryOf(cursor: BatchCursor): ProducerEntry {
    const high = cursor.buffer.readInt32BE(cursor.position + at.producerId)
    const low = cursor.buffer.readUInt32BE(cursor.position + at.producerId + 4)
    if (this.#recent?.low === low && this.#recent.high === high) return this.#recent.entry
    const producerId = joined(high, low)
    let entry = this.#entries.get(producerId)
    if (!entry) {
      entry = new ProducerEntry(producerId)
      this.#entries.set(producerId, entry)
      this.#noticeId(entry)
    }
    this.#recent = { high, low, entry }
    return entry
  }

  #noticeId(entry: ProducerEntry): void {
    if (!this.#largest || entry.producerId >= this.#largest.producerId) this.#largest = entry
  }

  #applyMarker(cursor: BatchCursor, entry: ProducerEntry): AbortedTransaction | undefined {
    const marker = decodeControlRecord(cursor.buffer, readBatchHeader(cursor.buffer, cursor.position))
    // The cleaner may have emptied it, and a newer Kafka may have types of its own.
    if (marker?.type !== 'abort' && marker?.type !== 'commit') return undefined
    const firstOffset = entry.transactionFirstOffset
    entry.applyMarker(cursor, marker.coordinatorEpoch)
    if (firstOffset < 0) return undefined
    this.#open.delete(entry.producerId)
    const lastOffset = cursor.lastOffset
    this.#completed.push({ firstOffset, lastOffset })
    if (marker.type === 'commit') return undefined
    const lastStableOffset = Math.min(this.#firstOpenOffset(), lastOffset + 1)
    return { producerId: entry.producerId, firstOffset, lastOffset, lastStableOffset }
  }

  #firstOpenOffset(): number {
    for (const entry of this.#open.values()) return entry.transactionFirstOffset
    return Number.POSITIVE_INFINITY
  }
}

const isExpired = (entry: ProducerEntry, nowMs: number, expirationMs: number): boolean =>
  entry.transactionFirstOffset < 0 && nowMs - Number(entry.lastTimestamp) >= expirationMs
