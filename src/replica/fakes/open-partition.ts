/** A partition with a real log in a file system in memory, for tests of this folder. */
import { ManualClock } from '../../core/clock.ts'
import { silentLogger } from '../../core/logger.ts'
import { randomUuid } from '../../core/uuid.ts'
import { MemoryFileSystem } from '../../log/fakes/memory-file-system.ts'
import { PartitionLog } from '../../log/partition-log.ts'
import type { PartitionImage } from '../../metadata/metadata-image.ts'
import type { TopicSettings } from '../../metadata/topic-settings.ts'
import type { AppendContext } from '../append-from-client.ts'
import type { PartitionSource } from '../fetch-query.ts'
import type { LeaderContext } from '../leading/leader-context.ts'
import { Partition } from '../partition.ts'
import { PartitionUnavailable } from '../partition-unavailable.ts'
import type { Replica } from '../replica.ts'
import { defaultTopicSettings } from './topic-settings.ts'

export const assignmentOf = (change: Partial<PartitionImage> = {}): PartitionImage => ({
  replicas: [1],
  isr: [1],
  removingReplicas: [],
  addingReplicas: [],
  eligibleLeaderReplicas: [],
  lastKnownElr: [],
  leader: 1,
  leaderEpoch: 0,
  leaderRecoveryState: 0,
  partitionEpoch: 0,
  directories: [],
  ...change,
})

/** Stands in for ReplicaSet where one or a few partitions are enough. */
export class PartitionBench implements PartitionSource, AppendContext {
  readonly clock: ManualClock
  readonly fs = new MemoryFileSystem()
  readonly flushes: Partition[] = []
  readonly failures: unknown[] = []
  readonly #partitions: Partition[] = []

  constructor(clock = new ManualClock()) {
    this.clock = clock
  }

  async open(
    options: {
      topic?: string
      settings?: Partial<TopicSettings>
      assignment?: Partial<PartitionImage>
      context?: LeaderContext
    } = {},
  ): Promise<Partition> {
    const { topic = 'orders', context } = options
    const identity = { topic, topicId: randomUuid(), index: 0 }
    const settings = { ...defaultTopicSettings, ...options.settings }
    const log = await PartitionLog.open({
      directory: `/data/${topic}-0`,
      topic,
      partition: 0,
      topicId: identity.topicId,
      config: settings,
      fs: this.fs,
      clock: this.clock,
      logger: silentLogger,
      recover: true,
    })
    const assignment = assignmentOf(options.assignment)
    const partition = new Partition({
      identity,
      log,
      brokerId: 1,
      assignment,
      settings,
      ...(context ? { context } : {}),
    })
    await partition.lead(assignment)
    this.#partitions.push(partition)
    return partition
  }

  lookup(topicId: string, index: number): Partition {
    const found = this.#partitions.find(partition => partition.topicId === topicId && partition.index === index)
    if (!found) throw new PartitionUnavailable(3, 'unknown')
    found.assertAvailable()
    return found
  }

  lookupReplica(topicId: string, index: number): Partition {
    return this.lookup(topicId, index)
  }

  storageFailed(_partition: Replica, error: unknown): void {
    this.failures.push(error)
  }

  flushSoon(partition: Partition): void {
    this.flushes.push(partition)
  }

  async close(): Promise<void> {
    for (const partition of this.#partitions) {
      await partition.leave(new PartitionUnavailable(6, 'closed'))
      await partition.log.close()
    }
  }
}
