/** The share partitions that members use now, by group and partition; handlers ask it, the controller tells it of deleted topics. */
import type { Clock } from '../../core/clock.ts'
import type { Logger } from '../../core/logger.ts'
import type { Controller, ImageSubscriber } from '../../metadata/controller-port.ts'
import type { MetadataDelta } from '../../metadata/metadata-delta.ts'
import type { MetadataImage } from '../../metadata/metadata-image.ts'
import { ErrorCode } from '../../protocol/errors.ts'
import type { ReplicaSet } from '../../replica/replica-set.ts'
import { type ShareKey, type SharePersister, shareKeyName } from '../share-state/share-persister.ts'
import { sizeOf } from './in-flight.ts'
import { SharePartition } from './share-partition.ts'
import { type ShareGroupSettings, type ShareServerSettings, shareGroupSettings } from './share-settings.ts'

export interface SharePartitionsOptions {
  readonly controller: Pick<Controller, 'image'>
  readonly replicas: Pick<ReplicaSet, 'lookup'>
  readonly persister: SharePersister
  readonly settings: ShareServerSettings
  readonly clock: Clock
  readonly logger: Logger
}

export interface ShareFigures {
  /** Partitions that share groups read now, one for each group. */
  readonly partitions: number
  /** Records that members hold. */
  readonly acquired: number
  /** Since the start: records given to members, and what they said of them. */
  readonly delivered: number
  readonly acknowledged: number
}

export class SharePartitions implements ImageSubscriber {
  readonly name = 'share partitions'
  readonly settings: ShareServerSettings
  readonly #options: SharePartitionsOptions
  readonly #partitions = new Map<string, SharePartition>()
  /** The writes of those that were ended: who takes their place comes behind them. */
  readonly #ending = new Map<string, Promise<void>>()
  #delivered = 0
  #acknowledged = 0

  constructor(options: SharePartitionsOptions) {
    this.#options = options
    this.settings = options.settings
  }

  get figures(): ShareFigures {
    let acquired = 0
    for (const { inFlight } of this.#partitions.values())
      for (const run of inFlight.runs) if (run.state === 'acquired') acquired += sizeOf(run)
    return {
      partitions: this.#partitions.size,
      acquired,
      delivered: this.#delivered,
      acknowledged: this.#acknowledged,
    }
  }

  groupSettings(groupId: string): ShareGroupSettings {
    return shareGroupSettings(this.settings, this.#options.controller.image, groupId)
  }

  /** Loaded and of the present leader epoch. Rejects with PartitionUnavailable or CoordinatorError, the code to answer. */
  async open(key: ShareKey): Promise<SharePartition> {
    const name = shareKeyName(key)
    await this.#ending.get(name)
    const partition = this.#options.replicas.lookup(key.topicId, key.partition)
    const known = this.#partitions.get(name)
    if (known && (known.partition !== partition || known.leaderEpoch !== partition.leaderEpoch)) {
      known.end(ErrorCode.NOT_LEADER_OR_FOLLOWER)
      await this.#ending.get(name)
    }
    let found = this.#partitions.get(name)
    if (!found) {
      found = new SharePartition({
        ...this.#options,
        key,
        partition,
        settings: () => this.groupSettings(key.groupId),
        ended: self => this.#forget(name, self),
      })
      this.#partitions.set(name, found)
    }
    await found.load()
    return found
  }

  /** The one that is open; undefined: nobody holds anything of it. */
  opened(key: ShareKey): SharePartition | undefined {
    return this.#partitions.get(shareKeyName(key))
  }

  /** For the figures. */
  count({ delivered = 0, acknowledged = 0 }: { readonly delivered?: number; readonly acknowledged?: number }): void {
    this.#delivered += delivered
    this.#acknowledged += acknowledged
  }

  /** The member is gone: what it holds is free again. */
  releaseMember(groupId: string, memberId: string): void {
    for (const partition of this.#partitions.values())
      if (partition.key.groupId === groupId) partition.releaseAll(memberId)
  }

  /** Nobody of the group reads here any more: its state is read anew when somebody comes, since its offsets may be altered meanwhile. */
  closeGroup(groupId: string): void {
    for (const partition of [...this.#partitions.values()])
      if (partition.key.groupId === groupId) partition.end(ErrorCode.NOT_LEADER_OR_FOLLOWER)
  }

  onImage(_image: MetadataImage, { deletedTopics }: MetadataDelta): void {
    if (deletedTopics.size === 0) return
    for (const partition of [...this.#partitions.values()])
      if (deletedTopics.has(partition.key.topicId)) partition.end(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
  }

  /** Ends all; resolves when nothing is written any more. */
  async close(): Promise<void> {
    for (const partition of [...this.#partitions.values()]) partition.end(ErrorCode.NOT_LEADER_OR_FOLLOWER)
    await Promise.all(this.#ending.values())
  }

  #forget(name: string, partition: SharePartition): void {
    if (this.#partitions.get(name) !== partition) return
    this.#partitions.delete(name)
    const ending = partition.settled().then(() => {
      if (this.#ending.get(name) === ending) this.#ending.delete(name)
    })
    this.#ending.set(name, ending)
  }
}
