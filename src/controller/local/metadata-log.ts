/** The `__cluster_metadata-0` log of a quorum of one, with its snapshots: epochs, reading all of it, durable appends. Used by the local controller alone. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import type { Clock } from '../../core/clock.ts'
import type { Logger } from '../../core/logger.ts'
import type { Uuid } from '../../core/uuid.ts'
import type { FileSystem } from '../../log/file-system.ts'
import { defaultLogConfig } from '../../log/log-config.ts'
import { PartitionLog } from '../../log/partition-log.ts'
import { CLUSTER_METADATA_TOPIC } from '../../metadata/topic-names.ts'
import type { MetadataRecordInput } from '../../protocol/metadata-records/registry.ts'
import { LeaderChangeMessage } from '../../protocol/raft-records/leader-change.ts'
import { atomicBatches, RaftControlType, raftControlBatch } from '../metadata-batches.ts'
import type { SnapshotContents } from '../snapshot-batches.ts'
import { controllerError } from './controller-errors.ts'
import { MetadataSnapshots, type SnapshotId } from './metadata-snapshots.ts'
import { loadLeaderEpoch, saveLeaderEpoch } from './quorum-state.ts'

/** Kafka's reserved topic id of the metadata log. */
const METADATA_TOPIC_ID = 'AAAAAAAAAAAAAAAAAAAAAQ' as Uuid

/** Half of what Kafka's controllers allow in a batch. */
const BATCH_BYTES_MAX = 4 * 1024 * 1024

const READ_BYTES = 4 * 1024 * 1024

export interface MetadataLogOptions {
  /** The directory above `__cluster_metadata-0`. */
  readonly directory: string
  readonly nodeId: number
  /** `metadata.log.segment.*` */
  readonly segments: { readonly bytes: number; readonly ms: number }
  readonly fs: FileSystem
  readonly clock: Clock
  readonly logger: Logger
}

interface NewestSnapshot {
  readonly id: SnapshotId
  readonly contents: SnapshotContents
}

export class MetadataLog {
  static readonly directoryName = `${CLUSTER_METADATA_TOPIC}-0`

  readonly snapshots: MetadataSnapshots
  readonly #options: MetadataLogOptions
  #newest: NewestSnapshot | undefined
  #log: PartitionLog
  #epoch = 0

  private constructor(options: MetadataLogOptions, log: PartitionLog, snapshots: MetadataSnapshots) {
    this.snapshots = snapshots
    this.#options = options
    this.#log = log
  }

  /** Rejects with METADATA_LOG_UNREADABLE where the beginning of the log is gone and no whole snapshot stands in for it. */
  static async open(options: MetadataLogOptions): Promise<MetadataLog> {
    const { fs, logger } = options
    const directory = join(options.directory, MetadataLog.directoryName)
    const snapshots = await MetadataSnapshots.open({ fs, directory, logger })
    const newest = await snapshots.loadNewest()
    const log = await openLog(options, newest?.id.offset ?? 0)
    try {
      const opened = new MetadataLog(options, log, snapshots)
      await opened.#beginWith(newest)
      return opened
    } catch (error) {
      await log.close()
      throw error
    }
  }

  /** A log that ends before its newest snapshot is what a replica leaves that died while it took the snapshot over. */
  async #beginWith(newest: NewestSnapshot | undefined): Promise<void> {
    this.#newest = newest
    const { directory, logStartOffset, logEndOffset, latestEpoch = 0 } = this.#log
    const { offset, epoch } = this.#newest?.id ?? { offset: 0, epoch: 0 }
    if (epoch > latestEpoch || (epoch === latestEpoch && offset > logEndOffset)) {
      await this.#log.truncateFullyAndStartAt(offset)
    } else if (logStartOffset > offset) {
      const reason = `it starts at offset ${logStartOffset}, and there is no whole snapshot of what came before`
      throw controllerError('METADATA_LOG_UNREADABLE', { directory, reason })
    }
  }

  get endOffset(): number {
    return this.#log.logEndOffset
  }

  get sizeBytes(): number {
    return this.#log.sizeBytes
  }

  /** The snapshot that replay begins with, once: its contents are given up. */
  takeSnapshot(): NewestSnapshot | undefined {
    const newest = this.#newest
    this.#newest = undefined
    return newest
  }

  /** Everything in the log from `start` on, in pieces of whole batches. */
  async *contents(start: number): AsyncGenerator<Buffer, void, undefined> {
    const end = this.endOffset
    let offset = start
    while (offset < end) {
      const result = await this.#log.read({ offset, maxBytes: READ_BYTES, maxOffset: end, minOneBatch: true })
      assert(result.kind === 'batches' && result.nextOffset > offset, 'the metadata log has no hole before its end')
      yield result.records
      offset = result.nextOffset
    }
  }

  /** Gives up what a snapshot covers: whole segments below its end, and older snapshots. */
  async startAt(snapshot: SnapshotId): Promise<void> {
    await this.#log.raiseLogStartOffset(snapshot.offset)
    await this.snapshots.removeBelow(snapshot.offset)
  }

  /** Begins a new epoch: one above all that the log or quorum-state name. Returns the durable bytes of the leader change. */
  async startEpoch(): Promise<Buffer> {
    const { fs, nodeId, clock } = this.#options
    const directory = join(this.#options.directory, MetadataLog.directoryName)
    const inLog = Math.max(this.#log.latestEpoch ?? 0, this.snapshots.ids.at(-1)?.epoch ?? 0)
    const known = Math.max(await loadLeaderEpoch(fs, directory), inLog)
    this.#epoch = known + 1
    await saveLeaderEpoch(fs, directory, { nodeId, leaderEpoch: this.#epoch })
    const voters = [{ voterId: nodeId }]
    const value = LeaderChangeMessage.encode({ version: 0, leaderId: nodeId, voters, grantingVoters: voters }, 0)
    const place = { timestamp: BigInt(clock.nowMs()), baseOffset: this.endOffset, leaderEpoch: this.#epoch }
    return await this.#appendDurably([raftControlBatch([[RaftControlType.LEADER_CHANGE, value]], place)])
  }

  /** Appends the records as one atomic unit. Resolves to the bytes in the log once they are durable. */
  append(records: readonly MetadataRecordInput[]): Promise<Buffer> {
    const place = {
      timestamp: BigInt(this.#options.clock.nowMs()),
      baseOffset: this.endOffset,
      leaderEpoch: this.#epoch,
    }
    return this.#appendDurably(atomicBatches(records, place, BATCH_BYTES_MAX))
  }

  /** Takes back what a failed append may have left. Rejects while the disk does not allow it; may be tried again. */
  async takeBack(offset: number): Promise<void> {
    try {
      await this.#log.truncateTo(offset)
    } catch {
      // A log whose flush failed takes nothing more: what the disk really holds is known only after it was opened again.
      await this.#log.close()
      this.#log = await openLog(this.#options, this.snapshots.ids.at(-1)?.offset ?? 0)
      await this.#log.truncateTo(offset)
    }
  }

  async close(): Promise<void> {
    await this.#log.close()
  }

  /** Each batch before the next one: what a power failure leaves half written is then never followed by anything whole. */
  async #appendDurably(batches: readonly Buffer[]): Promise<Buffer> {
    for (const batch of batches) {
      await this.#log.appendAsLeader(batch, { leaderEpoch: this.#epoch, origin: 'replication' })
      await this.#log.flush()
    }
    return Buffer.concat(batches)
  }
}

async function /** @param neededFrom what a snapshot covers may be damaged */
openLog(options: MetadataLogOptions, neededFrom: number): Promise<PartitionLog> {
  const { directory, segments, fs, clock, logger } = options
  const log = await PartitionLog.open({
    directory: join(directory, MetadataLog.directoryName),
    topic: CLUSTER_METADATA_TOPIC,
    partition: 0,
    topicId: METADATA_TOPIC_ID,
    config: {
      ...defaultLogConfig,
      segmentBytes: segments.bytes,
      segmentMs: segments.ms,
      maxMessageBytes: 2 * BATCH_BYTES_MAX,
    },
    fs,
    clock,
    logger,
    recover: true,
    // Every append was durable before the next one: to lose more than a torn one would be to forget topics.
    damage: 'refuse',
    neededFrom,
  })
  // What is in it is going to be published.
  await log.flush()
  return log
}
