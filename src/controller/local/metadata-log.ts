/** The `__cluster_metadata-0` log of a quorum of one: epochs, reading all of it, durable appends. Used by the local controller alone. */
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
import { controllerError } from './controller-errors.ts'
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
  readonly fs: FileSystem
  readonly clock: Clock
  readonly logger: Logger
}

export class MetadataLog {
  static readonly directoryName = `${CLUSTER_METADATA_TOPIC}-0`

  readonly #options: MetadataLogOptions
  #log: PartitionLog
  #epoch = 0

  private constructor(options: MetadataLogOptions, log: PartitionLog) {
    this.#options = options
    this.#log = log
  }

  static async open(options: MetadataLogOptions): Promise<MetadataLog> {
    const log = await openLog(options)
    if (log.logStartOffset === 0) return new MetadataLog(options, log)
    await log.close()
    throw controllerError('METADATA_LOG_UNREADABLE', {
      directory: log.directory,
      reason: `it starts at offset ${log.logStartOffset} and needs a metadata snapshot, which this version cannot read`,
    })
  }

  get endOffset(): number {
    return this.#log.logEndOffset
  }

  /** Everything in the log, in pieces of whole batches. */
  async *contents(): AsyncGenerator<Buffer, void, undefined> {
    const end = this.endOffset
    let offset = 0
    while (offset < end) {
      const result = await this.#log.read({ offset, maxBytes: READ_BYTES, maxOffset: end, minOneBatch: true })
      assert(result.kind === 'batches' && result.nextOffset > offset, 'the metadata log has no hole before its end')
      yield result.records
      offset = result.nextOffset
    }
  }

  /** Begins a new epoch: one above all that the log or quorum-state name. Returns the durable bytes of the leader change. */
  async startEpoch(): Promise<Buffer> {
    const { fs, nodeId, clock } = this.#options
    const directory = join(this.#options.directory, MetadataLog.directoryName)
    const known = Math.max(await loadLeaderEpoch(fs, directory), this.#log.latestEpoch ?? 0)
    this.#epoch = known + 1
    await saveLeaderEpoch(fs, directory, { nodeId, leaderEpoch: this.#epoch })
    const voters = [{ voterId: nodeId }]
    const value = LeaderChangeMessage.encode({ version: 0, leaderId: nodeId, voters, grantingVoters: voters }, 0)
    const place = { timestamp: BigInt(clock.nowMs()), baseOffset: this.endOffset, leaderEpoch: this.#epoch }
    return await this.#appendDurably(raftControlBatch(RaftControlType.LEADER_CHANGE, value, place))
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
      this.#log = await openLog(this.#options)
      await this.#log.truncateTo(offset)
    }
  }

  async close(): Promise<void> {
    await this.#log.close()
  }

  async #appendDurably(batches: Buffer): Promise<Buffer> {
    await this.#log.appendAsLeader(batches, { leaderEpoch: this.#epoch, origin: 'replication' })
    await this.#log.flush()
    return batches
  }
}

function openLog({ directory, fs, clock, logger }: MetadataLogOptions): Promise<PartitionLog> {
  return PartitionLog.open({
    directory: join(directory, MetadataLog.directoryName),
    topic: CLUSTER_METADATA_TOPIC,
    partition: 0,
    topicId: METADATA_TOPIC_ID,
    config: { ...defaultLogConfig, retentionMs: -1, retentionBytes: -1, maxMessageBytes: 2 * BATCH_BYTES_MAX },
    fs,
    clock,
    logger,
    recover: true,
  })
}
