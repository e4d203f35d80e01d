/** Fetches many partitions of one source cluster: knows what is started, routes each partition to a slot of its broker; the source cluster owns one. */
import type { Clock } from '../../core/clock.ts'
import type { Logger } from '../../core/logger.ts'
import type { Random } from '../../core/random.ts'
import { ZERO_UUID } from '../../core/uuid.ts'
import type { FetchSink, SourceConnectionSettings, SourceError, SourceFetcher, SourceTopic } from '../../link/ports.ts'
import type { BrokerPool } from '../broker-pool.ts'
import type { LeaderQuestions } from '../leader-questions.ts'
import type { MetadataAnswer } from '../metadata-question.ts'
import { sourceErrorForCode } from '../source-error-of.ts'
import { partitionOf, TopicDirectory } from '../topic-directory.ts'
import { AnswerDelivery } from './answer-delivery.ts'
import { BrokerSlots } from './broker-slots.ts'
import type { SlotContext } from './fetch-slot.ts'
import type { FetchThrottle } from './fetch-throttle.ts'
import { PartitionFetch, type Route } from './partition-fetch.ts'
import { PartitionOutcomes } from './partition-outcomes.ts'

export interface SourceFetcherOptions {
  readonly settings: SourceConnectionSettings
  readonly pool: BrokerPool
  readonly leaders: LeaderQuestions
  readonly askMetadata: (names: readonly string[]) => Promise<MetadataAnswer>
  readonly acquire: (bytes: number, signal: AbortSignal) => Promise<() => void>
  readonly throttle: FetchThrottle
  readonly clock: Clock
  readonly random: Random
  readonly logger: Logger
}

/** After so many failures in a row the metadata is believed even if its epochs went backwards. */
const FAILURES_BEFORE_DISTRUST = 6

/** Level-triggered: every metadata refresh looks at every partition that waits or is ready. */
export class KafkaSourceFetcher implements SourceFetcher {
  readonly #options: SourceFetcherOptions
  readonly #directory: TopicDirectory
  readonly #outcomes: PartitionOutcomes
  readonly #context: SlotContext
  readonly #partitions = new Map<string, PartitionFetch>()
  /** Stops that have not ended, by key: a new start waits for them. */
  readonly #stopping = new Map<string, Promise<void>>()
  /** Waiting for the next refresh of the metadata. */
  readonly #parked = new Set<PartitionFetch>()
  readonly #brokers = new Map<number, BrokerSlots>()
  /** The broker whose slots hold the partition. */
  readonly #assigned = new Map<PartitionFetch, BrokerSlots>()

  constructor(options: SourceFetcherOptions) {
    this.#options = options
    const { settings, pool, leaders, clock, random, logger, acquire, throttle } = options
    const { metadataMaxAgeMs: maxAgeMs, retryBackoffMs } = settings
    this.#directory = new TopicDirectory(
      { ask: options.askMetadata, clock, random, maxAgeMs, retryBackoffMs },
      { onUpdate: () => this.#onMetadata(), onFailure: error => this.#onMetadataFailure(error) },
    )
    const flow = {
      proceed: (partition: PartitionFetch) => this.#proceed(partition),
      lookAgain: (partition: PartitionFetch) => this.#park(partition),
      end: (partition: PartitionFetch) => void this.#end(partition),
    }
    this.#outcomes = new PartitionOutcomes({ flow, leaders, clock, logger })
    const outcomes = this.#outcomes
    const delivery = new AnswerDelivery({ outcomes, pool, clock, redirectMaxAgeMs: maxAgeMs })
    this.#context = { settings, pool, clock, random, logger, outcomes, delivery, acquire, throttle }
  }

  start(topic: string, partition: number, sink: FetchSink): void {
    const key = keyOf(topic, partition)
    if (this.#partitions.has(key) || this.#options.pool.signal.aborted) return
    const { clock, random, settings } = this.#options
    const backoffs = { retryBackoffMs: settings.retryBackoffMs, fetchBackoffMs: settings.fetch.backoffMs }
    const started = new PartitionFetch({ topic, partition, sink }, { clock, random, ...backoffs })
    this.#partitions.set(key, started)
    this.#directory.track(topic)
    const before = this.#stopping.get(key)
    if (before) void before.then(() => this.#proceed(started))
    else this.#proceed(started)
  }

  async stop(topic: string, partition: number): Promise<void> {
    const key = keyOf(topic, partition)
    const running = this.#partitions.get(key)
    if (running) void this.#end(running)
    await this.#stopping.get(key)
  }

  limitRate(bytesPerSecond: number | undefined): void {
    this.#options.throttle.limit(bytesPerSecond)
  }

  get heldBackMs(): number {
    return this.#options.throttle.waitedMs
  }

  /** Stops everything; no sink is called after it resolves. */
  async close(): Promise<void> {
    this.#directory.close()
    await Promise.all([...this.#partitions.values()].map(partition => this.stop(partition.topic, partition.partition)))
    await Promise.all(this.#stopping.values())
    await Promise.all([...this.#brokers.values()].map(slots => slots.close()))
  }

  #end(partition: PartitionFetch): Promise<void> {
    const key = keyOf(partition.topic, partition.partition)
    this.#partitions.delete(key)
    this.#parked.delete(partition)
    this.#directory.untrack(partition.topic)
    const ended = Promise.all([this.#stopping.get(key), partition.stop(), this.#unassign(partition)]).then(() => {
      if (this.#stopping.get(key) === ended) this.#stopping.delete(key)
    })
    this.#stopping.set(key, ended)
    return ended
  }

  async #unassign(partition: PartitionFetch): Promise<void> {
    const slots = this.#assigned.get(partition)
    this.#assigned.delete(partition)
    await slots?.remove(partition)
    if (slots?.isEmpty && this.#brokers.get(slots.brokerId) === slots) this.#brokers.delete(slots.brokerId)
  }

  #park(partition: PartitionFetch): void {
    partition.enter('waiting')
    this.#parked.add(partition)
    if (partition.failures >= FAILURES_BEFORE_DISTRUST) this.#directory.forget(partition.topic)
    this.#directory.refreshSoon()
  }

  #onMetadata(): void {
    const waiting = [...this.#parked]
    this.#parked.clear()
    for (const partition of waiting) this.#proceed(partition)
    for (const partition of this.#partitions.values()) if (partition.phase === 'ready') this.#proceed(partition)
  }

  /** Nobody who knows the leaders can be asked. */
  #onMetadataFailure(error: SourceError): void {
    const waiting = [...this.#parked]
    this.#parked.clear()
    for (const partition of waiting) this.#outcomes.unreachable(partition, error, 0)
  }

  /** Sends the partition where it is led by what is known, or tells its sink why that is impossible. */
  #proceed(partition: PartitionFetch): void {
    if (partition.isStopped) return
    const answer = this.#directory.find(partition.topic)
    if (!answer) return this.#park(partition)
    if (answer.kind === 'present') return this.#routeTo(partition, answer.topic)
    const { topic } = partition
    void this.#unassign(partition)
    if (answer.kind === 'missing')
      this.#outcomes.report(partition, { kind: 'topic-missing', message: `the source has no topic ${topic}` })
    else if (answer.kind === 'unauthorized')
      this.#outcomes.report(partition, { kind: 'authorization', message: `the link may not describe topic ${topic}` })
    else this.#outcomes.unreachable(partition, sourceErrorForCode(answer.errorCode, `describing topic ${topic}`))
  }

  #routeTo(partition: PartitionFetch, topic: SourceTopic): void {
    const expected = partition.sink.topicId
    const found = partitionOf(topic, partition.partition)
    if (expected !== undefined && expected !== ZERO_UUID && topic.topicId !== ZERO_UUID && topic.topicId !== expected) {
      void this.#unassign(partition)
      this.#outcomes.report(partition, { kind: 'topic-id-changed', expected, found: topic.topicId })
    } else if (!found) {
      void this.#unassign(partition)
      const message = `topic ${topic.name} of the source has no partition ${partition.partition}`
      this.#outcomes.report(partition, { kind: 'partition-missing', message })
    } else if (found.leader < 0) {
      void this.#unassign(partition)
      const message = `${partition.name} has no leader at the source`
      this.#outcomes.report(partition, { kind: 'unreachable', failure: 'retriable', message }, 'quick')
    } else {
      const route: Route = { leader: found.leader, leaderEpoch: found.leaderEpoch, topicId: topic.topicId }
      partition.route = route
      this.#assign(partition, this.#readerOf(partition, route))
    }
  }

  /** The replica that the leader sent us to, else the leader. */
  #readerOf(partition: PartitionFetch, route: Route): number {
    const { readReplica } = partition
    if (!readReplica) return route.leader
    const valid =
      this.#options.clock.monotonicMs() < readReplica.untilMs && this.#options.pool.broker(readReplica.brokerId)
    if (!valid) partition.readReplica = undefined
    return valid ? readReplica.brokerId : route.leader
  }

  #assign(partition: PartitionFetch, brokerId: number): void {
    const before = this.#assigned.get(partition)
    if (before && before.brokerId !== brokerId) void this.#unassign(partition)
    const slots = this.#brokers.get(brokerId) ?? new BrokerSlots(brokerId, this.#context)
    this.#brokers.set(brokerId, slots)
    this.#assigned.set(partition, slots)
    slots.enqueue(partition)
  }
}

const keyOf = (topic: string, partition: number): string => `${topic}/${partition}`
