/** Control batches: end-transaction markers, built and read, and the raft control records by type. Used by log, replica and link. */
import { BatchError } from './batch-error.ts'
import { type BatchHeader, isControl } from './batch-header.ts'
import { buildBatch } from './build-batch.ts'
import { recordsIn } from './records-of.ts'

/** Control record types by their number in the key. */
const controlTypeNames = [
  'abort',
  'commit',
  'leader-change',
  'snapshot-header',
  'snapshot-footer',
  'kraft-version',
  'kraft-voters',
] as const

/** A decoded end-transaction marker (type 0 and 1). */
export interface EndMarker {
  readonly type: 'abort' | 'commit'
  readonly offset: number
  /** Epoch of the transaction coordinator that wrote it. */
  readonly coordinatorEpoch: number
}

/** A control record of the raft layer; `value` is a message of protocol/raft-records. */
export interface RaftControlRecord {
  readonly type: Exclude<(typeof controlTypeNames)[number], 'abort' | 'commit'>
  readonly offset: number
  readonly value: Buffer | null
}

/** A type of a newer Kafka; readers skip it. */
export interface UnknownControlRecord {
  readonly type: 'unknown'
  readonly typeNumber: number
  readonly offset: number
}

export type ControlRecord = EndMarker | RaftControlRecord | UnknownControlRecord

/** What an end-transaction marker says. */
export interface EndMarkerInput {
  readonly type: 'abort' | 'commit'
  readonly producerId: bigint
  readonly producerEpoch: number
  readonly coordinatorEpoch: number
  readonly offset: number
  readonly timestamp: bigint
  readonly leaderEpoch: number
}

/** A batch with the one marker that ends a transaction (key version 0, value version 0). */
export function buildEndMarker(marker: EndMarkerInput): Buffer {
  const key = Buffer.alloc(4)
  key.writeInt16BE(controlTypeNames.indexOf(marker.type), 2)
  const value = Buffer.alloc(6)
  value.writeInt32BE(marker.coordinatorEpoch, 2)
  return buildBatch({
    baseOffset: marker.offset,
    leaderEpoch: marker.leaderEpoch,
    producerId: marker.producerId,
    producerEpoch: marker.producerEpoch,
    transactional: true,
    control: true,
    records: [{ timestamp: marker.timestamp, key, value }],
  })
}

/** All records of a control batch. Throws BatchError 'invalid-records'; the batch must be a control batch. */
export function controlRecordsOf(buffer: Buffer, header: BatchHeader): ControlRecord[] {
  if (!isControl(header)) {
    throw new BatchError('invalid-records', `batch at offset ${header.baseOffset} is not a control batch`)
  }
  return Array.from(recordsIn(buffer, header), decodeControl)
}

/** The first record of a control batch, undefined if the cleaner emptied it. Throws BatchError 'invalid-records'. */
export const decodeControlRecord = (buffer: Buffer, header: BatchHeader): ControlRecord | undefined =>
  controlRecordsOf(buffer, header)[0]

function decodeControl(record: { offset: number; key: Buffer | null; value: Buffer | null }): ControlRecord {
  const { offset, key, value } = record
  if (key === null || key.length < 4) throw invalid(offset, 'has no type')
  // Later versions only add fields behind, so a newer version reads as the one we know.
  if (key.readInt16BE(0) < 0) throw invalid(offset, `has key version ${key.readInt16BE(0)}`)
  const typeNumber = key.readInt16BE(2)
  const type = controlTypeNames[typeNumber]
  if (type === undefined) return { type: 'unknown', typeNumber, offset }
  if (type === 'abort' || type === 'commit')
    return { type, offset, coordinatorEpoch: coordinatorEpochOf(offset, value) }
  return { type, offset, value }
}

function coordinatorEpochOf(offset: number, value: Buffer | null): number {
  if (value === null || value.length < 6) throw invalid(offset, 'is an end marker without coordinator epoch')
  if (value.readInt16BE(0) < 0) throw invalid(offset, `has value version ${value.readInt16BE(0)}`)
  return value.readInt32BE(2)
}

const invalid = (offset: number, what: string) =>
  new BatchError('invalid-records', `control record at offset ${offset} ${what}`)
