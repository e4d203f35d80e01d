/** One segment: a log file with its indexes. PartitionLog owns the list of them; appends go to the last one only. */

import { BatchCursor } from '../protocol/batches/batch-cursor.ts'
import { HEADER_BYTES } from '../protocol/batches/batch-layout.ts'
import { crc32c } from '../protocol/batches/crc32c.ts'
import { segmentFileName } from './file-names.ts'
import type { LogFile } from './file-system.ts'
import { LargestTimestamp } from './largest-timestamp.ts'
import type { LogConfig } from './log-config.ts'
import { SegmentIndexes, type SegmentPlace } from './segment-indexes.ts'
import { scanBatches } from './segment-scan.ts'
import type { TimestampOffset } from './time-index.ts'

/** A batch found in a segment. */
export interface FoundBatch {
  readonly position: number
  readonly sizeBytes: number
  readonly baseOffset: number
  readonly lastOffset: number
}

/** Index entries hold an int32. */
export const RELATIVE_OFFSET_MAX = 0x7fff_ffff
/** Most lookups end within an index interval. */
const LOOKUP_CHUNK_BYTES = 16 * 1024

export class Segment {
  readonly baseOffset: number
  readonly file: LogFile
  readonly indexes: SegmentIndexes
  readonly #place: SegmentPlace
  /** When it was created or opened. */
  readonly createdMs: number
  readonly #largest: LargestTimestamp
  /** From 0 to below 1: the same after a restart, and another for the segments of other partitions that began with this one. */
  readonly #jitter: number
  #sizeBytes: number
  /** Bytes of batches since the last index entry. */
  #unindexedBytes = 0
  /** `segment.ms` counts from the first batch's timestamp; undefined while there is none. */
  #firstTimestampMs: number | undefined
  /** A failed write may have left bytes behind the end. */
  #torn = false

  private constructor(
    place: SegmentPlace,
    parts: { file: LogFile; indexes: SegmentIndexes; sizeBytes: number; nowMs: number },
  ) {
    this.#place = place
    this.baseOffset = place.baseOffset
    this.file = parts.file
    this.indexes = parts.indexes
    this.#sizeBytes = parts.sizeBytes
    this.createdMs = parts.nowMs
    this.#largest = new LargestTimestamp(place.baseOffset)
    this.#jitter = crc32c(Buffer.from(logPath(place))) / 2 ** 32
  }

  /** Creates the files of an empty segment; existing ones are emptied. */
  static async create(place: SegmentPlace, nowMs: number): Promise<Segment> {
    // The log file last: index files alone are no segment, should this fail halfway.
    const indexes = await SegmentIndexes.create(place)
    const file = await place.fs.create(logPath(place))
    return new Segment(place, { file, indexes, sizeBytes: 0, nowMs })
  }

  /** Opens the files that are there. Follow with `loadEnd` if `usable`, else with a rebuild (recovery.ts). */
  static async open(place: SegmentPlace, nowMs: number): Promise<{ segment: Segment; usable: boolean }> {
    const path = logPath(place)
    const [sizeBytes, { indexes, usable }] = await Promise.all([place.fs.sizeOf(path), SegmentIndexes.open(place)])
    const parts = { file: place.fs.file(path), indexes, sizeBytes: sizeBytes ?? 0, nowMs }
    return { segment: new Segment(place, parts), usable }
  }

  get sizeBytes(): number {
    return this.#sizeBytes
  }

  /** True if the next batch begins a new segment because this one is old or its index full. */
  isOver(cursor: BatchCursor, config: LogConfig, nowMs: number): boolean {
    if (this.#sizeBytes === 0) return false
    const jitterMs = this.#jitter * Math.min(config.segmentJitterMs, config.segmentMs)
    return this.#ageMs(cursor, nowMs) > ageMsMax(config) - jitterMs || this.indexes.isFull(config)
  }

  /** Index entries can express the offset. */
  covers(lastOffset: number): boolean {
    return lastOffset - this.baseOffset <= RELATIVE_OFFSET_MAX
  }

  /** Writes bytes at the end. On failure the segment is as before. Call `noteBatch` for each batch once this has settled. */
  async write(bytes: Buffer): Promise<void> {
    if (this.#torn) await this.cutTorn()
    this.#torn = true
    try {
      await this.file.write([bytes], this.#sizeBytes)
    } catch (error) {
      await this.cutTorn().catch(() => {})
      throw error
    }
    this.#torn = false
    this.#sizeBytes += bytes.length
  }

  /** Books one batch that lies at `position`: timestamps and, at intervals, an entry in each index. */
  noteBatch(cursor: BatchCursor, position: number, indexIntervalBytes: number): void {
    if (position === 0) this.#firstTimestampMs = cursor.timestampMs
    this.#largest.note(cursor)
    if (this.#unindexedBytes > indexIntervalBytes) {
      this.indexes.offsets.append(cursor.lastOffset, position)
      this.indexes.times.appendIfLater(this.#largest.value)
      this.#unindexedBytes = 0
    }
    this.#unindexedBytes += cursor.sizeBytes
  }

  /** The largest timestamp in the segment, -1 if it is empty. */
  async largestTimestamp(): Promise<TimestampOffset> {
    const indexed = await this.indexes.times.last()
    const noted = this.#largest.value
    return noted.timestamp > indexed.timestamp ? noted : indexed
  }

  /** Timestamp of the first batch in ms, undefined if there is none. */
  async firstTimestamp(): Promise<number | undefined> {
    if (this.#firstTimestampMs === undefined && this.#sizeBytes > 0)
      this.#firstTimestampMs = await this.#loadFirstTimestamp()
    return this.#firstTimestampMs
  }

  /** No append comes any more: the time index ends with the largest timestamp, as Kafka expects of every closed segment. */
  async finish(): Promise<void> {
    await this.indexes.times.last()
    this.indexes.times.appendIfLater(this.#largest.value)
  }

  /**
   * After opening or cutting, with good indexes: reads the batches from the last index entry on. Answers the end of the last
   * batch, undefined if what lies there is not whole batches.
   */
  async loadEnd(): Promise<{ nextOffset: number } | undefined> {
    this.#largest.restart(await this.indexes.times.last())
    const from = (await this.indexes.offsets.last())?.position ?? 0
    if (from > this.#sizeBytes) return undefined
    let nextOffset = this.baseOffset
    this.#firstTimestampMs = undefined
    const end = await scanBatches(this.file, { from, to: this.#sizeBytes, need: 'headers' }, (cursor, position) => {
      nextOffset = cursor.lastOffset + 1
      if (position === 0) this.#firstTimestampMs = cursor.timestampMs
      this.#largest.note(cursor)
      return 'continue'
    })
    this.#unindexedBytes = this.#sizeBytes - from
    if (from > 0) this.#firstTimestampMs = await this.#loadFirstTimestamp()
    return end.reason === 'end' ? { nextOffset } : undefined
  }

  /** The first batch whose last offset is at or above `offset`, undefined if all lie below. */
  async find(offset: number): Promise<FoundBatch | undefined> {
    const { position: from } = await this.indexes.offsets.lookup(offset)
    let found: FoundBatch | undefined
    const range = { from, to: this.#sizeBytes, need: 'headers', chunkBytes: LOOKUP_CHUNK_BYTES } as const
    await scanBatches(this.file, range, (cursor, position) => {
      if (cursor.lastOffset < offset) return 'continue'
      const { sizeBytes, baseOffset, lastOffset } = cursor
      found = { position, sizeBytes, baseOffset, lastOffset }
      return 'stop'
    })
    return found
  }

  /** Cuts everything from the batch that holds `offset` on, indexes included, durably. Answers the end of the last batch. */
  async truncateTo(offset: number): Promise<{ nextOffset: number }> {
    const cut = await this.find(offset)
    if (cut) {
      await this.indexes.truncateTo(cut.baseOffset)
      await this.cutAt(cut.position)
    }
    return (await this.loadEnd()) ?? { nextOffset: this.baseOffset }
  }

  /** Makes the file end at `position`, durably. */
  async cutAt(position: number): Promise<void> {
    this.#sizeBytes = position
    this.#torn = true
    await this.cutTorn()
  }

  /** Removes bytes behind the end that a failed write may have left; durably, or a crash could bring them back. */
  async cutTorn(): Promise<void> {
    if (!this.#torn) return
    await this.file.truncate(this.#sizeBytes)
    await this.file.sync()
    this.#torn = false
  }

  /** Empties the indexes, and forgets the timestamps, before a rebuild calls `noteBatch` for every batch. */
  async startRebuild(): Promise<void> {
    await this.indexes.reset()
    this.#largest.restart({ timestamp: -1n, offset: this.baseOffset })
    this.#firstTimestampMs = undefined
    this.#unindexedBytes = 0
  }

  /** Writes what is only in memory; if that fails it can be tried again. */
  async save(): Promise<void> {
    await this.cutTorn()
    await this.indexes.save()
  }

  /** Log and indexes durable; for a segment that no append goes to. */
  async syncAll(): Promise<void> {
    await this.save()
    await this.indexes.sync()
    await this.file.sync()
  }

  async close(): Promise<void> {
    await this.file.close()
    await this.indexes.close()
  }

  /** Removes the files, the log first: a crash must not leave it without its indexes. A read that is running ends first. */
  async remove(): Promise<void> {
    await this.file.close()
    await this.#place.fs.remove(this.file.path)
    await this.indexes.remove()
  }

  #ageMs(cursor: BatchCursor, nowMs: number): number {
    const first = this.#firstTimestampMs
    return first === undefined || first < 0 ? nowMs - this.createdMs : cursor.timestampMs - first
  }

  async #loadFirstTimestamp(): Promise<number> {
    const header = Buffer.alloc(HEADER_BYTES)
    const cursor = new BatchCursor()
    await this.file.read(header, 0)
    return cursor.moveTo(header, 0) === 'invalid' ? -1 : cursor.timestampMs
  }
}

/** The cleaner cannot touch the active segment: `max.compaction.lag.ms` would not be kept otherwise. */
const ageMsMax = ({ compacts, segmentMs, maxCompactionLagMs }: LogConfig): number =>
  compacts && maxCompactionLagMs > 0 ? Math.min(segmentMs, maxCompactionLagMs) : segmentMs

const logPath = (place: SegmentPlace) =>
  `${place.directory}/${segmentFileName(place.baseOffset, 'log')}${place.suffix ?? ''}`
