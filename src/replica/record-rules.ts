/** Rules for single records of a client's batch: keys in compacted topics, timestamps within bounds. validate-client-batch.ts calls it. */
import type { TopicSettings } from '../metadata/topic-settings.ts'
import { type BatchHeader, usesLogAppendTime } from '../protocol/batches/batch-header.ts'
import { ErrorCode } from '../protocol/errors.ts'
import { ClientAppendError, type RecordError } from './client-append-error.ts'
import { type RecordScan, type ScannedRecord, scanRecords } from './record-scan.ts'

/** The topic configs that single records must obey. */
export type RecordRules = Pick<
  TopicSettings,
  'compacts' | 'timestampType' | 'timestampBeforeMaxMs' | 'timestampAfterMaxMs'
>

interface BatchRecords {
  readonly header: BatchHeader
  /** The decompressed record section. */
  readonly plain: Buffer
  readonly scan: RecordScan
}

interface Against {
  readonly rules: RecordRules
  readonly nowMs: number
}

/** "No timestamp" of old clients: never out of bounds. */
const NO_TIMESTAMP = -1n
/** Record errors listed in one answer; a batch may have a million bad records. */
const ERRORS_MAX = 100

/** Throws ClientAppendError naming the records, with INVALID_TIMESTAMP if any timestamp is wrong, else INVALID_RECORD. */
export function checkRecords(batch: BatchRecords, to: Against): void {
  if (allFine(batch, to)) return
  const errors: RecordError[] = []
  let count = 0
  let timestamps = false
  scanRecords(batch.plain, batch.header.recordCount, record => {
    const problem = problemOf(record, batch.header, to)
    if (!problem) return
    count++
    timestamps ||= problem.timestamp
    if (errors.length < ERRORS_MAX) errors.push({ batchIndex: record.index, message: problem.message })
  })
  if (count === 0) return
  if (timestamps)
    throw new ClientAppendError(
      ErrorCode.INVALID_TIMESTAMP,
      'One or more records have been rejected due to invalid timestamp',
      errors,
    )
  const first = errors.slice(0, 3).map(error => `record ${error.batchIndex}: ${error.message}`)
  throw new ClientAppendError(
    ErrorCode.INVALID_RECORD,
    `${count} records have been rejected; the first: ${first.join('; ')}`,
    errors,
  )
}

/** The usual case, decided from the totals alone. */
function allFine({ header, scan }: BatchRecords, to: Against): boolean {
  if (to.rules.compacts && !scan.everyRecordHasKey) return false
  if (usesLogAppendTime(header)) return false
  if (to.rules.timestampType === 'LogAppendTime') return true
  const { min, max } = bounds(to)
  return (
    header.baseTimestamp + BigInt(scan.minTimestampDelta) >= min &&
    header.baseTimestamp + BigInt(scan.maxTimestampDelta) <= max
  )
}

function problemOf(
  record: ScannedRecord,
  header: BatchHeader,
  to: Against,
): { message: string; timestamp: boolean } | undefined {
  if (to.rules.compacts && !record.hasKey)
    return { message: 'Compacted topic cannot accept message without key', timestamp: false }
  const stampedByBroker = usesLogAppendTime(header)
  const timestamp = stampedByBroker ? header.maxTimestamp : header.baseTimestamp + BigInt(record.timestampDelta)
  if (to.rules.timestampType === 'CreateTime' && timestamp !== NO_TIMESTAMP) {
    const { min, max } = bounds(to)
    if (timestamp >= min && timestamp <= max) return undefined
    return { message: `Timestamp ${timestamp} is out of range; it should be within [${min}, ${max}]`, timestamp: true }
  }
  return stampedByBroker
    ? { message: 'Producers must not set the timestamp type LogAppendTime', timestamp: true }
    : undefined
}

const bounds = ({ rules, nowMs }: Against) => ({
  min: BigInt(nowMs) - BigInt(rules.timestampBeforeMaxMs),
  max: BigInt(nowMs) + BigInt(rules.timestampAfterMaxMs),
})
