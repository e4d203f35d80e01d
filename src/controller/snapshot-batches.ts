/** Bytes of a metadata snapshot (KIP-630) ⇄ records: header batch, data batches, footer batch. Used by the local controller's snapshots and its bootstrap file. */
import { completeBytes } from '../protocol/batches/batch-iteration.ts'
import type { MetadataRecordInput } from '../protocol/metadata-records/registry.ts'
import { SnapshotFooterRecord } from '../protocol/raft-records/snapshot-footer.ts'
import { SnapshotHeaderRecord } from '../protocol/raft-records/snapshot-header.ts'
import {
  type MetadataBatch,
  metadataBatch,
  metadataBatchesIn,
  RaftControlType,
  type RaftRecord,
  raftControlBatch,
} from './metadata-batches.ts'

/** Kafka's number of records per batch. */
const BATCH_RECORDS = 1024

export interface SnapshotFrame {
  /** Leader epoch of every batch: that of the last record that the snapshot covers. */
  readonly epoch: number
  /** Of the batches, ms. */
  readonly timestamp: bigint
  /** Timestamp of the last record that the snapshot covers; decides when the snapshot is old. */
  readonly lastContainedTimestamp: bigint
  /** Records of a quorum of changeable voters (KIP-853); a static quorum has none. */
  readonly quorum?: readonly RaftRecord[]
}

/** The file piece by piece, a batch at a time, so that the writer can pause between. Offsets begin at 0. */
export function* snapshotBatches(
  records: Iterable<MetadataRecordInput>,
  frame: SnapshotFrame,
): Generator<Buffer, void, undefined> {
  const { epoch: leaderEpoch, timestamp, lastContainedTimestamp: lastContainedLogTimestamp } = frame
  let baseOffset = 0
  const place = (count: number) => {
    const at = { timestamp, baseOffset, leaderEpoch }
    baseOffset += count
    return at
  }
  const header = SnapshotHeaderRecord.encode({ version: 0, lastContainedLogTimestamp }, 0)
  const first: RaftRecord[] = [[RaftControlType.SNAPSHOT_HEADER, header], ...(frame.quorum ?? [])]
  yield raftControlBatch(first, place(first.length))
  let group: MetadataRecordInput[] = []
  for (const record of records) {
    group.push(record)
    if (group.length < BATCH_RECORDS) continue
    yield metadataBatch(group, place(group.length))
    group = []
  }
  if (group.length > 0) yield metadataBatch(group, place(group.length))
  const footer = SnapshotFooterRecord.encode({ version: 0 }, 0)
  yield raftControlBatch([[RaftControlType.SNAPSHOT_FOOTER, footer]], place(1))
}

export interface SnapshotContents {
  readonly batches: readonly MetadataBatch[]
  readonly lastContainedTimestamp: bigint
}

/** Why bytes are no whole snapshot. */
export class SnapshotDamaged extends Error {
  constructor(reason: string) {
    super(`not a whole metadata snapshot: ${reason}`)
    this.name = 'SnapshotDamaged'
  }
}

/** Reads and checks a whole snapshot. Throws SnapshotDamaged, BatchError or DecodeError. */
export function readSnapshot(bytes: Buffer): SnapshotContents {
  const batches = [...metadataBatchesIn(bytes)]
  if (completeBytes(bytes) !== bytes.length) throw new SnapshotDamaged('it ends within a batch')
  const header = batches[0]?.controls[0]
  if (header?.type !== 'snapshot-header' || header.value === null) throw new SnapshotDamaged('it has no header')
  if (batches.at(-1)?.controls.at(-1)?.type !== 'snapshot-footer') throw new SnapshotDamaged('it has no footer')
  const { lastContainedLogTimestamp } = SnapshotHeaderRecord.decode(header.value, 0)
  return { batches, lastContainedTimestamp: lastContainedLogTimestamp }
}
