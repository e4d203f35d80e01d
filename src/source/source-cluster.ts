/** A Kafka cluster as the source of links: implements the link ports over client connections; node/ hands the factory to the engine. */
import { ByteBudget } from '../core/byte-budget.ts'
import type { Clock } from '../core/clock.ts'
import type { Logger } from '../core/logger.ts'
import type { Random } from '../core/random.ts'
import {
  type ClusterAcls,
  type EpochEnd,
  type SecretBox,
  type SourceCluster,
  type SourceClusterFactory,
  type SourceClusterFacts,
  type SourceConnectionSettings,
  SourceError,
  type SourceFetcher,
  type SourceGroup,
  type SourceGroupOffsets,
  type SourceProbe,
  type SourceSurvey,
  type SourceTopic,
  type SourceTopicConfig,
  type SourceTransaction,
} from '../link/ports.ts'
import { FrameBuffers } from '../network/frame-buffers.ts'
import { describeAcls } from './acl-questions.ts'
import { ApiTimeout } from './api-timeout.ts'
import type { NameServices } from './bootstrap-names.ts'
import { BrokerPool } from './broker-pool.ts'
import { FetchThrottle } from './fetch/fetch-throttle.ts'
import { KafkaSourceFetcher } from './fetch/source-fetcher.ts'
import { groupOffsets, listGroups, shareGroupOffsets } from './group-questions.ts'
import { type BatchRange, type EpochEndQuestion, LeaderQuestions, type OffsetQuery } from './leader-questions.ts'
import type { ObservedRequest } from './observed-request.ts'
import { probe, surveySource } from './source-survey.ts'
import { describeCluster, describeTopicConfigs, describeTopics, metadataOf } from './topic-questions.ts'
import { openTransactions } from './transaction-questions.ts'

export interface KafkaSourceOptions extends NameServices {
  readonly clock: Clock
  readonly random: Random
  readonly logger: Logger
  /** Bytes that all links of this node may have in flight together, beside the bound of each. */
  readonly nodeBudget?: ByteBudget
  /** Opens secrets of links. */
  readonly secrets?: SecretBox
  /** Told of every answer of a source. */
  readonly observe?: (request: ObservedRequest) => void
}

/** Memory of fetch answers that is kept for the next ones. */
const IDLE_FRAME_BYTES_MAX = 128 * 1024 * 1024

/** Opens source clusters that share a node's byte budget and the memory of fetch answers. */
export function kafkaSource(options: KafkaSourceOptions): SourceClusterFactory {
  const frames = new FrameBuffers({ idleBytesMax: IDLE_FRAME_BYTES_MAX, clock: options.clock })
  return { open: (settings, onTrouble) => new KafkaSourceCluster(settings, { ...options, frames, onTrouble }) }
}

interface ClusterOptions extends KafkaSourceOptions {
  readonly frames: FrameBuffers
  readonly onTrouble: (() => void) | undefined
}

class KafkaSourceCluster implements SourceCluster {
  readonly fetcher: SourceFetcher
  readonly #settings: SourceConnectionSettings
  readonly #pool: BrokerPool
  readonly #leaders: LeaderQuestions
  readonly #fetcher: KafkaSourceFetcher
  readonly #bounded: ApiTimeout
  readonly #throttle: FetchThrottle

  constructor(settings: SourceConnectionSettings, options: ClusterOptions) {
    const { nodeBudget, ...given } = options
    const { clock, random, logger } = options
    const pool = new BrokerPool({ ...given, settings })
    const { retryBackoffMs, requestTimeoutMs } = settings
    const describeTopic = (topic: string, signal?: AbortSignal) => this.#describeTopic(topic, signal)
    const leaders = new LeaderQuestions({ pool, describeTopic, clock, random, retryBackoffMs, requestTimeoutMs })
    const askMetadata = (names: readonly string[]) => metadataOf(pool, names, { signal: pool.signal })
    const acquire = budgetOf(settings, nodeBudget)
    const shared = { settings, pool, leaders, askMetadata, acquire, clock, random, logger }
    this.#settings = settings
    this.#pool = pool
    this.#leaders = leaders
    this.#throttle = new FetchThrottle(clock)
    this.#bounded = new ApiTimeout({ clock, timeoutMs: settings.apiTimeoutMs })
    this.#fetcher = new KafkaSourceFetcher({ ...shared, throttle: this.#throttle })
    this.fetcher = this.#fetcher
  }

  describeCluster(signal?: AbortSignal): Promise<SourceClusterFacts> {
    return this.#bounded.run(stop => describeCluster(this.#pool, stop), signal)
  }

  probe(topics: readonly string[], signal?: AbortSignal): Promise<SourceProbe> {
    return this.#bounded.run(stop => probe(this.#pool, topics, stop), signal)
  }

  survey(signal?: AbortSignal): Promise<SourceSurvey> {
    return surveySource(this.#pool, this.#settings.bootstrapServers, signal)
  }

  async describeTopics(names: readonly string[] | 'all', signal?: AbortSignal): Promise<SourceTopic[]> {
    if (names.length === 0) return []
    return await this.#bounded.run(stop => describeTopics(this.#pool, names, stop), signal)
  }

  describeTopicConfigs(
    names: readonly string[],
    signal?: AbortSignal,
  ): Promise<Map<string, Map<string, SourceTopicConfig>>> {
    return this.#bounded.run(stop => describeTopicConfigs(this.#pool, names, stop), signal)
  }

  listOffsets(topic: string, partitions: readonly number[], query: OffsetQuery): Promise<Map<number, number>> {
    const { signal } = query
    return this.#bounded.run(stop => this.#leaders.listOffsets(topic, partitions, { ...query, signal: stop }), signal)
  }

  /** Bytes are bytes to the throttle of the link, whoever reads them. */
  async readBatches(topic: string, partition: number, range: BatchRange): Promise<Buffer> {
    const { signal, takesTurns = false } = range
    if (takesTurns) await this.#throttle.turn(signal ?? this.#pool.signal)
    signal?.throwIfAborted()
    const maxBytes = takesTurns ? this.#throttle.turnBytes(range.maxBytes) : range.maxBytes
    const read = (stop: AbortSignal) =>
      this.#leaders.readBatches(topic, partition, { ...range, maxBytes, signal: stop })
    const bytes = await this.#bounded.run(read, signal)
    this.#throttle.pay(bytes.length)
    return bytes
  }

  endOfEpoch(topic: string, partition: number, question: EpochEndQuestion): Promise<EpochEnd> {
    const { signal } = question
    return this.#bounded.run(stop => this.#leaders.endOfEpoch(topic, partition, { ...question, signal: stop }), signal)
  }

  listGroups(signal?: AbortSignal): Promise<SourceGroup[]> {
    return this.#bounded.run(stop => listGroups(this.#pool, stop), signal)
  }

  groupOffsets(groupIds: readonly string[], signal?: AbortSignal): Promise<SourceGroupOffsets> {
    return this.#bounded.run(stop => groupOffsets(this.#pool, groupIds, stop), signal)
  }

  shareGroupOffsets(groupIds: readonly string[], signal?: AbortSignal): Promise<SourceGroupOffsets | undefined> {
    return this.#bounded.run(stop => shareGroupOffsets(this.#pool, groupIds, stop), signal)
  }

  openTransactions(topic: string, partitions: readonly number[], signal?: AbortSignal): Promise<SourceTransaction[]> {
    return this.#bounded.run(async stop => {
      const described = await this.#describeTopic(topic, stop)
      return await openTransactions(this.#pool, { topic: described, partitions, signal: stop })
    }, signal)
  }

  describeAcls(signal?: AbortSignal): Promise<ClusterAcls> {
    return this.#bounded.run(stop => describeAcls(this.#pool, stop), signal)
  }

  async close(): Promise<void> {
    await this.#fetcher.close()
    await this.#pool.close()
  }

  async #describeTopic(name: string, signal?: AbortSignal): Promise<SourceTopic> {
    const [topic] = await this.describeTopics([name], signal)
    if (!topic) throw new SourceError('unknown-topic', `the source has no topic ${name}`)
    return topic
  }
}

/** The budget of the link, then that of the node: always in this order. */
function budgetOf(settings: SourceConnectionSettings, nodeBudget: ByteBudget | undefined) {
  const own = new ByteBudget(settings.fetch.inFlightBytesMax)
  return async (bytes: number, signal: AbortSignal): Promise<() => void> => {
    const releaseOwn = await own.acquire(bytes, signal)
    if (!nodeBudget) return releaseOwn
    try {
      const releaseNode = await nodeBudget.acquire(bytes, signal)
      return () => {
        releaseNode()
        releaseOwn()
      }
    } catch (error) {
      releaseOwn()
      throw error
    }
  }
}
