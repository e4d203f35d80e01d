/** The source cluster in memory; its fetcher hands over what the topics hold whenever a test says so. */

import type { Clock } from '../../core/clock.ts'
import { randomUuid, type Uuid } from '../../core/uuid.ts'
import { readBatchHeader } from '../../protocol/batches/batch-header.ts'
import {
  type ClusterAcls,
  type EpochEnd,
  type FetchSink,
  type FetchTrouble,
  type OffsetSpec,
  type SinkDecision,
  type SourceCluster,
  type SourceClusterFactory,
  type SourceConnectionSettings,
  SourceError,
  type SourceFailure,
  type SourceFetcher,
  type SourceTopic,
  type SourceTopicConfig,
} from '../ports.ts'
import { type PlacedOffsets, sourceGroups } from './fake-groups.ts'
import { FakeSourcePartition } from './fake-source-partition.ts'
import { fakeSurvey } from './fake-survey.ts'

interface FakeSourceTopic {
  topicId: Uuid
  readonly partitions: FakeSourcePartition[]
  readonly configs: Map<string, SourceTopicConfig>
}

/** What is being fetched by one connection to the source. */
interface Fetching {
  readonly topic: string
  readonly partition: number
  readonly sink: FetchSink
  /** Leader epoch in which the source was asked for the end of ours. */
  checkedIn: number
  /** The sink asked for a pause until then. */
  heldUntilMs: number
}

export class FakeSource implements SourceClusterFactory {
  clusterId: string
  readonly topics = new Map<string, FakeSourceTopic>()
  acls: ClusterAcls = { kind: 'acls', acls: [] }
  /** Committed offsets of groups, by group and topic/partition. */
  readonly groups: PlacedOffsets = new Map()
  /** Start offsets of share groups in the same way; undefined: the source has no share groups. */
  shareGroups: PlacedOffsets | undefined = new Map()
  /** Set: every question fails with it. */
  failure: { readonly failure: SourceFailure; readonly message: string } | undefined
  /** Set: questions fail with it, while fetches go on. */
  questionFailure: { readonly failure: SourceFailure; readonly message: string } | undefined
  /** Set: a broker that the source advertises cannot be reached. */
  unreachable: { readonly failure: SourceFailure; readonly message: string } | undefined
  missingApis: readonly string[] = []
  /** Bytes per second that the last connection was told to keep to. */
  rateLimit: number | undefined
  /** What a connection calls when it is lost. */
  onTrouble: () => void = () => {}
  /** Topics that the link may not describe. */
  readonly unreadable = new Set<string>()
  /** Set: questions about offsets are not answered before. */
  silence: Promise<void> | undefined
  /** Set: questions about topic configs are not answered before. */
  configSilence: Promise<void> | undefined
  /** Called when a question about offsets has been answered. */
  afterListOffsets: () => void = () => {}
  /** Called before every answer: what the topics hold may come from elsewhere. */
  refresh: () => void = () => {}
  /** Set: fetches are answered as if they had asked from here, whatever became of the log since. */
  askedOffset: number | undefined
  readonly opened: SourceConnectionSettings[] = []
  openConnections = 0
  /** Stops of these wait for it, as for a sink that works: by `topic-partition`. */
  readonly slowStops = new Map<string, Promise<void>>()
  readonly #clock: Clock
  readonly #fetching = new Map<string, Fetching>()

  constructor(clock: Clock, clusterId = 'source-cluster') {
    this.#clock = clock
    this.clusterId = clusterId
  }

  addTopic(name: string, partitions: number): FakeSourceTopic {
    const topic = {
      topicId: randomUuid(),
      partitions: Array.from({ length: partitions }, () => new FakeSourcePartition()),
      configs: new Map<string, SourceTopicConfig>(),
    }
    this.topics.set(name, topic)
    return topic
  }

  growTopic(name: string, count: number): void {
    const partitions = this.topics.get(name)?.partitions
    while (partitions && partitions.length < count) partitions.push(new FakeSourcePartition())
  }

  /** Names of what is fetched now: `topic-partition`. */
  get fetched(): string[] {
    return [...this.#fetching.keys()].sort()
  }

  /** Answers every started fetch once, as a real fetcher would; partitions that said stop are not asked again. */
  async deliver(): Promise<void> {
    for (const fetching of [...this.#fetching.values()]) {
      this.refresh()
      await this.#deliverOne(fetching)
    }
  }

  /** Reports a trouble to every partition that is fetched. */
  async trouble(trouble: FetchTrouble): Promise<void> {
    for (const [key, fetching] of [...this.#fetching])
      if ((await fetching.sink.onTrouble(trouble)) === 'stop') this.#fetching.delete(key)
  }

  /** A fetcher with a bug: it asks for this partition (`topic-partition`) no more. */
  lose(key: string): void {
    this.#fetching.delete(key)
  }

  /** The processes that used this source are dead. */
  forgetConnections(): void {
    this.#fetching.clear()
    this.openConnections = 0
  }

  open(settings: SourceConnectionSettings, onTrouble: () => void = () => {}): SourceCluster {
    this.onTrouble = onTrouble
    this.opened.push(settings)
    this.openConnections++
    const started = new Set<string>()
    return {
      describeCluster: async () => {
        this.#ask()
        return { clusterId: this.clusterId, brokers: [] }
      },
      ...fakeSurvey(this, settings.bootstrapServers),
      describeTopics: async names => this.#describe(names === 'all' ? this.#listed() : names),
      describeTopicConfigs: async names => {
        this.#ask()
        await this.configSilence
        return new Map(names.map(name => [name, this.topics.get(name)?.configs ?? new Map()]))
      },
      listOffsets: async (topic, partitions, query) => {
        await this.silence
        this.#ask()
        const answer = new Map(partitions.map(partition => [partition, this.#offset(topic, partition, query)]))
        this.afterListOffsets()
        return answer
      },
      readBatches: async (topic, partition, { offset }) => {
        this.#ask()
        return this.topics.get(topic)?.partitions[partition]?.from(offset) ?? Buffer.alloc(0)
      },
      endOfEpoch: async (topic, partition, { epoch }) => {
        this.#ask()
        const found = this.topics.get(topic)?.partitions[partition]
        if (!found) throw new SourceError('unknown-topic', `the source has no partition ${topic}-${partition}`)
        return this.#epochEnd(found, epoch)
      },
      openTransactions: async (topic, partitions) => {
        this.#ask()
        return partitions.flatMap(partition => {
          const found = this.topics.get(topic)?.partitions[partition]
          if (found?.openSince === undefined) return []
          const { openSince: startOffset, transactionalId } = found
          return [{ partition, producerId: 9n, startOffset, transactionalId }]
        })
      },
      describeAcls: async () => {
        this.#ask()
        return this.acls
      },
      ...sourceGroups(this, () => this.#ask()),
      fetcher: this.#fetcherOf(started),
      close: async () => {
        for (const key of started) this.#fetching.delete(key)
        this.openConnections--
      },
    }
  }

  #fetcherOf(started: Set<string>): SourceFetcher {
    return {
      start: (topic, partition, sink) => {
        const key = `${topic}-${partition}`
        started.add(key)
        if (!this.#fetching.has(key)) this.#fetching.set(key, { topic, partition, sink, checkedIn: -1, heldUntilMs: 0 })
      },
      stop: async (topic, partition) => {
        const key = `${topic}-${partition}`
        this.#fetching.delete(key)
        await this.slowStops.get(key)
      },
      limitRate: bytesPerSecond => {
        this.rateLimit = bytesPerSecond
      },
      heldBackMs: 0,
    }
  }

  #ask(): void {
    this.refresh()
    const failed = this.failure ?? this.questionFailure
    if (failed) throw new SourceError(failed.failure, failed.message)
  }

  /** As a real source: what may not be described is not in a list. */
  #listed(): string[] {
    return [...this.topics.keys()].filter(name => !this.unreadable.has(name))
  }

  #describe(names: readonly string[]): SourceTopic[] {
    this.#ask()
    const denied = names.find(name => this.unreadable.has(name))
    if (denied !== undefined) throw new SourceError('authorization', `the link may not describe topic ${denied}`)
    return names.flatMap(name => {
      const topic = this.topics.get(name)
      if (!topic) return []
      const partitions = topic.partitions.map(({ leaderEpoch }, partition) => ({ partition, leader: 1, leaderEpoch }))
      return [{ name, topicId: topic.topicId, internal: false, partitions }]
    })
  }

  #offset(topic: string, partition: number, { spec, isolation }: { spec: OffsetSpec; isolation: string }): number {
    const found = this.topics.get(topic)?.partitions[partition]
    if (spec === 'latest' && isolation === 'read_committed' && found?.openSince !== undefined) return found.openSince
    return (spec === 'earliest' ? found?.logStartOffset : found?.highWatermark) ?? -1
  }

  async #deliverOne(fetching: Fetching): Promise<void> {
    if (this.#clock.monotonicMs() < fetching.heldUntilMs) return
    const decision = await this.#tell(fetching)
    const key = `${fetching.topic}-${fetching.partition}`
    if (decision === 'stop' && this.#fetching.get(key) === fetching) this.#fetching.delete(key)
    if (typeof decision === 'object') fetching.heldUntilMs = this.#clock.monotonicMs() + decision.retryAfterMs
  }

  /** One answer of the source to one partition. */
  async #tell(fetching: Fetching): Promise<SinkDecision> {
    const { topic: name, partition, sink } = fetching
    const topic = this.topics.get(name)
    const source = topic?.partitions[partition]
    if (this.failure)
      return sink.onTrouble({
        kind: 'unreachable',
        failure: this.failure.failure,
        message: this.failure.message,
      })
    if (!topic) return sink.onTrouble({ kind: 'topic-missing', message: 'the topic is gone' })
    if (!source) return sink.onTrouble({ kind: 'partition-missing', message: 'the partition is gone' })
    const { lastSourceEpoch } = sink.position()
    if (fetching.checkedIn !== source.leaderEpoch && lastSourceEpoch !== undefined) {
      const decision = await sink.onEpochEnd({
        requestedEpoch: lastSourceEpoch,
        ...this.#epochEnd(source, lastSourceEpoch),
      })
      if (decision !== 'continue') return decision
    }
    fetching.checkedIn = source.leaderEpoch
    const offset = this.askedOffset ?? sink.position().offset
    if (offset < source.logStartOffset || offset > source.highWatermark) {
      const range = { earliest: source.logStartOffset, latest: source.highWatermark }
      return sink.onTrouble({ kind: 'offset-out-of-range', fetchOffset: offset, ...range })
    }
    const { highWatermark, logStartOffset, leaderEpoch } = source
    const bounds = { highWatermark, lastStableOffset: highWatermark, logStartOffset, leaderEpoch }
    const receivedMs = this.#clock.monotonicMs()
    // A copy, since a mirror log may stamp it.
    const records = Buffer.from(source.from(offset))
    return sink.onBatches({ records, receivedMs, fetchOffset: offset, ...bounds })
  }

  #epochEnd(source: FakeSourcePartition, requestedEpoch: number): EpochEnd {
    if (source.epochEnd && requestedEpoch <= source.epochEnd.epoch) return source.epochEnd
    const headers = source.batches.map(batch => readBatchHeader(batch, 0))
    const upTo = headers.filter(header => header.leaderEpoch <= requestedEpoch).at(-1)
    if (!upTo || requestedEpoch > source.leaderEpoch) return { epoch: -1, endOffset: -1 }
    return { epoch: upTo.leaderEpoch, endOffset: upTo.lastOffset + 1 }
  }
}
