/** Is one batch of a mirror the same at its source? CRCs first; record by record where either was compacted. Used for resume and truncation. */
import { type BatchHeader, readBatchHeader } from '../../protocol/batches/batch-header.ts'
import { batchesIn } from '../../protocol/batches/batch-iteration.ts'
import { type DecodedRecord, recordsOf } from '../../protocol/batches/records-of.ts'
import type { MirrorLog, SourceCluster } from '../ports.ts'

/** The two copies of one partition. */
export interface BothCopies {
  readonly source: Pick<SourceCluster, 'readBatches' | 'listOffsets' | 'endOfEpoch'>
  readonly sourceTopic: string
  readonly partition: number
  readonly log: MirrorLog
  readonly signal?: AbortSignal | undefined
}

/** What the source has, asked once per comparison. */
export interface SourceBounds {
  readonly earliest: number
  readonly latest: number
}

type OurBatch = Pick<BatchHeader, 'baseOffset' | 'lastOffset' | 'crc'>

/** Read at a time; a batch that is larger comes whole all the same. */
const readBytes = 64 * 1024

/** Rejects with SourceError. */
export async function askBounds({ source, sourceTopic, partition, signal }: BothCopies): Promise<SourceBounds> {
  const ask = async (spec: 'earliest' | 'latest') => {
    const answer = await source.listOffsets(sourceTopic, [partition], { spec, isolation: 'read_uncommitted', signal })
    return answer.get(partition) ?? 0
  }
  return { earliest: await ask('earliest'), latest: await ask('latest') }
}

export interface Comparison {
  /** `gone`: nothing of the batch is left at both ends to compare. */
  readonly verdict: 'equal' | 'different' | 'gone'
  /** Of a batch that is gone: what lies below is gone, too, up to where the source's next batch begins. */
  readonly next: number
}

/** Rejects with SourceError. */
export async function compareBatch(
  copies: BothCopies,
  ours: OurBatch,
  bounds: SourceBounds,
): Promise<Comparison['verdict']> {
  return (await compareAndLook(copies, ours, bounds)).verdict
}

/** The same, with where to look next. Rejects with SourceError. */
export async function compareAndLook(
  copies: BothCopies,
  ours: OurBatch,
  { earliest, latest }: SourceBounds,
): Promise<Comparison> {
  const { source, sourceTopic, partition, signal } = copies
  const next = ours.lastOffset + 1
  if (ours.lastOffset < earliest) return { verdict: 'gone', next: earliest }
  if (ours.lastOffset >= latest) return { verdict: 'different', next }
  const range = { offset: Math.max(ours.baseOffset, earliest), maxBytes: readBytes, signal }
  const bytes = await source.readBatches(sourceTopic, partition, range)
  const read = [...batchesIn(bytes)]
  const theirs = read.filter(batch => batch.baseOffset <= ours.lastOffset)
  const first = theirs[0]
  if (!first) return { verdict: 'gone', next: Math.max(next, read[0]?.baseOffset ?? next) }
  const isSame = first.baseOffset === ours.baseOffset && first.lastOffset === ours.lastOffset && first.crc === ours.crc
  return { verdict: isSame ? 'equal' : await compareRecords(copies, ours, { bytes, theirs }), next }
}

/** Cleaners, at the source or here, took records out of the batch: what is left of them at both ends must be the same. */
async function compareRecords(
  { log }: BothCopies,
  { baseOffset, lastOffset }: OurBatch,
  { bytes, theirs }: { bytes: Buffer; theirs: readonly BatchHeader[] },
): Promise<'equal' | 'different' | 'gone'> {
  const local = await log.readBatches({ offset: baseOffset, maxBytes: readBytes })
  const own = local.length > 0 ? readBatchHeader(local, 0) : undefined
  // Cleaned away since we were asked.
  if (own?.baseOffset !== baseOffset) return 'gone'
  const isWhole = own.recordCount === own.lastOffsetDelta + 1
  const known = new Map(recordsOf(local, own).map(record => [record.offset, record]))
  let compared = 0
  for (const header of theirs) {
    // A cleaner never changes who wrote a batch.
    if (header.producerId !== own.producerId || header.producerEpoch !== own.producerEpoch) return 'different'
    for (const record of recordsOf(bytes, header)) {
      if (record.offset < baseOffset || record.offset > lastOffset) continue
      const same = known.get(record.offset)
      if (!same && !isWhole) continue
      if (!same || !isSameRecord(same, record)) return 'different'
      compared++
    }
  }
  return compared === 0 ? 'gone' : 'equal'
}

const isSameBytes = (a: Buffer | null, b: Buffer | null): boolean => (a === null || b === null ? a === b : a.equals(b))

const isSameRecord = (a: DecodedRecord, b: DecodedRecord): boolean =>
  a.timestamp === b.timestamp && isSameBytes(a.key, b.key) && isSameBytes(a.value, b.value)

/** The last batch of the mirror that begins below `offset`; undefined = none. */
export async function lastBatchBelow(log: MirrorLog, offset: number): Promise<BatchHeader | undefined> {
  const { logStartOffset } = log.state()
  let found: BatchHeader | undefined
  // Holes: further and further back until something is found, then forward to the last one.
  for (let back = 1; found === undefined; back *= 2) {
    const from = Math.max(logStartOffset, offset - back)
    found = await firstBatchFrom(log, from)
    if (found !== undefined && found.baseOffset >= offset) found = undefined
    if (from <= logStartOffset) break
  }
  while (found !== undefined) {
    const next = found.lastOffset + 1 < offset ? await firstBatchFrom(log, found.lastOffset + 1) : undefined
    if (next === undefined || next.baseOffset >= offset) return found
    found = next
  }
  return undefined
}

/** The batch of the mirror that holds this offset, or else the next one. */
export async function firstBatchFrom(log: MirrorLog, offset: number): Promise<BatchHeader | undefined> {
  if (offset >= log.state().logEndOffset) return undefined
  const bytes = await log.readBatches({ offset, maxBytes: 1 })
  return batchesIn(bytes).next().value ?? undefined
}
