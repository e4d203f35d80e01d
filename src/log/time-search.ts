/** Finds records by timestamp, exact to the record; PartitionLog calls it for ListOffsets. */
import { type BatchHeader, readBatchHeader } from '../protocol/batches/batch-header.ts'
import { recordsIn } from '../protocol/batches/records-of.ts'
import type { LogContents } from './log-contents.ts'
import type { Segment } from './segment.ts'
import { scanBatches } from './segment-scan.ts'

/** A record's place and time, with the leader epoch of its batch. */
export interface TimestampedOffset {
  readonly offset: number
  readonly timestamp: bigint
  readonly leaderEpoch: number
}

/** A batch copied out of the scan. */
interface FoundBatch {
  readonly header: BatchHeader
  readonly bytes: Buffer
}

/** The first record at or above the log start whose timestamp is at least `timestamp`; undefined if there is none. */
export async function offsetForTimestamp(
  contents: LogContents,
  timestamp: bigint,
): Promise<TimestampedOffset | undefined> {
  const { segments, logStartOffset } = contents
  for (const segment of segments.all.slice(segments.indexFor(logStartOffset))) {
    if ((await segment.largestTimestamp()).timestamp < timestamp) continue
    const indexed = await segment.indexes.times.lookup(timestamp)
    let from = (await segment.indexes.offsets.lookup(Math.max(indexed.offset, logStartOffset))).position
    for (;;) {
      const batch = await nextBatch(segment, from, header => header.maxTimestamp >= timestamp)
      if (!batch) break
      const found = firstRecord(batch, record => record.timestamp >= timestamp && record.offset >= logStartOffset)
      if (found) return found
      from = batch.header.position + batch.header.sizeBytes
    }
  }
  return undefined
}

/** The first record with the largest timestamp of the log; undefined if no record has one. */
export async function maxTimestamp(contents: LogContents): Promise<TimestampedOffset | undefined> {
  let best: { segment: Segment; timestamp: bigint; offset: number } | undefined
  for (const segment of contents.segments.all) {
    const largest = await segment.largestTimestamp()
    if (largest.timestamp > (best?.timestamp ?? -1n)) best = { segment, ...largest }
  }
  if (!best) return undefined
  const { segment, timestamp } = best
  const { position } = await segment.indexes.offsets.lookup(best.offset)
  const batch = await nextBatch(segment, position, header => header.maxTimestamp === timestamp)
  return batch && firstRecord(batch, record => record.timestamp === timestamp)
}

/** The first batch from a position on that fits; its header's position is the one in the file. */
async function nextBatch(
  segment: Segment,
  from: number,
  fits: (header: BatchHeader) => boolean,
): Promise<FoundBatch | undefined> {
  let header: BatchHeader | undefined
  await scanBatches(segment.file, { from, to: segment.sizeBytes, need: 'headers' }, (cursor, position) => {
    const candidate = readBatchHeader(cursor.buffer, cursor.position)
    if (!fits(candidate)) return 'continue'
    header = { ...candidate, position }
    return 'stop'
  })
  if (!header) return undefined
  const bytes = Buffer.allocUnsafe(header.sizeBytes)
  await segment.file.read(bytes, header.position)
  return { header, bytes }
}

function firstRecord(
  { header, bytes }: FoundBatch,
  fits: (record: { offset: number; timestamp: bigint }) => boolean,
): TimestampedOffset | undefined {
  for (const { offset, timestamp } of recordsIn(bytes, { ...header, position: 0 })) {
    if (fits({ offset, timestamp })) return { offset, timestamp, leaderEpoch: header.leaderEpoch }
  }
  return undefined
}
