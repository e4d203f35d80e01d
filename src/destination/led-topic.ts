/** A partition of Lockstep's own topics that this node leads: replayed up to its durable end, appended to by compare-and-set. Used by the logs of such topics. */
import type { Clock } from '../core/clock.ts'
import { NotLinkCoordinator, type StateRecord } from '../link/ports.ts'
import { buildBatch } from '../protocol/batches/build-batch.ts'
import { isAppendConflict } from '../replica/log-failure.ts'
import type { Partition } from '../replica/partition.ts'
import { PartitionUnavailable } from '../replica/partition-unavailable.ts'
import type { ReplicaSet } from '../replica/replica-set.ts'
import type { ReplayedTopic } from './replayed-topic.ts'

/** Bytes read at a time while replaying. */
const readBytes = 1024 * 1024

/** How long an append waits for the in-sync replicas. */
const replicationTimeoutMs = 30_000

export interface LedTopicOptions {
  readonly replayed: ReplayedTopic
  readonly partition: Partition
  readonly replicas: Pick<ReplicaSet, 'lookup' | 'storageFailed'>
  readonly clock: Clock
}

/** Calls must not overlap. */
export class LedTopic {
  /** Under which it writes; another one ends it. */
  readonly leaderEpoch: number
  readonly #o: LedTopicOptions
  #partition: Partition

  constructor(options: LedTopicOptions) {
    this.#o = options
    this.#partition = options.partition
    this.leaderEpoch = options.partition.leaderEpoch
  }

  /** Gives out what is durable and was not given out yet; resolves to whether there was any. */
  replay(): Promise<boolean> {
    return this.#replay(this.#leading())
  }

  /**
   * One batch, directly behind what was replayed. Rejects with NotLinkCoordinator where there is more than that, or somebody else
   * leads: it has to be decided again.
   */
  async append(records: readonly StateRecord[]): Promise<void> {
    const partition = this.#leading()
    // What an append left behind whose outcome was not known then comes first; these records were decided without it.
    if (await this.#replay(partition))
      throw new NotLinkCoordinator(`${partition.name} had records that were not replayed yet: decide again`)
    await this.#appendBatch(partition, records)
    await this.#replay(partition)
  }

  /** The partition, if it is still led under the epoch in which it was opened. */
  #leading(): Partition {
    this.#partition = this.#served(this.#partition)
    if (this.#partition.leaderEpoch !== this.leaderEpoch)
      throw new NotLinkCoordinator(`leader epoch ${this.leaderEpoch} of ${this.#partition.name} is over`)
    return this.#partition
  }

  /** A log that failed is opened again as another partition object. */
  #served(partition: Partition): Partition {
    if (!partition.unavailable) return partition
    try {
      return this.#o.replicas.lookup(partition.topicId, partition.index)
    } catch (error) {
      throw error instanceof PartitionUnavailable ? new NotLinkCoordinator(error.message) : error
    }
  }

  /** Compare-and-set on the log end under the leader epoch. */
  async #appendBatch(partition: Partition, records: readonly StateRecord[]): Promise<void> {
    const { leaderEpoch } = this
    const baseOffset = this.#o.replayed.offset
    const timestamp = BigInt(this.#o.clock.nowMs())
    const batch = buildBatch({
      baseOffset,
      leaderEpoch,
      records: records.map(({ key, value }, offsetDelta) => ({ offsetDelta, timestamp, key, value })),
    })
    try {
      await partition.writes.run(async () => {
        partition.assertAvailable()
        if (partition.leaderEpoch !== leaderEpoch)
          throw new NotLinkCoordinator(`leader epoch ${leaderEpoch} of ${partition.name} is over`)
        await partition.log.appendMirror(batch, { leaderEpoch, expectedEndOffset: baseOffset })
        partition.appended(batch.length)
      })
    } catch (error) {
      if (error instanceof NotLinkCoordinator) throw error
      if (error instanceof PartitionUnavailable || isAppendConflict(error)) throw new NotLinkCoordinator(error.message)
      this.#o.replicas.storageFailed(partition, error)
      throw error
    }
  }

  async #replay(partition: Partition): Promise<boolean> {
    const { replayed } = this.#o
    const { log } = partition
    const begin = Math.max(replayed.offset, log.logStartOffset)
    const end = log.logEndOffset
    if (end < replayed.offset)
      throw new Error(`${partition.name} ends at ${end}: durable records up to ${replayed.offset} are lost`)
    await this.#makeDurable(partition, end)
    let offset = begin
    while (offset < end) {
      const result = await log.read({ offset, maxBytes: readBytes, maxOffset: end, minOneBatch: true })
      // Passing over anything could make a mirror writable.
      if (result.kind !== 'batches' || result.nextOffset <= offset)
        throw new Error(`${partition.name} cannot be read at offset ${offset}`)
      replayed.deliver(result.records)
      offset = result.nextOffset
    }
    // A log whose end is compacted away ends in a hole.
    replayed.skipTo(end)
    return end > begin
  }

  /** On disk, and on all in-sync replicas, which are as many as `min.insync.replicas` says. */
  async #makeDurable(partition: Partition, end: number): Promise<void> {
    const { clock, replicas } = this.#o
    try {
      await partition.log.flush()
    } catch (error) {
      replicas.storageFailed(partition, error)
      throw error
    }
    const reached = await partition.reachHighWatermark(end, { timeoutMs: replicationTimeoutMs, clock })
    if (reached !== 'reached') throw new Error(`${partition.name} is not replicated up to offset ${end}: ${reached}`)
  }
}
