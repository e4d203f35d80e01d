/** A mirror partition of this node as the link engine's MirrorLog: the engine's words for what replica/ does. */

import type { RetentionLimits } from '../core/retention-limits.ts'
import { type MirrorLog, MirrorLogConflict, type MirrorLogState, type OpenTransaction } from '../link/ports.ts'
import { isAppendConflict } from '../replica/log-failure.ts'
import { type MirrorContext, MirrorPartition } from '../replica/mirror-partition.ts'
import type { Partition } from '../replica/partition.ts'
import { PartitionUnavailable } from '../replica/partition-unavailable.ts'
import type { ReplicaSet } from '../replica/replica-set.ts'
import { isThinned } from './compaction-traces.ts'

/** What is needed where others follow the partition, and lead it at times. */
export interface LogReclaim {
  /** Makes the log end with what was mirrored; rejects where it cannot. */
  reclaim(partition: Partition, mirror: MirrorPartition): Promise<void>
  /** Resolves when this node leads the partition in a later epoch, in which nothing is appended yet. */
  beginEpoch(partition: Partition): Promise<void>
}

export class LocalMirrorLog implements MirrorLog {
  readonly capabilities = { truncate: true, startAnywhere: true }
  readonly #replicas: MirrorContext & Pick<ReplicaSet, 'lookup'>
  readonly #reclaim: LogReclaim | undefined
  #partition: Partition
  #mirror: MirrorPartition

  /** `reclaim`: where others may lead the partition at times. */
  constructor(partition: Partition, replicas: MirrorContext & Pick<ReplicaSet, 'lookup'>, reclaim?: LogReclaim) {
    this.#replicas = replicas
    this.#reclaim = reclaim
    this.#partition = partition
    this.#mirror = new MirrorPartition(partition, replicas)
  }

  state(): MirrorLogState {
    return this.#current().mirror.state()
  }

  async refresh(): Promise<MirrorLogState> {
    const { partition, mirror } = this.#current()
    const { log, replicasEnd } = partition
    const { logStartOffset, logEndOffset } = log
    const lastEpoch = logEndOffset > logStartOffset ? log.epochAt(logEndOffset - 1) : undefined
    return { ...mirror.state(), lastEpoch, replicasEnd }
  }

  append(
    batches: Buffer,
    { expectedEndOffset: endOffset, leaderEpoch }: { expectedEndOffset: number; leaderEpoch?: number },
  ): Promise<MirrorLogState> {
    const { mirror } = this.#current()
    return conflicts(mirror.append(batches, { endOffset, leaderEpoch: leaderEpoch ?? mirror.state().leaderEpoch }))
  }

  async reclaim(): Promise<void> {
    const { partition, mirror } = this.#current()
    await conflicts(this.#reclaim?.reclaim(partition, mirror) ?? Promise.resolve())
  }

  startAt(offset: number): Promise<MirrorLogState> {
    return conflicts(this.#current().mirror.startAt(offset))
  }

  raiseLogStart(offset: number): Promise<MirrorLogState> {
    return conflicts(this.#current().mirror.raiseLogStart(offset))
  }

  async truncateTo(offset: number): Promise<MirrorLogState> {
    const { partition } = this.#current()
    if (this.#reclaim && partition.cutNeedsNewEpoch(offset)) await this.#reclaim.beginEpoch(partition)
    return await conflicts(this.#current().mirror.truncateTo(offset))
  }

  openTransactions(): readonly OpenTransaction[] {
    return this.#current().mirror.openTransactions()
  }

  abortOpenTransactions(): Promise<readonly OpenTransaction[]> {
    return conflicts(this.#current().mirror.abortOpenTransactions())
  }

  lastBatch(): Promise<{ baseOffset: number; lastOffset: number; crc: number } | undefined> {
    return this.#current().partition.log.lastBatch()
  }

  async readBatches({ offset, maxBytes }: { offset: number; maxBytes: number }): Promise<Buffer> {
    const { log, name } = this.#current().partition
    const result = await log.read({ offset, maxBytes, maxOffset: log.logEndOffset, minOneBatch: true })
    if (result.kind === 'batches') return result.records
    throw new RangeError(`${name} holds offsets ${result.logStartOffset} to ${result.logEndOffset - 1}, not ${offset}`)
  }

  async compactedTo(): Promise<number> {
    const { log, settings } = this.#current().partition
    const { cleanedOffset } = log.cleaning
    // What others compacted was replicated as it was left.
    const mayBeThinned = this.#reclaim !== undefined && settings.compacts
    return mayBeThinned && (await isThinned(this)) ? log.logEndOffset : cleanedOffset
  }

  producerIdMax(): bigint {
    return this.#current().partition.log.maxProducerId
  }

  producerIds(): readonly bigint[] {
    return Array.from(this.#current().partition.log.producers(), ({ producerId }) => producerId)
  }

  retentionBytesAtRisk(limits: RetentionLimits): Promise<number> {
    const { log, highWatermark } = this.#current().partition
    return log.cleaning.condemnedBytes(highWatermark, { nowMs: this.#replicas.clock.nowMs(), limits })
  }

  flush(): Promise<void> {
    return this.#current().mirror.flush()
  }

  /** A log that failed is opened again as another partition object; until then the old one says why it is out of service. */
  #current(): { readonly partition: Partition; readonly mirror: MirrorPartition } {
    if (this.#partition.unavailable) {
      const partition = this.#lookup()
      if (partition) {
        this.#partition = partition
        this.#mirror = new MirrorPartition(partition, this.#replicas)
      }
    }
    return { partition: this.#partition, mirror: this.#mirror }
  }

  #lookup(): Partition | undefined {
    try {
      return this.#replicas.lookup(this.#partition.topicId, this.#partition.index)
    } catch (error) {
      if (error instanceof PartitionUnavailable) return undefined
      throw error
    }
  }
}

/** Somebody else moved the log, or leads it now. */
async function conflicts<T>(operation: Promise<T>): Promise<T> {
  try {
    return await operation
  } catch (error) {
    const lost = error instanceof PartitionUnavailable || isAppendConflict(error)
    throw lost ? new MirrorLogConflict(error.message) : error
  }
}
