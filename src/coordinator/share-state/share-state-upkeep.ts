/** What the share coordinator does from time to time: writes idle partitions anew, deletes what is redundant, forgets deleted topics. It owns one. */
import type { Clock, Timer } from '../../core/clock.ts'
import { messageOf } from '../../core/errors.ts'
import type { Logger } from '../../core/logger.ts'
import type { Controller } from '../../metadata/controller-port.ts'
import { type MetadataImage, topicByName } from '../../metadata/metadata-image.ts'
import { deleteRecordsBefore } from '../../replica/delete-records.ts'
import type { ReplicaSet } from '../../replica/replica-set.ts'
import type { Loaded, StatePartitions } from '../runtime/state-partitions.ts'
import type { ShareRecord } from './share-records.ts'
import type { ShareShard } from './share-shard.ts'
import type { ShareStateSettings } from './share-state-settings.ts'

export interface UpkeepContext {
  readonly partitions: StatePartitions<ShareShard>
  readonly settings: Pick<ShareStateSettings, 'pruneMs' | 'coldSnapshotMs'>
  readonly controller: Pick<Controller, 'image'>
  readonly replicas: Pick<ReplicaSet, 'lookup'>
  write(loaded: Loaded<ShareShard>, records: readonly ShareRecord[]): Promise<void>
  readonly clock: Clock
  readonly logger: Logger
}

/** Records of one write: well below what a batch may hold, whatever the groups are called and however they stand. */
const TOMBSTONES_PER_WRITE = 100

export class ShareStateUpkeep {
  readonly #context: UpkeepContext
  readonly #timers = new Map<string, Timer>()
  #closed = false

  constructor(context: UpkeepContext) {
    this.#context = context
    const { pruneMs, coldSnapshotMs } = context.settings
    this.#repeat('prune', pruneMs, () => this.#prune())
    this.#repeat('cold snapshots', coldSnapshotMs, () => this.#snapshotCold())
  }

  close(): void {
    this.#closed = true
    for (const timer of this.#timers.values()) timer.cancel()
  }

  /** In the background; what fails is done again when the state is loaded again. */
  forgetDeletedTopics(loaded: Loaded<ShareShard>, { topics }: Pick<MetadataImage, 'topics'>): void {
    const keys = loaded.state.keysOutside(topicId => topics.has(topicId))
    for (let at = 0; at < keys.length; at += TOMBSTONES_PER_WRITE) {
      const tombstones = keys.slice(at, at + TOMBSTONES_PER_WRITE).map(key => ({ kind: 'tombstone' as const, key }))
      this.#context.write(loaded, tombstones).catch((error: unknown) => this.#warn('forget deleted topics', error))
    }
  }

  /** The next time is counted from the end of the work. */
  #repeat(name: string, everyMs: number, work: () => Promise<void>): void {
    if (this.#closed) return
    const run = () =>
      work()
        .catch((error: unknown) => this.#warn(name, error))
        .then(() => this.#repeat(name, everyMs, work))
    this.#timers.set(
      name,
      this.#context.clock.after(everyMs, () => void run()),
    )
  }

  async #prune(): Promise<void> {
    const { partitions, controller, replicas } = this.#context
    const topic = topicByName(controller.image, partitions.topic)
    if (!topic) return
    for (const loaded of partitions.served) {
      const partition = replicas.lookup(topic.id, loaded.partition)
      const offset = Math.min(loaded.state.redundant.below, partition.highWatermark)
      if (loaded.current && offset > partition.log.logStartOffset)
        await deleteRecordsBefore(partition, offset, () => undefined)
    }
  }

  async #snapshotCold(): Promise<void> {
    const { partitions, clock, settings } = this.#context
    const nowMs = clock.nowMs()
    for (const loaded of partitions.served) {
      const entries = [...loaded.state.entries]
      // Nobody has written since the last time: what is below is gone already.
      if (entries.every(({ state }) => state.createdMs !== state.writtenMs)) continue
      for (const { key, state } of entries) {
        if (!loaded.current || nowMs - state.writtenMs < settings.coldSnapshotMs) continue
        const value = { ...state, snapshotEpoch: state.snapshotEpoch + 1, writtenMs: nowMs }
        await this.#context.write(loaded, [{ kind: 'snapshot', key, value }])
      }
    }
  }

  #warn(work: string, error: unknown): void {
    this.#context.logger.warn('the upkeep of share state failed', { work, error: messageOf(error) })
  }
}
