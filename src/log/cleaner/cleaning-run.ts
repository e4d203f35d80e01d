/** Carries out a CleaningPlan on the files of a log, beside its readers and writers: indexes the dirty part, then writes cleaned segments. */
import { BatchCursor } from '../../protocol/batches/batch-cursor.ts'
import { isControl } from '../../protocol/batches/batch-header.ts'
import { batchesIn, bytesOfBatch } from '../../protocol/batches/batch-iteration.ts'
import { recordsIn } from '../../protocol/batches/records-of.ts'
import { verifyBatch } from '../../protocol/batches/verify-batch.ts'
import { segmentFileName } from '../file-names.ts'
import type { FileSystem } from '../file-system.ts'
import { IndexCache } from '../index-cache.ts'
import { Segment } from '../segment.ts'
import type { AbortedTransaction } from '../transaction-index.ts'
import { chunksOf } from './batch-chunks.ts'
import { type CleanedBatch, type CleaningRules, cleanBatch } from './clean-batch.ts'
import { CleanedTransactions } from './cleaned-transactions.ts'
import { CleaningAborted, type CleaningCounts, type CleaningMemory, type CleaningPlan } from './cleaning-plan.ts'
import { OffsetMap } from './offset-map.ts'
import { groupSegments, type SegmentSizes } from './segment-groups.ts'

/** What a pass needs from outside. */
export interface CleaningTools {
  readonly fs: FileSystem
  readonly memory: CleaningMemory
  /** Aborted when the pass shall end. */
  readonly signal: AbortSignal
  /** Resolves when so many bytes may be moved. */
  readonly throttle: (bytes: number) => Promise<void>
  /** Lets others run, if this has run for long. */
  readonly pause: () => Promise<void>
}

/** Marks the files of a segment that is not in the log yet, as in Kafka. */
export const CLEANED = '.cleaned'

/** Positions are an int32 in the index. */
const SEGMENT_BYTES_MAX = 0x7fff_ffff
/** Records between two looks at how long this has run. */
const RECORDS_PER_PAUSE = 256

/** First `index`, then `rewrite` each group in order. */
export class CleaningRun {
  readonly counts: CleaningCounts = { bytesRead: 0, bytesWritten: 0, recordsRead: 0, recordsKept: 0, invalidRecords: 0 }
  readonly #plan: CleaningPlan
  readonly #tools: CleaningTools
  readonly #map: OffsetMap
  readonly #rules: CleaningRules
  #output: Segment | undefined

  constructor(plan: CleaningPlan, tools: CleaningTools) {
    this.#plan = plan
    this.#tools = tools
    const { mapBytes: bytes, mapLoadFactor: loadFactor } = tools.memory
    this.#map = new OffsetMap({ bytes, loadFactor })
    const { lastRecords, firstUncleanableOffset, deleteRetentionMs, nowMs, aborted } = plan
    const retained = (transaction: AbortedTransaction) => this.#output?.indexes.transactions.append(transaction)
    const transactions = new CleanedTransactions(aborted, retained)
    const map = this.#map
    this.#rules = { map, transactions, lastRecords, firstUncleanableOffset, deleteRetentionMs, nowMs }
  }

  /** How full the map is, 0 to 1. */
  get mapUse(): number {
    return this.#map.size / this.#map.entriesMax
  }

  /** Indexes the dirty part, as far as the map holds it. Resolves to where the next pass begins: everything below is clean then. */
  async index(): Promise<number> {
    const { segments, firstDirtyOffset, firstUncleanableOffset, aborted } = this.#plan
    const first = segments.findLastIndex(segment => segment.baseOffset <= firstDirtyOffset)
    const dirty = segments.slice(Math.max(0, first))
    const transactions = new CleanedTransactions(aborted.filter(({ lastOffset }) => lastOffset >= firstDirtyOffset))
    for (const [index, segment] of dirty.entries()) {
      const from = index === 0 ? this.#plan.firstDirtyPosition : 0
      if (!(await this.#indexSegment(segment, from, transactions))) break
      // A hole at the segment's end is clean too.
      this.#map.latestOffset = (dirty[index + 1]?.baseOffset ?? firstUncleanableOffset) - 1
    }
    return Math.max(firstDirtyOffset, this.#map.latestOffset + 1)
  }

  /** The groups that become one segment each, in order. */
  groups(endOffset: number): SegmentSizes[][] {
    const { segments } = this.#plan
    return groupSegments(
      segments.filter(({ baseOffset }) => baseOffset < endOffset),
      this.#plan,
    )
  }

  /**
   * Writes what stays of a group as `….cleaned` files, durably. Resolves to whether anything differs; false also where the
   * outcome would be too large for one segment. Then, and after a failure, the files are gone.
   */
  async rewrite(group: readonly SegmentSizes[]): Promise<boolean> {
    const { fs } = this.#tools
    const { directory, nowMs } = this.#plan
    const place = { fs, cache: new IndexCache(), directory, baseOffset: group[0]?.baseOffset ?? 0, suffix: CLEANED }
    let keep = false
    const output = await Segment.create(place, nowMs)
    this.#output = output
    try {
      let changed = group.length > 1
      for (const segment of group) if (await this.#rewriteSegment(segment, output)) changed = true
      if (!changed || output.sizeBytes > SEGMENT_BYTES_MAX) return false
      await output.finish()
      await output.syncAll()
      keep = true
      return true
    } finally {
      this.#output = undefined
      await (keep ? output.close() : output.remove())
    }
  }

  /** False if the map is full. */
  async #indexSegment(segment: SegmentSizes, from: number, transactions: CleanedTransactions): Promise<boolean> {
    const { firstDirtyOffset } = this.#plan
    for await (const chunk of this.#chunksOf(segment, from)) {
      for (const header of batchesIn(chunk)) {
        verifyBatch(chunk, header)
        const aborted = transactions.mayDiscard(chunk, header)
        if (!aborted && !isControl(header) && header.lastOffset >= firstDirtyOffset) {
          let records = 0
          for (const { key, offset } of recordsIn(chunk, header)) {
            if (key !== null && offset >= firstDirtyOffset && !this.#map.put(key, offset)) return false
            if (++records % RECORDS_PER_PAUSE === 0) await this.#tools.pause()
          }
        }
        if (header.lastOffset >= firstDirtyOffset) this.#map.latestOffset = header.lastOffset
      }
    }
    return true
  }

  async #rewriteSegment(segment: SegmentSizes, output: Segment): Promise<boolean> {
    let changed = false
    for await (const chunk of this.#chunksOf(segment, 0)) {
      this.counts.bytesRead += chunk.length
      const kept: Buffer[] = []
      for (const header of batchesIn(chunk)) {
        verifyBatch(chunk, header)
        const cleaned = cleanBatch(chunk, header, this.#rules)
        this.#count(cleaned)
        if (cleaned.bytes) kept.push(cleaned.bytes)
        changed ||= cleaned.bytes === undefined || !cleaned.bytes.equals(bytesOfBatch(chunk, header))
        await this.#tools.pause()
      }
      if (output.sizeBytes <= SEGMENT_BYTES_MAX) await this.#write(output, Buffer.concat(kept))
    }
    return changed
  }

  async #write(output: Segment, bytes: Buffer): Promise<void> {
    if (bytes.length === 0) return
    const position = output.sizeBytes
    await output.write(bytes)
    const cursor = new BatchCursor()
    for (let at = 0; at < bytes.length; at += cursor.sizeBytes) {
      cursor.moveTo(bytes, at)
      output.noteBatch(cursor, position + at, this.#plan.indexIntervalBytes)
    }
    await output.indexes.spill()
    this.counts.bytesWritten += bytes.length
    await this.#tools.throttle(bytes.length)
  }

  async *#chunksOf({ baseOffset, sizeBytes }: SegmentSizes, from: number): AsyncGenerator<Buffer> {
    const { fs, memory, signal, throttle } = this.#tools
    const file = fs.file(`${this.#plan.directory}/${segmentFileName(baseOffset, 'log')}`)
    try {
      for await (const chunk of chunksOf(file, { from, to: sizeBytes, chunkBytes: memory.chunkBytes })) {
        if (signal.aborted) throw new CleaningAborted('it was stopped')
        yield chunk
        await throttle(chunk.length)
        await this.#tools.pause()
      }
    } finally {
      await file.close()
    }
  }

  #count({ recordsRead, recordsKept, invalidRecords }: CleanedBatch): void {
    this.counts.recordsRead += recordsRead
    this.counts.recordsKept += recordsKept
    this.counts.invalidRecords += invalidRecords
  }
}
