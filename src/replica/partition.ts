/**
 * One partition that this node leads: its log, leader epoch, in-sync replicas and high watermark. ReplicaSet owns it; appends,
 * fetches and the destination of links work on it.
 */
import assert from 'node:assert/strict'
import type { Clock } from '../core/clock.ts'
import { SerialQueue } from '../core/serial-queue.ts'
import type { Uuid } from '../core/uuid.ts'
import type { PartitionLog } from '../log/partition-log.ts'
import type { PartitionImage } from '../metadata/metadata-image.ts'
import type { TopicSettings } from '../metadata/topic-settings.ts'
import { ErrorCode } from '../protocol/errors.ts'
import { OffsetWaiters, type WaitResult } from './offset-waiters.ts'
import type { PartitionUnavailable } from './partition-unavailable.ts'
import { TransactionVerifications } from './transaction-verifications.ts'

export interface PartitionIdentity {
  readonly topic: string
  readonly topicId: Uuid
  readonly index: number
}

/** Called after anything that a fetch can see has changed: high watermark, log end, log start, epoch, availability. */
export type PartitionWatcher = () => void

export class Partition {
  readonly topic: string
  readonly topicId: Uuid
  readonly index: number
  readonly log: PartitionLog
  /** Writes of this partition one after the other, so that a check and the append that relies on it are one step. */
  readonly writes = new SerialQueue()
  /** Producers that are asking whether their records belong to an ongoing transaction. */
  readonly verifications = new TransactionVerifications()
  readonly #brokerId: number
  readonly #waiters = new OffsetWaiters()
  readonly #watchers = new Set<PartitionWatcher>()
  /** Log ends of the other replicas, learned from their fetches under the present leader epoch. */
  readonly #followerEnds = new Map<number, number>()
  #settings: TopicSettings
  #assignment: PartitionImage
  #highWatermark: number
  #appendedBytes = 0
  #gone: PartitionUnavailable | undefined
  #stopping = false

  constructor(options: {
    identity: PartitionIdentity
    log: PartitionLog
    brokerId: number
    assignment: PartitionImage
    settings: TopicSettings
    /** As last saved, for a partition whose followers have not fetched yet. */
    highWatermark?: number | undefined
  }) {
    this.topic = options.identity.topic
    this.topicId = options.identity.topicId
    this.index = options.identity.index
    this.log = options.log
    this.#brokerId = options.brokerId
    this.#assignment = options.assignment
    this.#settings = options.settings
    const { logStartOffset, logEndOffset } = options.log
    this.#highWatermark = Math.min(Math.max(options.highWatermark ?? 0, logStartOffset), logEndOffset)
    this.#advanceHighWatermark()
  }

  get name(): string {
    return `${this.topic}-${this.index}`
  }

  get leaderEpoch(): number {
    return this.#assignment.leaderEpoch
  }

  get isr(): readonly number[] {
    return this.#assignment.isr
  }

  get settings(): TopicSettings {
    return this.#settings
  }

  /** First offset that not every in-sync replica has: the smallest log end of the ISR. Falls only when the log is truncated. */
  get highWatermark(): number {
    return this.#highWatermark
  }

  /** First offset that a read_committed consumer may not see yet. */
  get lastStableOffset(): number {
    return this.log.lastStableOffset(this.#highWatermark)
  }

  /** Bytes appended since this node opened the partition; the difference of two values estimates what a fetch would get. */
  get appendedBytes(): number {
    return this.#appendedBytes
  }

  /** `min.insync.replicas`, never more than there are replicas. */
  get effectiveMinIsr(): number {
    return Math.min(this.#settings.minInsyncReplicas, this.#assignment.replicas.length)
  }

  /** Why the partition cannot be used; undefined while it can. */
  get unavailable(): PartitionUnavailable | undefined {
    return this.#gone
  }

  /** Throws PartitionUnavailable after `leave`. */
  assertAvailable(): void {
    if (this.#gone) throw this.#gone
  }

  /**
   * Kafka's check of the leader epoch that a client or follower believes in: 0 if it is the present one or -1 (not said),
   * FENCED_LEADER_EPOCH if older, UNKNOWN_LEADER_EPOCH if newer.
   */
  leaderEpochError(claimed: number): number {
    if (claimed === -1 || claimed === this.leaderEpoch) return ErrorCode.NONE
    return claimed < this.leaderEpoch ? ErrorCode.FENCED_LEADER_EPOCH : ErrorCode.UNKNOWN_LEADER_EPOCH
  }

  /** Follows the image: a new leader epoch starts at the log end, after every write queued before it. */
  async lead(assignment: PartitionImage): Promise<void> {
    await this.writes.run(async () => {
      assert(assignment.leader === this.#brokerId, `${this.name} is led by this node`)
      assert(assignment.leaderEpoch >= this.leaderEpoch, `leader epochs of ${this.name} do not decrease`)
      if ((this.log.latestEpoch ?? -1) < assignment.leaderEpoch)
        await this.log.assignEpochStart(assignment.leaderEpoch, this.log.logEndOffset)
      if (assignment.leaderEpoch !== this.leaderEpoch) this.#followerEnds.clear()
      this.#assignment = assignment
      this.#advanceHighWatermark()
      this.#changed()
    })
  }

  async applySettings(settings: TopicSettings): Promise<void> {
    this.#settings = settings
    await this.log.updateConfig(settings)
  }

  /** Remembers how far a follower has come. Its membership of the ISR is decided through the Controller port, not here. */
  followerFetched(replicaId: number, fetchOffset: number): void {
    if (!this.#assignment.replicas.includes(replicaId)) return
    this.#followerEnds.set(replicaId, fetchOffset)
    if (this.#advanceHighWatermark()) this.#changed()
  }

  /** To be called after every append, in the same turn as the log's answer. */
  appended(bytes: number): void {
    this.#appendedBytes += bytes
    this.#advanceHighWatermark()
    this.#changed()
  }

  /** To be called after the log start moved. */
  logStartMoved(): void {
    this.#highWatermark = Math.max(this.#highWatermark, this.log.logStartOffset)
    this.#changed()
  }

  /** To be called after the log was cut or began anew: the only thing that lowers the high watermark. */
  truncated(): void {
    this.#highWatermark = Math.min(this.#highWatermark, this.log.logEndOffset)
    this.#advanceHighWatermark()
    this.#changed()
  }

  /** Resolves once the high watermark is at least `offset`. */
  async reachHighWatermark(offset: number, until: { timeoutMs: number; clock: Clock }): Promise<WaitResult> {
    if (this.#gone) return 'gone'
    if (this.#highWatermark >= offset) return 'reached'
    return await this.#waiters.wait(offset, until)
  }

  /** Calls `watcher` after every change until the returned function is called. It must not throw. */
  watch(watcher: PartitionWatcher): () => void {
    this.#watchers.add(watcher)
    return () => this.#watchers.delete(watcher)
  }

  /** Whether fetches are answered with what there is instead of waiting for more: the node is about to stop. */
  get isStopping(): boolean {
    return this.#stopping
  }

  /** Ends the waits of fetches, and lets no new ones begin. */
  stopWaiting(): void {
    this.#stopping = true
    this.#changed()
  }

  /** Fetches waiting on this partition, and appends waiting for its high watermark. */
  get waiting(): number {
    return this.#watchers.size + this.#waiters.size
  }

  /** Ends the use of this partition: those who wait are released, later ones get `reason`. The log is closed by the owner. */
  async leave(reason: PartitionUnavailable): Promise<void> {
    this.#gone ??= reason
    this.#waiters.close()
    this.#changed()
    await this.writes.idle()
  }

  #advanceHighWatermark(): boolean {
    // Too few replicas make no promises: eligible leaders (KIP-966) rely on it.
    if (this.isr.length < this.effectiveMinIsr) return false
    let end = this.log.logEndOffset
    for (const replica of this.#assignment.isr)
      if (replica !== this.#brokerId) end = Math.min(end, this.#followerEnds.get(replica) ?? -1)
    if (end <= this.#highWatermark) return false
    this.#highWatermark = end
    this.#waiters.advance(end)
    return true
  }

  #changed(): void {
    for (const watcher of this.#watchers) watcher()
  }
}
