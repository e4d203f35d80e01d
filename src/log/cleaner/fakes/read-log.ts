/** Reads a log as its consumers do: every batch, or what read_committed lets through; for cleaner tests. */
import { ok } from 'node:assert/strict'
import { isControl, isTransactional } from '../../../protocol/batches/batch-header.ts'
import { batchesIn } from '../../../protocol/batches/batch-iteration.ts'
import { decodeControlRecord } from '../../../protocol/batches/control-batch.ts'
import { recordsOf } from '../../../protocol/batches/records-of.ts'
import type { PartitionLog } from '../../partition-log.ts'

/** A record as a consumer gets it. */
export interface ReadRecord {
  readonly offset: number
  readonly timestamp: bigint
  readonly key: string | null
  readonly value: string | null
}

/** From `start` on to `bound`, as Kafka's consumer filters: by the lists of aborted transactions that come with each answer. */
export async function readRecords(
  log: PartitionLog,
  { start, bound, committed }: { start: number; bound: number; committed: boolean },
): Promise<ReadRecord[]> {
  const found: ReadRecord[] = []
  for (let offset = start; offset < bound; ) {
    const read = await log.read({ offset, maxBytes: 700, maxOffset: bound, minOneBatch: true, withAborted: committed })
    ok(read.kind === 'batches', `nothing at ${offset}`)
    if (read.records.length === 0) break
    const records = committed ? withoutAborted(read.records, read.aborted ?? []) : allRecords(read.records)
    found.push(...records.filter(record => record.offset >= offset))
    offset = read.nextOffset
  }
  return found
}

const allRecords = (bytes: Buffer): ReadRecord[] =>
  [...batchesIn(bytes)].flatMap(header => (isControl(header) ? [] : recordsOf(bytes, header).map(textOf)))

function withoutAborted(
  bytes: Buffer,
  aborted: readonly { readonly producerId: bigint; readonly firstOffset: number }[],
): ReadRecord[] {
  const coming = [...aborted].sort((a, b) => a.firstOffset - b.firstOffset)
  const open = new Set<bigint>()
  return [...batchesIn(bytes)].flatMap(header => {
    while (coming[0] && coming[0].firstOffset <= header.lastOffset) open.add(coming.shift()?.producerId ?? -1n)
    if (isControl(header)) {
      if (decodeControlRecord(bytes, header)?.type === 'abort') open.delete(header.producerId)
      return []
    }
    if (isTransactional(header) && open.has(header.producerId)) return []
    return recordsOf(bytes, header).map(textOf)
  })
}

const textOf = (record: {
  offset: number
  timestamp: bigint
  key: Buffer | null
  value: Buffer | null
}): ReadRecord => ({
  offset: record.offset,
  timestamp: record.timestamp,
  key: record.key?.toString() ?? null,
  value: record.value?.toString() ?? null,
})
