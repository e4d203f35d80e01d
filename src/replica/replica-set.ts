/**
 * All partitions that this node leads. Follows the metadata image: opens, creates, reconfigures and deletes logs, and starts
 * leader epochs. The handlers and the destination of links find their partitions here.
 */
import assert from 'node:assert/strict'
import { forEachBounded } from '../core/bounded-work.ts'
import type { Clock, Timer } from '../core/clock.ts'
import { messageOf } from '../core/errors.ts'
import type { Logger } from '../core/logger.ts'
import type { Uuid } from '../core/uuid.ts'
import { LogError } from '../log/log-error.ts'
import type { LogStore } from '../log/log-store.ts'
import { configLayers } from '../metadata/config-resolution.ts'
import type { ImageSubscriber } from '../metadata/controller-port.ts'
import type { MetadataDelta, TopicDelta } from '../metadata/metadata-delta.ts'
import { ConfigResourceType, type MetadataImage, type TopicImage, topicByName } from '../metadata/metadata-image.ts'
import { type TopicSettings, topicSettings } from '../metadata/topic-settings.ts'
import { ErrorCode } from '../protocol/errors.ts'
import type { AppendContext } from './append-from-client.ts'
import { BackgroundFlush } from './background-flush.ts'
import type { PartitionSource } from './fetch-query.ts'
import { Partition } from './partition.ts'
import { PartitionUnavailable } from './partition-unavailable.ts'
import { Reopening } from './reopening.ts'

/** Where partition logs come from. */
export type PartitionLogs = Pick<
  LogStore,
  'openLog' | 'reopenLog' | 'deleteLog' | 'savedHighWatermark' | 'noteHighWatermark'
>

export interface ReplicaSetOptions {
  readonly brokerId: number
  /** Closed by its owner, after this. */
  readonly logs: PartitionLogs
  /** The server's properties file: defaults of topic configs come from it. */
  readonly file: ReadonlyMap<string, string>
  /** Topics whose logs stay offline, rather than lose what was durable, when they are damaged. */
  readonly refusesDamage?: (topic: string) => boolean
  /** Time between two background flushes of mirrored (or unacknowledged) data. */
  readonly flushIntervalMs?: number
  readonly clock: Clock
  readonly logger: Logger
}

/** Logs opened or deleted at the same time. */
const PARALLEL_LOGS = 16
/** What a crash of the machine may lose of mirrors, to be fetched again. A flush costs the disk about the same however little it writes. */
const FLUSH_INTERVAL_MS = 5000
/** Kafka's `producer.id.expiration.check.interval.ms`. */
const PRODUCER_EXPIRY_CHECK_MS = 600_000

export class ReplicaSet implements ImageSubscriber, PartitionSource, AppendContext {
  readonly name = 'replica'
  readonly clock: Clock
  readonly #options: ReplicaSetOptions
  readonly #logger: Logger
  readonly #partitions = new Map<string, Partition>()
  /** Logs that could not be opened, with what to answer. */
  readonly #offline = new Map<string, PartitionUnavailable>()
  readonly #flush: BackgroundFlush
  readonly #reopening: Reopening
  #image: MetadataImage | undefined
  /** By topic, as the image has them: the partitions of a topic share them. */
  readonly #settings = new Map<string, TopicSettings>()
  #expiry: Timer
  #closed = false

  constructor(options: ReplicaSetOptions) {
    this.#options = options
    this.clock = options.clock
    this.#logger = options.logger.child({ component: 'replica' })
    this.#reopening = new Reopening(options)
    this.#flush = new BackgroundFlush({
      intervalMs: options.flushIntervalMs ?? FLUSH_INTERVAL_MS,
      clock: options.clock,
      failed: (partition, error) => this.storageFailed(partition, error),
    })
    this.#expiry = this.#expireLater()
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

  /** A log that failed for good is taken out of service and opened again, with recovery, until that works. */
  storageFailed(partition: Partition, error: unknown): void {
    this.#logger.error('the log of a partition failed', { partition: partition.name, error: messageOf(error) })
    const key = keyOf(partition.topicId, partition.index)
    if (!(error instanceof LogError && error.failed) || this.#partitions.get(key) !== partition) return
    const reason = new PartitionUnavailable(ErrorCode.KAFKA_STORAGE_ERROR, `${partition.name}: ${messageOf(error)}`)
    this.#partitions.delete(key)
    this.#offline.set(key, reason)
    void partition.leave(reason)
    this.#reopenLater(partition.topicId, partition.index)
  }

  async onImage(image: MetadataImage, delta: MetadataDelta): Promise<void> {
    if (this.#closed) return
    this.#image = image
    this.#settings.clear()
    await forEachBounded(delta.deletedTopics.values(), PARALLEL_LOGS, topic => this.#removeTopic(topic))
    const changed = [...delta.changedTopics.values()].flatMap(topic =>
      topic.partitions.map(index => ({ topic, index })),
    )
    await forEachBounded(changed, PARALLEL_LOGS, ({ topic, index }) => this.#applyPartition(topic, index))
    await this.#applyConfigs(image, delta)
  }

  /** Answers the fetches that wait, so that their connections can be closed in peace; writes go on. */
  stopWaiting(): void {
    for (const partition of this.#partitions.values()) partition.stopWaiting()
  }

  /** Refuses later use, releases those who wait and lets running writes end. The logs stay open: their owner closes them. */
  async close(): Promise<void> {
    this.#closed = true
    this.#expiry.cancel()
    this.#flush.close()
    this.#reopening.close()
    const reason = new PartitionUnavailable(ErrorCode.NOT_LEADER_OR_FOLLOWER, 'this node is shutting down')
    for (const partition of this.#partitions.values()) {
      await partition.leave(reason)
      this.#options.logs.noteHighWatermark(partition.log, partition.highWatermark)
    }
    this.#partitions.clear()
  }

  async #applyPartition({ after: topic }: TopicDelta, index: number): Promise<void> {
    const assignment = topic.partitions[index]
    assert(assignment, `the delta names partition ${topic.name}-${index}, which the image lacks`)
    const key = keyOf(topic.id, index)
    const present = this.#partitions.get(key)
    try {
      if (assignment.leader !== this.#options.brokerId) return present && (await this.#stopLeading(key, present))
      const partition = present ?? (await this.#open(topic, index, 'openLog'))
      await partition.lead(assignment)
      this.#partitions.set(key, partition)
      this.#offline.delete(key)
    } catch (error) {
      const reason = this.#goOffline(topic, index, error)
      this.#partitions.delete(key)
      await present?.leave(reason)
      this.#reopenLater(topic.id, index)
    }
  }

  #goOffline(topic: TopicImage, index: number, error: unknown): PartitionUnavailable {
    const message = `the log of ${topic.name}-${index} cannot be opened: ${messageOf(error)}`
    const reason = new PartitionUnavailable(ErrorCode.KAFKA_STORAGE_ERROR, message)
    this.#offline.set(keyOf(topic.id, index), reason)
    this.#logger.error('a partition is offline', { partition: `${topic.name}-${index}`, error: messageOf(error) })
    return reason
  }

  #reopenLater(topicId: Uuid, index: number): void {
    this.#reopening.schedule(keyOf(topicId, index), async () => {
      const topic = this.#image?.topics.get(topicId)
      const assignment = topic?.partitions[index]
      const key = keyOf(topicId, index)
      const wanted = assignment?.leader === this.#options.brokerId && !this.#partitions.has(key)
      if (!topic || !wanted || this.#closed) return true
      try {
        const partition = await this.#open(topic, index, 'reopenLog')
        await partition.lead(assignment)
        // Deleted or closed meanwhile: the log is the owner's business again.
        if (this.#closed || !this.#offline.delete(key)) return true
        this.#partitions.set(key, partition)
        this.#logger.info('a partition is back', { partition: partition.name })
        return true
      } catch (error) {
        if (this.#image?.topics.has(topicId)) this.#goOffline(topic, index, error)
        return false
      }
    })
  }

  async #open(topic: TopicImage, index: number, how: 'openLog' | 'reopenLog'): Promise<Partition> {
    const assignment = topic.partitions[index]
    assert(assignment)
    const { logs, brokerId, refusesDamage } = this.#options
    const settings = this.#settingsOf(topic.name)
    const damage = refusesDamage?.(topic.name) ? 'refuse' : 'cut'
    const log = await logs[how]({ topic: topic.name, partition: index, topicId: topic.id, config: settings, damage })
    const highWatermark = logs.savedHighWatermark(topic.name, index)
    const identity = { topic: topic.name, topicId: topic.id, index }
    const partition = new Partition({ identity, log, brokerId, assignment, settings, highWatermark })
    // What recovery found need not be on disk yet. A start does not wait for it: with many logs that takes long.
    if (log.flushedOffset < log.logEndOffset) this.#flush.add(partition)
    return partition
  }

  async #stopLeading(key: string, partition: Partition): Promise<void> {
    this.#partitions.delete(key)
    const { name } = partition
    await partition.leave(new PartitionUnavailable(ErrorCode.NOT_LEADER_OR_FOLLOWER, `${name} is led elsewhere`))
    this.#options.logs.noteHighWatermark(partition.log, partition.highWatermark)
  }

  async #removeTopic(topic: TopicImage): Promise<void> {
    for (const index of topic.partitions.keys()) {
      const key = keyOf(topic.id, index)
      this.#offline.delete(key)
      this.#reopening.cancel(key)
      const partition = this.#partitions.get(key)
      this.#partitions.delete(key)
      const name = `${topic.name}-${index}`
      await partition?.leave(new PartitionUnavailable(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, `${name} was deleted`))
      try {
        await this.#options.logs.deleteLog(topic.name, index)
      } catch (error) {
        this.#logger.error('the log of a deleted partition stays', { partition: name, error: messageOf(error) })
      }
    }
  }

  /** Idle idempotent producers are forgotten now and then, or a log would remember every one that ever wrote. */
  #expireLater(): Timer {
    return this.#options.clock.after(PRODUCER_EXPIRY_CHECK_MS, () => {
      for (const { log, settings, verifications } of this.#partitions.values()) {
        log.removeExpiredProducers()
        verifications.removeOlderThan(settings.producerIdExpirationMs, this.clock)
      }
      this.#expiry = this.#expireLater()
    })
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
    const known = this.#settings.get(topic)
    if (known) return known
    const settings = topicSettings(configLayers(this.#image, { brokerId, file, topic }))
    this.#settings.set(topic, settings)
    return settings
  }
}

const keyOf = (topicId: Uuid, index: number): string => `${topicId}:${index}`
