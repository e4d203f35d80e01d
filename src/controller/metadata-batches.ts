/** Bytes of the metadata log ⇄ records: used by the replay loop, the local controller's log and metadata snapshots. */
import { type BatchHeader, isControl } from '../protocol/batches/batch-header.ts'
import { batchesIn } from '../protocol/batches/batch-iteration.ts'
import { buildBatch } from '../protocol/batches/build-batch.ts'
import { type ControlRecord, controlRecordsOf } from '../protocol/batches/control-batch.ts'
import { recordsIn } from '../protocol/batches/records-of.ts'
import { verifyBatch } from '../protocol/batches/verify-batch.ts'
import {
  decodeMetadataRecord,
  encodeMetadataRecord,
  type MetadataRecord,
  type MetadataRecordInput,
  MetadataRecordType,
  type UnknownMetadataRecord,
} from '../protocol/metadata-records/registry.ts'
import { LeaderChangeMessage } from '../protocol/raft-records/leader-change.ts'

/** Control record types of the raft layer, as in the key of a control record. */
export const RaftControlType = {
  LEADER_CHANGE: 2,
  SNAPSHOT_HEADER: 3,
  SNAPSHOT_FOOTER: 4,
  KRAFT_VERSION: 5,
  KRAFT_VOTERS: 6,
} as const

/** What one batch of the metadata log says. */
export interface MetadataBatch {
  readonly lastOffset: number
  readonly epoch: number
  /** Of its newest record, ms. */
  readonly timestamp: bigint
  /** What the raft layer wrote; such a batch has no metadata records. */
  readonly controls: readonly ControlRecord[]
  readonly records: readonly (MetadataRecord | UnknownMetadataRecord)[]
}

/** The complete batches in `buffer`. Throws BatchError or DecodeError. */
export function* metadataBatchesIn(buffer: Buffer): Generator<MetadataBatch, void, undefined> {
  for (const header of batchesIn(buffer)) {
    verifyBatch(buffer, header)
    const { lastOffset, leaderEpoch: epoch, maxTimestamp: timestamp } = header
    const isData = !isControl(header)
    yield {
      lastOffset,
      epoch,
      timestamp,
      controls: isData ? [] : controlRecordsOf(buffer, header),
      records: isData ? dataRecordsOf(buffer, header) : [],
    }
  }
}

function dataRecordsOf(buffer: Buffer, header: BatchHeader): (MetadataRecord | UnknownMetadataRecord)[] {
  const records: (MetadataRecord | UnknownMetadataRecord)[] = []
  for (const { value } of recordsIn(buffer, header)) if (value !== null) records.push(decodeMetadataRecord(value))
  return records
}

/** Whom a leader change names; undefined if the batch has none. Throws DecodeError. */
export function newLeaderOf({ controls }: MetadataBatch): number | undefined {
  for (const { type, ...record } of controls) {
    if (type !== 'leader-change' || !('value' in record) || record.value === null) continue
    return LeaderChangeMessage.decode(record.value, record.value.readInt16BE(0)).leaderId
  }
  return undefined
}

/** Where a batch goes; defaults: offset 0, epoch −1 (the log stamps them). */
export interface BatchPlace {
  readonly timestamp: bigint
  readonly baseOffset?: number
  readonly leaderEpoch?: number
}

/** One uncompressed data batch. */
export const metadataBatch = (records: readonly MetadataRecordInput[], at: BatchPlace): Buffer =>
  batchOf(records.map(encodeMetadataRecord), at)

const batchOf = (values: readonly Buffer[], at: BatchPlace): Buffer =>
  buildBatch({ ...at, records: values.map(value => ({ timestamp: at.timestamp, key: null, value })) })

/**
 * The records as one atomic unit: one batch, or, above `batchBytesMax` bytes of records, several in a metadata transaction
 * (KIP-868), so that no reader meets a batch larger than Kafka's controllers write.
 */
export function atomicBatches(
  records: readonly MetadataRecordInput[],
  at: BatchPlace & { readonly baseOffset: number },
  batchBytesMax: number,
): Buffer[] {
  const groups = grouped(records.map(encodeMetadataRecord), batchBytesMax)
  const [only] = groups
  if (groups.length <= 1) return only === undefined ? [] : [batchOf(only, at)]
  groups[0]?.unshift(encodeMetadataRecord({ type: MetadataRecordType.BeginTransaction, version: 0, value: {} }))
  groups.at(-1)?.push(encodeMetadataRecord({ type: MetadataRecordType.EndTransaction, version: 0, value: {} }))
  let baseOffset = at.baseOffset
  return groups.map(values => {
    const batch = batchOf(values, { ...at, baseOffset })
    baseOffset += values.length
    return batch
  })
}

function grouped(values: readonly Buffer[], bytesMax: number): Buffer[][] {
  const groups: Buffer[][] = []
  let bytes = Number.POSITIVE_INFINITY
  for (const value of values) {
    bytes += value.length
    if (bytes > bytesMax) {
      groups.push([])
      bytes = value.length
    }
    groups.at(-1)?.push(value)
  }
  return groups
}

/** A record of the raft layer: its control type and its value. */
export type RaftRecord = readonly [type: number, value: Buffer]

/** A control batch with records of the raft layer. */
export function raftControlBatch(records: readonly RaftRecord[], at: BatchPlace): Buffer {
  const { timestamp } = at
  const withKeys = records.map(([type, value]) => {
    const key = Buffer.alloc(4)
    key.writeInt16BE(type, 2)
    return { timestamp, key, value }
  })
  return buildBatch({ ...at, control: true, records: withKeys })
}
