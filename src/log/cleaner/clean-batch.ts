/** What is left of one batch when it is cleaned, by Kafka's rules; pure, asked by the rewriting of segments. */
import {
  type BatchHeader,
  compressionOf,
  hasDeleteHorizon,
  hasProducerId,
  isControl,
  isTransactional,
  usesLogAppendTime,
} from '../../protocol/batches/batch-header.ts'
import { type BatchInput, buildBatch } from '../../protocol/batches/build-batch.ts'
import { type DecodedRecord, recordsIn } from '../../protocol/batches/records-of.ts'
import type { CleanedTransactions } from './cleaned-transactions.ts'
import type { OffsetMap } from './offset-map.ts'

/** The newest batch of a live producer: where its last data ended, or, where it only has a marker, the marker's epoch. */
export type LastRecord = { readonly lastOffset: number } | { readonly epoch: number }

export interface CleaningRules {
  readonly map: Pick<OffsetMap, 'offsetOf' | 'latestOffset'>
  readonly transactions: Pick<CleanedTransactions, 'mayDiscard'>
  /** The last batch of a live producer stays, if need be without records: the next one must follow its sequence. */
  readonly lastRecords: ReadonlyMap<bigint, LastRecord>
  /** A batch that ends right below it stays, if need be without records, so that the log's last offset is not lost. */
  readonly firstUncleanableOffset: number
  /** `delete.retention.ms`: how long tombstones and markers stay after the first cleaning that meets them. */
  readonly deleteRetentionMs: number
  readonly nowMs: number
}

export interface CleanedBatch {
  /** The batch as it was, or a new one; undefined if nothing of it stays. */
  readonly bytes: Buffer | undefined
  readonly recordsRead: number
  readonly recordsKept: number
  /** Records without a key, which a compacted log cannot keep. */
  readonly invalidRecords: number
}

/** The batch at the header's position in `buffer`, complete and intact. Throws BatchError for records that cannot be decoded. */
export function cleanBatch(buffer: Buffer, header: BatchHeader, rules: CleaningRules): CleanedBatch {
  const mayDiscard = rules.transactions.mayDiscard(buffer, header)
  const discarded = mayDiscard && (!isControl(header) || horizonPassed(header, rules.nowMs))
  const kept = discarded ? nothing : keptRecords(buffer, header, rules)
  const counts = { recordsRead: header.recordCount, recordsKept: kept.records.length, invalidRecords: kept.invalid }
  if (kept.records.length === 0) {
    return { ...counts, bytes: staysEmpty(header, rules) ? emptied(header) : undefined }
  }
  const needsHorizon = (kept.tombstones || (mayDiscard && isControl(header))) && !hasDeleteHorizon(header)
  if (kept.records.length === header.recordCount && !needsHorizon) {
    return { ...counts, bytes: buffer.subarray(header.position, header.position + header.sizeBytes) }
  }
  const horizon = hasDeleteHorizon(header) ? header.baseTimestamp : newHorizon(rules)
  const hasHorizon = needsHorizon || hasDeleteHorizon(header)
  return { ...counts, bytes: rebuilt(header, kept.records, hasHorizon ? horizon : undefined) }
}

interface Kept {
  readonly records: readonly DecodedRecord[]
  readonly tombstones: boolean
  readonly invalid: number
}

const nothing: Kept = { records: [], tombstones: false, invalid: 0 }

function keptRecords(buffer: Buffer, header: BatchHeader, rules: CleaningRules): Kept {
  const records: DecodedRecord[] = []
  let tombstones = false
  let invalid = 0
  for (const record of recordsIn(buffer, header)) {
    if (!isControl(header) && record.key === null && record.offset <= rules.map.latestOffset) invalid++
    if (!isControl(header) && !stays(record, header, rules)) continue
    records.push(record)
    if (record.value === null) tombstones = true
  }
  return { records, tombstones, invalid }
}

function stays({ offset, key, value }: DecodedRecord, header: BatchHeader, { map, nowMs }: CleaningRules): boolean {
  // Not indexed yet: a later pass decides.
  if (offset > map.latestOffset) return true
  if (key === null || offset < map.offsetOf(key)) return false
  return value !== null || !horizonPassed(header, nowMs)
}

/** An int64; `delete.retention.ms` may be as large as that by itself. */
const TIMESTAMP_MAX = 0x7fff_ffff_ffff_ffffn

function newHorizon({ nowMs, deleteRetentionMs }: CleaningRules): bigint {
  const horizon = BigInt(nowMs) + BigInt(deleteRetentionMs)
  return horizon > TIMESTAMP_MAX ? TIMESTAMP_MAX : horizon
}

/** The delete horizon lies in the base timestamp; a batch that has none yet gets it in this pass. */
const horizonPassed = (header: BatchHeader, nowMs: number): boolean =>
  hasDeleteHorizon(header) && header.baseTimestamp <= BigInt(nowMs)

function staysEmpty(header: BatchHeader, { lastRecords, firstUncleanableOffset }: CleaningRules): boolean {
  if (header.lastOffset + 1 === firstUncleanableOffset) return true
  const last = hasProducerId(header) ? lastRecords.get(header.producerId) : undefined
  if (last === undefined) return false
  if ('lastOffset' in last) return header.lastOffset === last.lastOffset
  return isControl(header) && header.producerEpoch === last.epoch
}

/** What a new batch has in common with the one that it replaces: all that readers and producers know it by. */
const identityOf = (header: BatchHeader): Omit<BatchInput, 'records'> => ({
  baseOffset: header.baseOffset,
  lastOffsetDelta: header.lastOffsetDelta,
  leaderEpoch: header.leaderEpoch,
  producerId: header.producerId,
  producerEpoch: header.producerEpoch,
  baseSequence: header.baseSequence,
  transactional: isTransactional(header),
  control: isControl(header),
  ...(usesLogAppendTime(header) ? { logAppendTime: header.maxTimestamp } : {}),
})

const emptied = (header: BatchHeader): Buffer =>
  buildBatch({ ...identityOf(header), records: [], emptyBatchTimestamp: header.maxTimestamp })

function rebuilt(header: BatchHeader, records: readonly DecodedRecord[], deleteHorizon: bigint | undefined): Buffer {
  return buildBatch({
    ...identityOf(header),
    compression: compressionOf(header),
    records: records.map(record => ({ ...record, offsetDelta: record.offset - header.baseOffset })),
    ...(deleteHorizon === undefined ? {} : { deleteHorizon }),
  })
}
