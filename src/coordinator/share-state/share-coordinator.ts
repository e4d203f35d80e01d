/**
 * The share coordinator: keeps the state of share partitions in `__share_group_state` as Kafka's does. Its handlers (83–87) and
 * LocalSharePersister call it; the composition root subscribes `partitions` behind the replicas, then the coordinator itself.
 */
import type { Clock } from '../../core/clock.ts'
import type { Logger } from '../../core/logger.ts'
import type { Controller, ImageSubscriber } from '../../metadata/controller-port.ts'
import type { MetadataDelta } from '../../metadata/metadata-delta.ts'
import { type MetadataImage, partitionOf } from '../../metadata/metadata-image.ts'
import type { Compression } from '../../protocol/batches/batch-header.ts'
import { ErrorCode } from '../../protocol/errors.ts'
import type { ReplicaSet } from '../../replica/replica-set.ts'
import { CoordinatorError } from '../runtime/coordinator-error.ts'
import type { InternalTopic } from '../runtime/internal-topics.ts'
import { type Loaded, StatePartitions } from '../runtime/state-partitions.ts'
import {
  type ShareKey,
  type SharePartitionState,
  type SharePartitionSummary,
  type SharePersister,
  type ShareWrite,
  shareKeyName,
  UNKNOWN,
  UNKNOWN_START_OFFSET,
} from './share-persister.ts'
import { decodeShareRecord, encodeShareRecord, type ShareRecord } from './share-records.ts'
import { type ShareEntry, ShareShard } from './share-shard.ts'
import type { ShareStateSettings } from './share-state-settings.ts'
import { ShareStateUpkeep } from './share-state-upkeep.ts'
import { combineBatches } from './state-batches.ts'

export interface ShareCoordinatorOptions {
  readonly brokerId: number
  readonly topic: InternalTopic
  readonly settings: ShareStateSettings
  readonly compression: Compression
  readonly controller: Pick<Controller, 'image' | 'createTopics'>
  readonly replicas: Pick<ReplicaSet, 'lookup' | 'storageFailed'>
  readonly clock: Clock
  readonly logger: Logger
}

/** Epochs of a state that was never initialised. */
const NO_EPOCH = 0

export class ShareCoordinator implements SharePersister, ImageSubscriber {
  readonly name = 'share coordinator'
  readonly partitions: StatePartitions<ShareShard>
  readonly #options: ShareCoordinatorOptions
  readonly #upkeep: ShareStateUpkeep
  #writes = 0

  constructor(options: ShareCoordinatorOptions) {
    this.#options = options
    const { topic, settings } = options
    this.partitions = new StatePartitions<ShareShard>({
      ...options,
      definition: topic,
      createState: () => new ShareShard(settings.updatesPerSnapshot),
      replay: (shard, bytes, batch) => {
        const record = decodeShareRecord(bytes)
        if (!record) return
        shard.apply(record)
        shard.placed(record, batch.baseOffset)
      },
      loaded: loaded => this.#upkeep.forgetDeletedTopics(loaded, options.controller.image),
    })
    this.#upkeep = new ShareStateUpkeep({
      ...options,
      partitions: this.partitions,
      write: (loaded, records) => this.#write(loaded, records),
    })
  }

  /** Share partitions whose state is served here, and records written since the start. */
  get figures(): { readonly states: number; readonly writes: number } {
    const states = this.partitions.served.reduce((sum, { state }) => sum + state.size, 0)
    return { states, writes: this.#writes }
  }

  async initialize(key: ShareKey, to: { readonly stateEpoch: number; readonly startOffset: number }): Promise<void> {
    checkPartition(key)
    const { loaded, entry } = this.#find(key)
    if (entry && to.stateEpoch !== UNKNOWN && entry.state.stateEpoch > to.stateEpoch)
      throw new CoordinatorError(ErrorCode.FENCED_STATE_EPOCH)
    this.#checkExists(key)
    const nowMs = this.#options.clock.nowMs()
    const value = {
      snapshotEpoch: entry ? entry.state.snapshotEpoch + 1 : 0,
      stateEpoch: to.stateEpoch,
      leaderEpoch: NO_EPOCH,
      startOffset: to.startOffset,
      deliveryCompleteCount: to.startOffset === UNKNOWN_START_OFFSET ? UNKNOWN : 0,
      createdMs: nowMs,
      writtenMs: nowMs,
      batches: [],
    }
    await this.#write(loaded, [{ kind: 'snapshot', key, value }])
  }

  async read(key: ShareKey, leaderEpoch: number): Promise<SharePartitionState> {
    checkPartition(key)
    const { loaded, entry } = this.#find(key)
    if (!entry) throw new CoordinatorError(ErrorCode.INVALID_REQUEST, 'share partition was not initialized')
    checkLeaderEpoch(entry, leaderEpoch)
    this.#checkExists(key)
    const { stateEpoch, startOffset, deliveryCompleteCount, batches } = entry.state
    if (leaderEpoch !== UNKNOWN && leaderEpoch !== entry.state.leaderEpoch) {
      const change = { stateEpoch, leaderEpoch, startOffset, deliveryCompleteCount, batches: [] }
      await this.#write(loaded, [this.#changeRecord(entry, change, leaderEpoch)])
    }
    // An answer must not tell what a crash could take back.
    await loaded.state.settled
    return { stateEpoch, startOffset, batches }
  }

  async write(key: ShareKey, change: ShareWrite): Promise<void> {
    checkPartition(key)
    const { loaded, entry } = this.#find(key)
    if (!entry) throw new CoordinatorError(ErrorCode.INVALID_REQUEST, 'share partition was not initialized')
    checkLeaderEpoch(entry, change.leaderEpoch)
    if (change.stateEpoch !== UNKNOWN && entry.state.stateEpoch > change.stateEpoch)
      throw new CoordinatorError(ErrorCode.FENCED_STATE_EPOCH)
    this.#checkExists(key)
    await this.#write(loaded, [this.#changeRecord(entry, change, entry.state.leaderEpoch)])
  }

  async delete(key: ShareKey): Promise<void> {
    checkPartition(key)
    const { loaded, entry } = this.#find(key)
    this.#checkExists(key)
    if (entry) await this.#write(loaded, [{ kind: 'tombstone', key }])
  }

  async readSummary(key: ShareKey): Promise<SharePartitionSummary> {
    checkPartition(key)
    const { loaded, entry } = this.#find(key)
    this.#checkExists(key)
    const { stateEpoch, leaderEpoch, startOffset, deliveryCompleteCount } = entry?.state ?? {
      stateEpoch: NO_EPOCH,
      leaderEpoch: NO_EPOCH,
      startOffset: UNKNOWN_START_OFFSET,
      deliveryCompleteCount: UNKNOWN,
    }
    await loaded.state.settled
    return { stateEpoch, leaderEpoch, startOffset, deliveryCompleteCount }
  }

  /** Drops the state of deleted topics. */
  onImage(image: MetadataImage, delta: MetadataDelta): void {
    if (delta.deletedTopics.size === 0) return
    for (const loaded of this.partitions.served) this.#upkeep.forgetDeletedTopics(loaded, image)
  }

  async close(): Promise<void> {
    this.#upkeep.close()
    await this.partitions.close()
  }

  #find(key: ShareKey): { readonly loaded: Loaded<ShareShard>; readonly entry: ShareEntry | undefined } {
    const loaded = this.partitions.state(shareKeyName(key))
    return { loaded, entry: loaded.state.entry(key) }
  }

  #checkExists({ topicId, partition }: ShareKey): void {
    if (!partitionOf(this.#options.controller.image, topicId, partition))
      throw new CoordinatorError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
  }

  /** An update, or where there were enough of them a snapshot. */
  #changeRecord({ key, state, updates }: ShareEntry, change: ShareWrite, leaderEpoch: number): ShareRecord {
    const { deliveryCompleteCount } = change
    if ((updates ?? 0) < this.#options.settings.updatesPerSnapshot) {
      const { startOffset } = change
      const batches = combineBatches([], change.batches, startOffset)
      const { snapshotEpoch } = state
      return {
        kind: 'update',
        key,
        value: { snapshotEpoch, leaderEpoch, startOffset, deliveryCompleteCount, batches },
      }
    }
    const startOffset = change.startOffset === UNKNOWN_START_OFFSET ? state.startOffset : change.startOffset
    const nowMs = this.#options.clock.nowMs()
    const value = {
      snapshotEpoch: state.snapshotEpoch + 1,
      stateEpoch: state.stateEpoch,
      leaderEpoch,
      startOffset,
      deliveryCompleteCount,
      createdMs: nowMs,
      writtenMs: nowMs,
      batches: combineBatches(state.batches, change.batches, startOffset),
    }
    return { kind: 'snapshot', key, value }
  }

  /** Changes the state at once; resolves when that is durable. */
  #write(loaded: Loaded<ShareShard>, records: readonly ShareRecord[]): Promise<void> {
    const encoded = records.map(encodeShareRecord)
    const refusal = this.partitions.refusal(loaded, encoded)
    if (refusal) return Promise.reject(refusal)
    for (const record of records) loaded.state.apply(record)
    this.#writes += records.length
    const written = this.partitions.write(loaded, encoded, {
      appended: baseOffset => {
        for (const record of records) loaded.state.placed(record, baseOffset)
      },
    })
    loaded.state.settled = written
    written.catch(() => {})
    return written
  }
}

function checkPartition({ partition }: ShareKey): void {
  if (partition < 0) throw new CoordinatorError(ErrorCode.INVALID_REQUEST, 'the partition is negative')
}

function checkLeaderEpoch({ state }: ShareEntry, leaderEpoch: number): void {
  if (leaderEpoch !== UNKNOWN && state.leaderEpoch > leaderEpoch)
    throw new CoordinatorError(ErrorCode.FENCED_LEADER_EPOCH)
}
