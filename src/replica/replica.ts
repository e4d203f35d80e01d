/** One replica of a partition on this node, whether led or followed: its log, high watermark, and who waits for a change. Partition and FollowedPartition are made of it. */
import type { Clock } from '../core/clock.ts'
import { SerialQueue } from '../core/serial-queue.ts'
import type { Uuid } from '../core/uuid.ts'
import type { PartitionLog } from '../log/partition-log.ts'
import type { PartitionImage } from '../metadata/metadata-image.ts'
import type { TopicSettings } from '../metadata/topic-settings.ts'
import { ErrorCode } from '../protocol/errors.ts'
import { OffsetWaiters, type WaitResult } from './offset-waiters.ts'
import type { PartitionUnavailable } from './partition-unavailable.ts'

export interface PartitionIdentity {
  readonly topic: string
  readonly topicId: Uuid
  readonly index: number
}

/** What a replica is opened with. */
export interface ReplicaOptions {
  readonly identity: PartitionIdentity
  readonly log: PartitionLog
  readonly brokerId: number
  readonly assignment: PartitionImage
  readonly settings: TopicSettings
  /** As last known here. */
  readonly highWatermark?: number | undefined
}

/** Called after anything that a fetch can see has changed: high watermark, log end, log start, epoch, availability. */
export type PartitionWatcher = () => void

export abstract class Replica {
  readonly topic: string
  readonly topicId: Uuid
  readonly index: number
  readonly log: PartitionLog
  /** Writes of this partition one after the other, so that a check and the append that relies on it are one step. */
  readonly writes = new SerialQueue()
  protected readonly brokerId: number
  readonly #waiters = new OffsetWaiters()
  readonly #watchers = new Set<PartitionWatcher>()
  #settings: TopicSettings
  #assignment: PartitionImage
  #highWatermark: number
  #appendedBytes = 0
  #gone: PartitionUnavailable | undefined
  #stopping = false

  constructor(options: ReplicaOptions) {
    this.topic = options.identity.topic
    this.topicId = options.identity.topicId
    this.index = options.identity.index
    this.log = options.log
    this.brokerId = options.brokerId
    this.#assignment = options.assignment
    this.#settings = options.settings
    this.#highWatermark = this.#withinLog(options.highWatermark ?? 0)
  }

  get name(): string {
    return `${this.topic}-${this.index}`
  }

  get leaderEpoch(): number {
    return this.#assignment.leaderEpoch
  }

  /** As the image has it. */
  get assignment(): PartitionImage {
    return this.#assignment
  }

  get settings(): TopicSettings {
    return this.#settings
  }

  /** First offset that is not known to be on every in-sync replica. Falls only when the log is truncated; never below the log start. */
  get highWatermark(): number {
    return this.#highWatermark
  }

  /** First offset that a read_committed consumer may not see yet. */
  get lastStableOffset(): number {
    return this.log.lastStableOffset(this.#highWatermark)
  }

  /** Bytes appended since this replica was made; the difference of two values estimates what a fetch would get. */
  get appendedBytes(): number {
    return this.#appendedBytes
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

  async applySettings(settings: TopicSettings): Promise<void> {
    this.#settings = settings
    await this.log.updateConfig(settings)
  }

  /** To be called after the log start moved. */
  logStartMoved(): void {
    this.#highWatermark = Math.max(this.#highWatermark, this.log.logStartOffset)
    this.changed()
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
    this.changed()
  }

  /** Fetches waiting on this partition, and appends waiting for its high watermark. */
  get waiting(): number {
    return this.#watchers.size + this.#waiters.size
  }

  /** Ends the use of this replica: those who wait are released, later ones get `reason`. The log is closed by the owner. */
  async leave(reason: PartitionUnavailable): Promise<void> {
    this.#gone ??= reason
    this.#waiters.close()
    this.changed()
    await this.writes.idle()
  }

  protected set assignment(assignment: PartitionImage) {
    this.#assignment = assignment
  }

  protected countAppended(bytes: number): void {
    this.#appendedBytes += bytes
  }

  /** Never moves it down; whether it moved. */
  protected raiseHighWatermark(offset: number): boolean {
    if (offset <= this.#highWatermark) return false
    this.#highWatermark = offset
    this.#waiters.advance(offset)
    return true
  }

  /** After the log was cut: not above its end. Never below its start, where nothing is: followers fail for good if they are told such a start. */
  protected clampHighWatermark(): void {
    this.#highWatermark = this.#withinLog(this.#highWatermark)
  }

  protected changed(): void {
    for (const watcher of this.#watchers) watcher()
  }

  #withinLog(offset: number): number {
    return Math.max(this.log.logStartOffset, Math.min(offset, this.log.logEndOffset))
  }
}
