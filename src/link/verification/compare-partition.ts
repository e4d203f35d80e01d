/**
 * Compares one range of offsets of a source partition and its mirror: batch by batch without decoding, and record by record
 * where cleaning runs (semantics §10). Knows neither links nor clusters: two readable ends come in. Called by verify-partition.
 */
import { BatchError } from '../../protocol/batches/batch-error.ts'
import { isControl } from '../../protocol/batches/batch-header.ts'
import { controlRecordsOf } from '../../protocol/batches/control-batch.ts'
import { recordsIn } from '../../protocol/batches/records-of.ts'
import { BatchReader, batchBytes, OffsetsGone, type ReadableEnd, type ReadBatch } from './batch-reader.ts'
import { CleanedKeys, type End } from './cleaned-keys.ts'
import { type Difference, differenceOfBatches, differenceOfRecords, isSameBatch } from './compare-batch-pair.ts'
import { newestAgree } from './newest-records.ts'

export interface ComparedRange {
  readonly from: number
  /** Exclusive. */
  readonly to: number
}

export interface UncomparedRange extends ComparedRange {
  readonly reason: string
}

/** What the caller sees while it goes on. */
export interface ComparisonProgress {
  nextOffset: number
  bytes: number
  batches: number
  records: number
  onlyAtSource: number
  onlyAtMirror: number
  /** Set once records had to be looked at. */
  byRecords: boolean
  readonly uncompared: UncomparedRange[]
}

export interface ComparedEnds {
  readonly source: ReadableEnd
  readonly mirror: ReadableEnd
  /** The mirror may have lost records below by cleaning; 0 = none. Asked when it matters, since the cleaner may run. */
  readonly mirrorCleanedOffset: () => number
  /** May the source have been cleaned? */
  readonly sourceIsCleaned: boolean
  /** What both ends have at this moment, before a difference is believed. */
  readonly common: () => Promise<ComparedRange>
  /** Where the log of one end ends at this moment, whoever wrote it. */
  readonly present: (end: End) => Promise<number>
}

/** Keys of records that one end has alone, kept at once per partition. */
export const keysMax = 200_000

export const newProgress = (from: number): ComparisonProgress => ({
  nextOffset: from,
  ...{ bytes: 0, batches: 0, records: 0, onlyAtSource: 0, onlyAtMirror: 0 },
  byRecords: false,
  uncompared: [],
})

/** Resolves to the first difference; undefined = none. Rejects with whatever a read rejects with. */
export async function comparePartition(
  ends: ComparedEnds,
  range: ComparedRange,
  progress: ComparisonProgress,
): Promise<Difference | undefined> {
  return await new PartitionComparison(ends, range, progress).run()
}

class PartitionComparison {
  readonly #ends: ComparedEnds
  readonly #range: ComparedRange
  readonly #progress: ComparisonProgress
  readonly #keys = new CleanedKeys(keysMax)
  readonly #source: BatchReader
  readonly #mirror: BatchReader
  #to: number
  #doubtedAt = -1

  constructor(ends: ComparedEnds, range: ComparedRange, progress: ComparisonProgress) {
    this.#ends = ends
    this.#range = range
    this.#progress = progress
    this.#to = range.to
    this.#source = new BatchReader(ends.source, range.from)
    this.#mirror = new BatchReader(ends.mirror, range.from)
  }

  async run(): Promise<Difference | undefined> {
    while (this.#progress.nextOffset < this.#to) {
      const step = await this.#step()
      if (step === 'end') break
      if (step !== 'next' && (await this.#isBelieved(step))) return step
    }
    this.#progress.nextOffset = Math.max(this.#progress.nextOffset, this.#to)
    const { overflowedFrom } = this.#keys
    if (overflowedFrom !== undefined)
      this.#progress.uncompared.push({
        ...{ from: overflowedFrom, to: this.#to },
        reason: `more than ${keysMax} keys have records at one end only: the newest record of each was not compared`,
      })
    return await newestAgree(this.#ends, this.#keys, { from: this.#range.from, to: this.#to })
  }

  async #step(): Promise<'next' | 'end' | Difference> {
    try {
      const source = await this.#source.peek(this.#to)
      const mirror = await this.#mirror.peek(this.#to)
      if (!source && !mirror) return 'end'
      return this.#compare(source, mirror)
    } catch (error) {
      if (error instanceof OffsetsGone) return this.#skipTo(error.logStartOffset, 'was deleted while it was compared')
      if (!(error instanceof BatchError)) throw error
      return { offset: this.#progress.nextOffset, message: `a batch cannot be read: ${error.message}` }
    }
  }

  #compare(source: ReadBatch | undefined, mirror: ReadBatch | undefined): 'next' | Difference {
    if (source && mirror && isSameBatch(batchBytes(source), batchBytes(mirror))) {
      this.#equalBatches(source, mirror)
      return this.#taken(source)
    }
    const lone = loneBatch(source, mirror)
    if (lone) {
      const { end, batch } = lone
      if (!this.#mayBeCleaned(end === 'source' ? 'mirror' : 'source', batch.header.lastOffset))
        return differenceOfBatches(source, mirror)
      this.#loneRecords(end, batch)
      return this.#taken(batch)
    }
    if (!source || !mirror) throw new TypeError('two batches that overlap are two')
    const { baseOffset, lastOffset } = source.header
    const isSamePlace = baseOffset === mirror.header.baseOffset && lastOffset === mirror.header.lastOffset
    const mayDiffer = this.#mayBeCleaned('source', lastOffset) || this.#mayBeCleaned('mirror', lastOffset)
    if (!isSamePlace || !mayDiffer) return differenceOfBatches(source, mirror)
    return this.#compareRecords(source, mirror) ?? this.#taken(source)
  }

  #mayBeCleaned(end: End, lastOffset: number): boolean {
    return end === 'source' ? this.#ends.sourceIsCleaned : lastOffset < this.#ends.mirrorCleanedOffset()
  }

  #equalBatches(batch: ReadBatch, twin: ReadBatch): void {
    this.#progress.bytes += batch.header.sizeBytes
    this.#progress.batches++
    if (this.#keys.isIdle) return
    this.#transactionEnds('source', batch)
    this.#transactionEnds('mirror', twin)
    if (isControl(batch.header)) return
    for (const record of recordsIn(batch.buffer, batch.header)) this.#keys.atBoth(record)
  }

  /** The cleaner of one end or both has been at this batch. */
  #compareRecords(source: ReadBatch, mirror: ReadBatch): Difference | undefined {
    this.#progress.byRecords = true
    this.#progress.bytes += source.header.sizeBytes
    const { pairs, lone, difference } = differenceOfRecords(source, mirror)
    if (difference) return difference
    this.#transactionEnds('source', source)
    this.#transactionEnds('mirror', mirror)
    for (const record of pairs) this.#keys.atBoth(record)
    for (const { end, record } of lone.filter(({ record: { offset } }) => this.#isAsked(offset))) {
      const isGoneAt = end === 'source' ? 'mirror' : 'source'
      if (!this.#mayBeCleaned(isGoneAt, record.offset))
        return {
          offset: record.offset,
          message: `the record is missing at the ${isGoneAt}, which was not cleaned there`,
        }
      this.#countLone(end)
      this.#keys.onlyAt(end, end === 'source' ? source.header : mirror.header, record)
    }
    this.#progress.records += pairs.length
    return undefined
  }

  #loneRecords(end: End, batch: ReadBatch): void {
    this.#progress.byRecords = true
    this.#transactionEnds(end, batch)
    if (isControl(batch.header)) return
    for (const record of recordsIn(batch.buffer, batch.header)) {
      if (!this.#isAsked(record.offset)) continue
      this.#countLone(end)
      this.#keys.onlyAt(end, batch.header, record)
    }
  }

  /** Batches at the borders come whole. */
  readonly #isAsked = (offset: number): boolean => offset >= this.#range.from && offset < this.#to

  #countLone(end: End): void {
    if (end === 'source') this.#progress.onlyAtSource++
    else this.#progress.onlyAtMirror++
  }

  #transactionEnds(end: End, { buffer, header }: ReadBatch): void {
    if (!isControl(header)) return
    for (const marker of controlRecordsOf(buffer, header))
      if (marker.type === 'abort' || marker.type === 'commit')
        this.#keys.transactionEnded(end, header.producerId, marker.type === 'commit')
  }

  #taken({ header }: ReadBatch): 'next' {
    const next = header.lastOffset + 1
    this.#source.skipTo(next)
    this.#mirror.skipTo(next)
    this.#progress.nextOffset = next
    return 'next'
  }

  #skipTo(offset: number, reason: string): 'next' {
    const { nextOffset: from, uncompared } = this.#progress
    const to = Math.min(offset, this.#to)
    if (to > from) uncompared.push({ from, to, reason })
    this.#progress.nextOffset = Math.max(from, to)
    this.#source.reset(this.#progress.nextOffset)
    this.#mirror.reset(this.#progress.nextOffset)
    return 'next'
  }

  /** Both ends are read once more, and asked what they have: retention, truncation and elections may have come in between. */
  async #isBelieved({ offset }: Difference): Promise<boolean> {
    const { from, to } = await this.#ends.common()
    if (offset < from) {
      this.#skipTo(from, 'was deleted while it was compared')
      return false
    }
    if (offset >= to) {
      this.#progress.uncompared.push({ from: to, to: this.#to, reason: 'was cut off while it was compared' })
      this.#to = to
      return false
    }
    if (this.#doubtedAt === offset) return true
    this.#doubtedAt = offset
    this.#source.reset(this.#progress.nextOffset)
    this.#mirror.reset(this.#progress.nextOffset)
    return false
  }
}

/** The one that is before the other, or is the only one; undefined if they overlap. */
function loneBatch(
  source: ReadBatch | undefined,
  mirror: ReadBatch | undefined,
): { end: End; batch: ReadBatch } | undefined {
  if (source && (!mirror || source.header.lastOffset < mirror.header.baseOffset))
    return { end: 'source', batch: source }
  if (mirror && (!source || mirror.header.lastOffset < source.header.baseOffset))
    return { end: 'mirror', batch: mirror }
  return undefined
}
