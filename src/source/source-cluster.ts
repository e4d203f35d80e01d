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
  type SourceTopic,
  type SourceTopicConfig,
} from '../link/ports.ts'
import type { DnsLookup } from '../network/dial.ts'
import { FrameBuffers } from '../network/frame-buffers.ts'
import { describeAcls } from './acl-questions.ts'
import { BrokerPool } from './broker-pool.ts'
import { KafkaSourceFetcher } from './fetch/source-fetcher.ts'
import { groupOffsets, listGroups } from './group-questions.ts'
import { type BatchRange, type EpochEndQuestion, LeaderQuestions, type OffsetQuery } from './leader-questions.ts'
import { sourceErrorOf } from './source-error-of.ts'
import { describeCluster, describeTopicConfigs, describeTopics, metadataOf } from './topic-questions.ts'

export interface KafkaSourceOptions {
  readonly clock: Clock
  readonly random: Random
  readonly logger: Logger
  /** Bytes that all links of this node may have in flight together, beside the bound of each. */
  readonly nodeBudget?: ByteBudget
  readonly dnsLookup?: DnsLookup
  /** Opens secrets of links. */
  readonly secrets?: SecretBox
}

/** Memory of fetch answers that is kept for the next ones. */
const IDLE_FRAME_BYTES_MAX = 128 * 1024 * 1024

/** Opens source clusters that share a node's byte budget and the memory of fetch answers. */
export function kafkaSource(options: KafkaSourceOptions): SourceClusterFactory {
  const frames = new FrameBuffers({ idleBytesMax: IDLE_FRAME_BYTES_MAX, clock: options.clock })
  return { open: settings => new KafkaSourceCluster(settings, { ...options, frames }) }
}

class KafkaSourceCluster implements SourceCluster {
  readonly fetcher: SourceFetcher
  readonly #pool: BrokerPool
  readonly #leaders: LeaderQuestions
  readonly #fetcher: KafkaSourceFetcher

  constructor(settings: SourceConnectionSettings, options: KafkaSourceOptions & { readonly frames: FrameBuffers }) {
    const { clock, random, logger, dnsLookup, secrets, frames } = options
    const pool = new BrokerPool({ settings, clock, random, logger, dnsLookup, secrets, frames })
    const { retryBackoffMs, requestTimeoutMs } = settings
    const describeTopic = (topic: string, signal?: AbortSignal) => this.#describeTopic(topic, signal)
    const leaders = new LeaderQuestions({ pool, describeTopic, clock, random, retryBackoffMs, requestTimeoutMs })
    const askMetadata = (names: readonly string[]) => metadataOf(pool, names, { signal: pool.signal })
    const acquire = budgetOf(settings, options.nodeBudget)
    this.#pool = pool
    this.#leaders = leaders
    this.#fetcher = new KafkaSourceFetcher({ settings, pool, leaders, askMetadata, acquire, clock, random, logger })
    this.fetcher = this.#fetcher
  }

  describeCluster(signal?: AbortSignal): Promise<SourceClusterFacts> {
    return describeCluster(this.#pool, signal)
  }

  async describeTopics(names: readonly string[] | 'all', signal?: AbortSignal): Promise<SourceTopic[]> {
    return names.length === 0 ? [] : await describeTopics(this.#pool, names, signal)
  }

  describeTopicConfigs(
    names: readonly string[],
    signal?: AbortSignal,
  ): Promise<Map<string, Map<string, SourceTopicConfig>>> {
    return describeTopicConfigs(this.#pool, names, signal)
  }

  listOffsets(topic: string, partitions: readonly number[], query: OffsetQuery): Promise<Map<number, number>> {
    return this.#leaders.listOffsets(topic, partitions, query)
  }

  readBatches(topic: string, partition: number, range: BatchRange): Promise<Buffer> {
    return this.#leaders.readBatches(topic, partition, range)
  }

  endOfEpoch(topic: string, partition: number, question: EpochEndQuestion): Promise<EpochEnd> {
    return this.#leaders.endOfEpoch(topic, partition, question)
  }

  listGroups(signal?: AbortSignal): Promise<SourceGroup[]> {
    return asSourceError(listGroups(this.#pool, signal), signal)
  }

  groupOffsets(groupIds: readonly string[], signal?: AbortSignal): Promise<SourceGroupOffsets> {
    return asSourceError(groupOffsets(this.#pool, groupIds, signal), signal)
  }

  describeAcls(signal?: AbortSignal): Promise<ClusterAcls> {
    return asSourceError(describeAcls(this.#pool, signal), signal)
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

async function asSourceError<T>(answer: Promise<T>, signal?: AbortSignal): Promise<T> {
  try {
    return await answer
  } catch (error) {
    signal?.throwIfAborted()
    throw sourceErrorOf(error)
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
