/** The records of `__share_group_state` as Kafka writes them; the share coordinator writes and replays them. */

import { offsetFromWire, offsetToWire } from '../../core/offset.ts'
import {
  decodeCoordinatorRecord,
  encodeRecordKey,
  encodeRecordValue,
} from '../../protocol/coordinator-records/registry.ts'
import { ShareSnapshotKey, ShareSnapshotValue } from '../../protocol/coordinator-records/share-00-share-snapshot.ts'
import { ShareUpdateKey, ShareUpdateValue } from '../../protocol/coordinator-records/share-01-share-update.ts'
import type { StateRecord } from '../runtime/state-partitions.ts'
import type { ShareKey, StateBatch } from './share-persister.ts'

/** All there is to know about a share partition; what was known before does not count any more. */
export interface ShareSnapshot {
  /** Raised by each snapshot. */
  readonly snapshotEpoch: number
  readonly stateEpoch: number
  readonly leaderEpoch: number
  /** -1: not known. */
  readonly startOffset: number
  /** -1: not known. */
  readonly deliveryCompleteCount: number
  /** Wall clock; differs from `writtenMs` in the snapshot of a partition that was idle. */
  readonly createdMs: number
  readonly writtenMs: number
  readonly batches: readonly StateBatch[]
}

/** A change on top of the last snapshot. */
export type ShareUpdate = Omit<ShareSnapshot, 'stateEpoch' | 'createdMs' | 'writtenMs'>

export type ShareRecord =
  | { readonly kind: 'snapshot'; readonly key: ShareKey; readonly value: ShareSnapshot }
  | { readonly kind: 'update'; readonly key: ShareKey; readonly value: ShareUpdate }
  | { readonly kind: 'tombstone'; readonly key: ShareKey }

export function encodeShareRecord(record: ShareRecord): StateRecord {
  switch (record.kind) {
    case 'tombstone':
      return { key: encodeRecordKey(ShareSnapshotKey, record.key), value: null }
    case 'snapshot':
      return { key: encodeRecordKey(ShareSnapshotKey, record.key), value: encodeSnapshot(record.value) }
    case 'update':
      return { key: encodeRecordKey(ShareUpdateKey, record.key), value: encodeUpdate(record.value) }
  }
}

function encodeSnapshot({ batches, createdMs, writtenMs, ...value }: ShareSnapshot): Buffer {
  const wire = {
    ...value,
    startOffset: offsetToWire(value.startOffset),
    createTimestamp: BigInt(createdMs),
    writeTimestamp: BigInt(writtenMs),
    stateBatches: batches.map(batchToWire),
  }
  return encodeRecordValue(ShareSnapshotValue, wire, 0)
}

function encodeUpdate({ batches, ...value }: ShareUpdate): Buffer {
  const wire = { ...value, startOffset: offsetToWire(value.startOffset), stateBatches: batches.map(batchToWire) }
  return encodeRecordValue(ShareUpdateValue, wire, 0)
}

/** undefined for a kind of record that a newer Kafka wrote, which is passed over as Kafka does. Throws DecodeError for damage. */
export function decodeShareRecord({ key: keyBytes, value: valueBytes }: StateRecord): ShareRecord | undefined {
  const record = decodeCoordinatorRecord('share', keyBytes, valueBytes)
  if (!record) return undefined
  const { groupId, topicId, partition } = record.key as ShareSnapshotKey | ShareUpdateKey
  const key: ShareKey = { groupId, topicId, partition }
  if (record.value === null) return { kind: 'tombstone', key }
  if (record.type === ShareSnapshotKey.apiKey) {
    const { createTimestamp, writeTimestamp, ...wire } = record.value as ShareSnapshotValue
    const { stateEpoch } = wire
    const times = { createdMs: Number(createTimestamp), writtenMs: Number(writeTimestamp) }
    return { kind: 'snapshot', key, value: { ...updateOf(wire), stateEpoch, ...times } }
  }
  return { kind: 'update', key, value: updateOf(record.value as ShareUpdateValue) }
}

const updateOf = (wire: ShareUpdateValue): ShareUpdate => ({
  snapshotEpoch: wire.snapshotEpoch,
  leaderEpoch: wire.leaderEpoch,
  startOffset: offsetFromWire(wire.startOffset),
  deliveryCompleteCount: wire.deliveryCompleteCount,
  batches: wire.stateBatches.map(batch => ({
    ...batch,
    firstOffset: offsetFromWire(batch.firstOffset),
    lastOffset: offsetFromWire(batch.lastOffset),
  })),
})

const batchToWire = (batch: StateBatch) => ({
  ...batch,
  firstOffset: offsetToWire(batch.firstOffset),
  lastOffset: offsetToWire(batch.lastOffset),
})
