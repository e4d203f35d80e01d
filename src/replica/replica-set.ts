/**
 * All partitions that this node leads. Follows the metadata image: opens, creates, reconfigures and deletes logs, and starts
 * leader epochs. The handlers and the destination of links find their partitions here.
 */
import assert from 'node:assert/strict'
import type { Clock } from '../core/clock.ts'
import { messageOf } from '../core/errors.ts'
import type { Logger } from '../core/logger.ts'
import type { Uuid } from '../core/uuid.ts'
import type { LogConfig } from '../log/log-config.ts'
import type { PartitionLog } from '../log/partition-log.ts'
import { configLayers } from '../metadata/config-resolution.ts'
import type { ImageSubscriber } from '../metadata/controller-port.ts'
import type { MetadataDelta, TopicDelta } from '../metadata/metadata-delta.ts'
import { ConfigResourceType, type MetadataImage, type TopicImage, topicByName } from '../metadata/metadata-image.ts'
import { type TopicSettings, topicSettings } from '../metadata/topic-settings.ts'
import { ErrorCode } from '../protocol/errors.ts'
import type { AppendContext } from './append-from-client.ts'
import { BackgroundFlush } from './background-flush.ts'
import { forEachBounded } from './bounded-work.ts'
import type { PartitionSource } from './fetch-query.ts'
import { Partition, type PartitionIdentity } from './partition.ts'
import { PartitionUnavailable } from './partition-unavailable.ts'

/** Where partition logs come from; `LogStore` of log/, adapted by the composition root. */
export interface PartitionLogs {
  /** Opens the log, creating it if there is none. */
  open(identity: PartitionIdentity, config: LogConfig): Promise<PartitionLog>
  /** Closes the log and removes its files, now or in the background. */
  remove(log: PartitionLog): Promise<void>
}

export interface ReplicaSetOptions {
  readonly brokerId: number
  readonly logs: PartitionLogs
  /** The server's properties file: defaults of topic configs come from it. */
  readonly file: ReadonlyMap<string, string>
  /** Time between two background flushes of mirrored (or unacknowledged) data. */
  readonly flushIntervalMs?: number
  readonly clock: Clock
  readonly logger: Logger
}

/** Logs opened or deleted at the same time. */
const PARALLEL_LOGS = 16
const FLUSH_INTERVAL_MS = 1000

export class ReplicaSet implements ImageSubscriber, PartitionSource, AppendContext {
  readonly name = 'replica'
  readonly clock: Clock
  readonly #options: ReplicaSetOptions
  readonly #logger: Logger
  readonly #partitions = new Map<string, Partition>()
  /** Logs that could not be opened, with what to answer. */
  readonly #offline = new Map<string, PartitionUnavailable>()
  readonly #flush: BackgroundFlush
  #image: MetadataImage | undefined
  #closed = false

  constructor(options: ReplicaSetOptions) {
    this.#options = options
    this.clock = options.clock
    this.#logger = options.logger.child({ component: 'replica' })
    this.#flush = new BackgroundFlush({
      intervalMs: options.flushIntervalMs ?? FLUSH_INTERVAL_MS,
      clock: options.clock,
      failed: (partition, error) => this.storageFailed(partition, error),
    })
  }

  /** Every partition led here. */
  get partitions(): Iterable<Partition> {
    return this.#partitions.values()
  }

  /**
   * The partition that this node leads. Throws PartitionUnavailable: UNKNOWN_TOPIC_OR_PARTITION, NOT_LEADER_OR_FOLLOWER, or
   * KAFKA_STORAGE_ERROR where the log could not be opened.
   */
  lookup(topicId: Uuid, index: number): Partition {
    const key = keyOf(topicId, index)
    const partition = this.#partitions.get(key)
    if (partition) {
      partition.assertAvailable()
      return partition
    }
    const offline = this.#offline.get(key)
    if (offline) throw offline
    const known = this.#image?.topics.get(topicId)?.partitions[index] !== undefined
    throw known
      ? new PartitionUnavailable(ErrorCode.NOT_LEADER_OR_FOLLOWER, `partition ${index} is not led by this node`)
      : new PartitionUnavailable(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, `there is no such partition ${index}`)
  }

  /** Like `lookup`, by the topic's name. */
  lookupByName(topic: string, index: number): Partition {
    const found = this.#image && topicByName(this.#image, topic)
    if (!found) throw new PartitionUnavailable(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, `there is no topic ${topic}`)
    return this.lookup(found.id, index)
  }

  flushSoon(partition: Partition): void {
    this.#flush.add(partition)
  }

  storageFailed(partition: Partition, error: unknown): void {
    this.#logger.error('the log of a partition failed', { partition: partition.name, error: messageOf(error) })
  }

  async onImage(image: MetadataImage, delta: MetadataDelta): Promise<void> {
    assert(!this.#closed, 'no image after close')
    this.#image = image
    await forEachBounded(delta.deletedTopics.values(), PARALLEL_LOGS, topic => this.#removeTopic(topic))
    const changed = [...delta.changedTopics.values()].flatMap(topic =>
      topic.partitions.map(index => ({ topic, index })),
    )
    await forEachBounded(changed, PARALLEL_LOGS, ({ topic, index }) => this.#applyPartition(topic, index))
    await this.#applyConfigs(image, delta)
  }

  /** Refuses later use, releases those who wait, flushes and closes every log. */
  async close(): Promise<void> {
    this.#closed = true
    this.#flush.close()
    const reason = new PartitionUnavailable(ErrorCode.NOT_LEADER_OR_FOLLOWER, 'this node is shutting down')
    await forEachBounded(this.#partitions.values(), PARALLEL_LOGS, async partition => {
      await partition.leave(reason)
      try {
        await partition.log.close()
      } catch (error) {
        this.storageFailed(partition, error)
      }
    })
    this.#partitions.clear()
  }

  async #applyPartition({ after: topic }: TopicDelta, index: number): Promise<void> {
    const assignment = topic.partitions[index]
    assert(assignment, `the delta names partition ${topic.name}-${index}, which the image lacks`)
    const key = keyOf(topic.id, index)
    const present = this.#partitions.get(key)
    const leads = assignment.leader === this.#options.brokerId
    try {
      if (!leads) return present && (await this.#stopLeading(key, present))
      const partition = present ?? (await this.#open(topic, index))
      await partition.lead(assignment)
      this.#partitions.set(key, partition)
      this.#offline.delete(key)
    } catch (error) {
      const message = `the log of ${topic.name}-${index} cannot be opened: ${messageOf(error)}`
      this.#offline.set(key, new PartitionUnavailable(ErrorCode.KAFKA_STORAGE_ERROR, message))
      this.#logger.error('a partition is offline', { partition: `${topic.name}-${index}`, error: messageOf(error) })
    }
  }

  async #open(topic: TopicImage, index: number): Promise<Partition> {
    const identity = { topic: topic.name, topicId: topic.id, index }
    const assignment = topic.partitions[index]
    assert(assignment)
    const settings = this.#settingsOf(topic.name)
    const log = await this.#options.logs.open(identity, settings)
    return new Partition({ identity, log, brokerId: this.#options.brokerId, assignment, settings })
  }

  async #stopLeading(key: string, partition: Partition): Promise<void> {
    this.#partitions.delete(key)
    await partition.leave(
      new PartitionUnavailable(ErrorCode.NOT_LEADER_OR_FOLLOWER, `${partition.name} is led elsewhere`),
    )
    await partition.log.close()
  }

  async #removeTopic(topic: TopicImage): Promise<void> {
    for (const index of topic.partitions.keys()) {
      const key = keyOf(topic.id, index)
      this.#offline.delete(key)
      const partition = this.#partitions.get(key)
      if (!partition) continue
      this.#partitions.delete(key)
      const gone = new PartitionUnavailable(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, `${partition.name} was deleted`)
      await partition.leave(gone)
      try {
        await this.#options.logs.remove(partition.log)
      } catch (error) {
        this.storageFailed(partition, error)
      }
    }
  }

  async #applyConfigs(image: MetadataImage, delta: MetadataDelta): Promise<void> {
    const everyTopic = delta.changedConfigs.some(resource => resource.type === ConfigResourceType.BROKER)
    const named = delta.changedConfigs.filter(resource => resource.type === ConfigResourceType.TOPIC)
    const topics = everyTopic ? image.topics.values() : named.flatMap(({ name }) => topicByName(image, name) ?? [])
    for (const topic of topics) {
      const settings = this.#settingsOf(topic.name)
      for (const index of topic.partitions.keys()) {
        const partition = this.#partitions.get(keyOf(topic.id, index))
        await partition?.applySettings(settings)
      }
    }
  }

  #settingsOf(topic: string): TopicSettings {
    assert(this.#image)
    const { brokerId, file } = this.#options
    return topicSettings(configLayers(this.#image, { brokerId, file, topic }))
  }
}

const keyOf = (topicId: Uuid, index: number): string => `${topicId}:${index}`
