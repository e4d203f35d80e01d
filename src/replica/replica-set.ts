/**
 * All replicas of this node. Follows the metadata image: opens, creates, reconfigures and deletes logs, leads or follows, and
 * starts leader epochs. The handlers and the destination of links find their partitions here.
 */
import assert from 'node:assert/strict'
import { forEachBounded } from '../core/bounded-work.ts'
import type { Clock, Timer } from '../core/clock.ts'
import { messageOf } from '../core/errors.ts'
import type { Logger } from '../core/logger.ts'
import type { Uuid } from '../core/uuid.ts'
import { LogError } from '../log/log-error.ts'
import type { ImageSubscriber } from '../metadata/controller-port.ts'
import type { MetadataDelta } from '../metadata/metadata-delta.ts'
import { ConfigResourceType, type MetadataImage, type TopicImage, topicByName } from '../metadata/metadata-image.ts'
import { ErrorCode } from '../protocol/errors.ts'
import type { AppendContext } from './append-from-client.ts'
import { BackgroundFlush } from './background-flush.ts'
import type { PartitionSource } from './fetch-query.ts'
import { FollowedPartition } from './following/followed-partition.ts'
import { HostedReplicas, replicaKey } from './hosted-replicas.ts'
import { Partition } from './partition.ts'
import { ledElsewhere, PartitionUnavailable, removedReplica } from './partition-unavailable.ts'
import { PeerReplication } from './peer-replication.ts'
import { Reopening } from './reopening.ts'
import type { Replica, ReplicaOptions } from './replica.ts'
import type { ReplicaPeers } from './replica-peers.ts'
import type { ReplicaSetOptions } from './replica-set-options.ts'
import { SettingsOfTopics } from './settings-of-topics.ts'

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
  readonly #hosted = new HostedReplicas()
  readonly #flush: BackgroundFlush
  readonly #reopening: Reopening
  readonly #peers: PeerReplication | undefined
  #image: MetadataImage | undefined
  readonly #settings: SettingsOfTopics
  #expiry: Timer
  #closed = false

  constructor(options: ReplicaSetOptions) {
    this.#options = options
    this.clock = options.clock
    this.#logger = options.logger.child({ component: 'replica' })
    this.#settings = new SettingsOfTopics(options)
    this.#reopening = new Reopening(options)
    this.#flush = new BackgroundFlush({
      intervalMs: options.flushIntervalMs ?? FLUSH_INTERVAL_MS,
      clock: options.clock,
      failed: (partition, error) => this.storageFailed(partition, error),
    })
    this.#peers = options.peers && this.#replication(options.peers)
    this.#expiry = this.#expireLater()
  }

  /** Every partition led here. */
  get partitions(): Iterable<Partition> {
    return this.#hosted.led
  }

  /** Every partition that another broker leads and that is followed here. */
  get followed(): Iterable<FollowedPartition> {
    return this.#hosted.followed
  }

  /** Both. */
  get hosted(): Iterable<Replica> {
    return this.#hosted
  }

  /**
   * The partition that this node leads. Throws PartitionUnavailable: UNKNOWN_TOPIC_OR_PARTITION, NOT_LEADER_OR_FOLLOWER, or
   * KAFKA_STORAGE_ERROR where the log could not be opened.
   */
  lookup(topicId: Uuid, index: number): Partition {
    return this.#hosted.leader(replicaKey(topicId, index), this.#knows(topicId, index))
  }

  /** Like `lookup`, by the topic's name. */
  lookupByName(topic: string, index: number): Partition {
    return this.lookup(this.#idOf(topic), index)
  }

  /** The replica of this node, led or followed: to be read up to its high watermark. Throws as `lookup`. */
  lookupReplica(topicId: Uuid, index: number): Replica {
    return this.#hosted.any(replicaKey(topicId, index), this.#knows(topicId, index))
  }

  flushSoon(partition: Replica): void {
    this.#flush.add(partition)
  }

  /** A log that failed for good is taken out of service and opened again, with recovery, until that works. */
  storageFailed(replica: Replica, error: unknown): void {
    this.#logger.error('the log of a partition failed', { partition: replica.name, error: messageOf(error) })
    const key = replicaKey(replica.topicId, replica.index)
    const present = this.#hosted.get(key)
    if (!(error instanceof LogError && error.failed) || present !== replica) return
    const reason = new PartitionUnavailable(ErrorCode.KAFKA_STORAGE_ERROR, `${replica.name}: ${messageOf(error)}`)
    this.#hosted.goOffline(key, reason)
    void this.#retire(present, reason)
    this.#reopenLater(replica.topicId, replica.index)
  }

  async onImage(image: MetadataImage, delta: MetadataDelta): Promise<void> {
    if (this.#closed) return
    this.#image = image
    this.#settings.follow(image)
    await forEachBounded(delta.deletedTopics.values(), PARALLEL_LOGS, topic => this.#removeTopic(topic))
    const changed = [...delta.changedTopics.values()].flatMap(({ after: topic, partitions }) =>
      partitions.map(index => ({ topic, index })),
    )
    await forEachBounded(changed, PARALLEL_LOGS, ({ topic, index }) => this.#applyPartition(topic, index))
    await this.#applyConfigs(image, delta)
  }

  /** Answers the fetches that wait, so that their connections can be closed in peace; writes go on. */
  stopWaiting(): void {
    for (const replica of this.#hosted) replica.stopWaiting()
  }

  /** Refuses later use, releases those who wait and lets running writes end. The logs stay open: their owner closes them. */
  async close(): Promise<void> {
    this.#closed = true
    this.#expiry.cancel()
    this.#flush.close()
    this.#reopening.close()
    await this.#peers?.close()
    const reason = new PartitionUnavailable(ErrorCode.NOT_LEADER_OR_FOLLOWER, 'this node is shutting down')
    for (const replica of this.#hosted) {
      await replica.leave(reason)
      this.#options.logs.noteHighWatermark(replica.log, replica.highWatermark)
    }
    this.#hosted.clear()
  }

  async #applyPartition(topic: TopicImage, index: number): Promise<void> {
    const assignment = topic.partitions[index]
    assert(assignment, `the delta names partition ${topic.name}-${index}, which the image lacks`)
    const key = replicaKey(topic.id, index)
    try {
      if (assignment.replicas.includes(this.#options.brokerId)) return await this.#host(topic, index, 'openLog')
      if (this.#hosted.has(key)) await this.#removeReplica(topic, index, 'moved')
    } catch (error) {
      const present = this.#hosted.get(key)
      const reason = this.#goOffline(topic, index, error)
      if (present) await this.#retire(present, reason)
      this.#reopenLater(topic.id, index)
    }
  }

  /** Leads or follows, as the image says. */
  async #host(topic: TopicImage, index: number, how: 'openLog' | 'reopenLog'): Promise<void> {
    const assignment = topic.partitions[index]
    assert(assignment)
    const key = replicaKey(topic.id, index)
    const present = this.#hosted.get(key)
    const leads = assignment.leader === this.#options.brokerId
    if (leads && present instanceof Partition) return await present.lead(assignment)
    if (!leads && present instanceof FollowedPartition) {
      await present.follow(assignment)
      this.#peers?.follow(present)
      return
    }
    if (present) await this.#retire(present, ledElsewhere(present.name, assignment.leader))
    const options = await this.#replicaOptions(topic, index, how)
    const context = this.#peers?.leadership
    const replica = leads ? new Partition({ ...options, context }) : new FollowedPartition(options)
    if (replica instanceof Partition) await replica.lead(assignment)
    if (this.#closed) return
    this.#hosted.set(key, replica)
    if (replica instanceof FollowedPartition) this.#peers?.follow(replica)
    // What recovery found need not be on disk yet. A start does not wait for it: with many logs that takes long.
    if (replica.log.flushedOffset < replica.log.logEndOffset) this.#flush.add(replica)
  }

  async #replicaOptions(topic: TopicImage, index: number, how: 'openLog' | 'reopenLog'): Promise<ReplicaOptions> {
    const assignment = topic.partitions[index]
    assert(assignment)
    const { logs, brokerId, refusesDamage } = this.#options
    const settings = this.#settings.of(topic.name)
    const damage = refusesDamage?.(topic.name) ? 'refuse' : 'cut'
    const log = await logs[how]({ topic: topic.name, partition: index, topicId: topic.id, config: settings, damage })
    const highWatermark = logs.savedHighWatermark(topic.name, index)
    const identity = { topic: topic.name, topicId: topic.id, index }
    return { identity, log, brokerId, assignment, settings, highWatermark }
  }

  #goOffline(topic: TopicImage, index: number, error: unknown): PartitionUnavailable {
    const message = `the log of ${topic.name}-${index} cannot be opened: ${messageOf(error)}`
    const reason = new PartitionUnavailable(ErrorCode.KAFKA_STORAGE_ERROR, message)
    this.#hosted.goOffline(replicaKey(topic.id, index), reason)
    this.#logger.error('a partition is offline', { partition: `${topic.name}-${index}`, error: messageOf(error) })
    return reason
  }

  #reopenLater(topicId: Uuid, index: number): void {
    const key = replicaKey(topicId, index)
    this.#reopening.schedule(key, async () => {
      const topic = this.#image?.topics.get(topicId)
      const isOurs = topic?.partitions[index]?.replicas.includes(this.#options.brokerId)
      if (!topic || !isOurs || this.#closed || this.#hosted.get(key)) return true
      try {
        await this.#host(topic, index, 'reopenLog')
        this.#logger.info('a partition is back', { partition: `${topic.name}-${index}` })
        return true
      } catch (error) {
        if (this.#image?.topics.has(topicId)) this.#goOffline(topic, index, error)
        return false
      }
    })
  }

  /** Ends the use of a replica; its log stays as it is. */
  async #retire(replica: Partition | FollowedPartition, reason: PartitionUnavailable): Promise<void> {
    if (replica instanceof FollowedPartition) this.#peers?.forget(replica)
    await replica.leave(reason)
    this.#options.logs.noteHighWatermark(replica.log, replica.highWatermark)
  }

  async #removeTopic(topic: TopicImage): Promise<void> {
    for (const index of topic.partitions.keys()) await this.#removeReplica(topic, index, 'deleted')
  }

  /** With its log. */
  async #removeReplica(topic: TopicImage, index: number, why: 'deleted' | 'moved'): Promise<void> {
    const key = replicaKey(topic.id, index)
    const replica = this.#hosted.get(key)
    if (!this.#hosted.delete(key) && this.#options.peers) return
    this.#reopening.cancel(key)
    const name = `${topic.name}-${index}`
    if (replica) await this.#retire(replica, removedReplica(name, why))
    try {
      await this.#options.logs.deleteLog(topic.name, index)
      if (why === 'moved') this.#logger.info('a partition has no replica here any more', { partition: name })
    } catch (error) {
      this.#logger.error('the log of a deleted partition stays', { partition: name, error: messageOf(error) })
    }
  }

  /** Idle idempotent producers are forgotten now and then, or a log would remember every one that ever wrote. */
  #expireLater(): Timer {
    return this.#options.clock.after(PRODUCER_EXPIRY_CHECK_MS, () => {
      for (const replica of this.#hosted) {
        replica.log.removeExpiredProducers()
        if (replica instanceof Partition)
          replica.verifications.removeOlderThan(replica.settings.producerIdExpirationMs, this.clock)
      }
      this.#expiry = this.#expireLater()
    })
  }

  async #applyConfigs(image: MetadataImage, delta: MetadataDelta): Promise<void> {
    const everyTopic = delta.changedConfigs.some(resource => resource.type === ConfigResourceType.BROKER)
    const named = delta.changedConfigs.filter(resource => resource.type === ConfigResourceType.TOPIC)
    const topics = everyTopic ? image.topics.values() : named.flatMap(({ name }) => topicByName(image, name) ?? [])
    for (const topic of topics)
      for (const index of topic.partitions.keys())
        await this.#hosted.get(replicaKey(topic.id, index))?.applySettings(this.#settings.of(topic.name))
  }

  #replication(peers: ReplicaPeers): PeerReplication {
    return new PeerReplication({
      ...this.#options,
      peers,
      image: () => this.#image,
      hosted: this.#hosted,
      storageFailed: (partition, error) => this.storageFailed(partition, error),
      flushSoon: partition => this.flushSoon(partition),
    })
  }

  #knows(topicId: Uuid, index: number): boolean {
    return this.#image?.topics.get(topicId)?.partitions[index] !== undefined
  }

  #idOf(topic: string): Uuid {
    const found = this.#image && topicByName(this.#image, topic)
    if (!found) throw new PartitionUnavailable(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, `there is no topic ${topic}`)
    return found.id
  }
}
