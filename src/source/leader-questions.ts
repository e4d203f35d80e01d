/** Questions that only the leaders of partitions answer: offsets and raw batches; the source cluster and the fetcher ask them. */
import { Backoff } from '../core/backoff.ts'
import { type Clock, sleep } from '../core/clock.ts'
import { offsetFromWire, offsetToWire } from '../core/offset.ts'
import type { Random } from '../core/random.ts'
import { type EpochEnd, type OffsetSpec, SourceError, type SourcePartition, type SourceTopic } from '../link/ports.ts'
import { ErrorCode } from '../protocol/errors.ts'
import { FetchApi } from '../protocol/messages/01-fetch.ts'
import { ListOffsetsApi } from '../protocol/messages/02-list-offsets.ts'
import { OffsetForLeaderEpochApi } from '../protocol/messages/23-offset-for-leader-epoch.ts'
import type { BrokerPool } from './broker-pool.ts'
import { fetchVersionFor } from './fetch/fetch-version.ts'
import { sourceErrorForCode, sourceErrorOf } from './source-error-of.ts'
import { partitionOf } from './topic-directory.ts'

export interface LeaderQuestionsOptions {
  readonly pool: BrokerPool
  /** Fresh metadata of one topic; rejects with SourceError (unknown-topic if there is none). */
  readonly describeTopic: (topic: string, signal?: AbortSignal) => Promise<SourceTopic>
  readonly clock: Clock
  readonly random: Random
  readonly retryBackoffMs: number
  readonly requestTimeoutMs: number
}

export interface OffsetQuery {
  readonly spec: OffsetSpec
  readonly isolation: 'read_uncommitted' | 'read_committed'
  readonly signal?: AbortSignal | undefined
}

export interface BatchRange {
  readonly offset: number
  readonly maxBytes: number
  /** See SourceCluster.readBatches; nothing here does. */
  readonly takesTurns?: boolean
  readonly signal?: AbortSignal | undefined
}

export interface EpochEndQuestion {
  readonly epoch: number
  readonly signal?: AbortSignal | undefined
}

const EARLIEST = -2n
const LATEST = -1n
/** Leaders move: so often the metadata is asked anew before a question gives up. */
const ATTEMPTS_MAX = 5
const BACKOFF_MS_MAX = 2000

type Answers<T> = Map<number, T>

/** Each question looks up the leaders, asks them in parallel, and asks again where leadership has moved. Rejects with SourceError. */
export class LeaderQuestions {
  readonly #options: LeaderQuestionsOptions

  constructor(options: LeaderQuestionsOptions) {
    this.#options = options
  }

  /** Offsets by partition. A timestamp past the end gives the end. */
  async listOffsets(topic: string, partitions: readonly number[], options: OffsetQuery): Promise<Map<number, number>> {
    const { spec, isolation, signal } = options
    const timestamp = spec === 'earliest' ? EARLIEST : spec === 'latest' ? LATEST : spec.timestampMs
    const ask = (leaderId: number, asked: readonly SourcePartition[]) =>
      this.#askOffsets({ topic, leaderId, partitions: asked, timestamp, isolation, signal })
    const found = await this.#askLeaders(topic, partitions, { ask, signal })
    const pastEnd = [...found].filter(([, offset]) => offset < 0).map(([partition]) => partition)
    if (typeof spec === 'object' && pastEnd.length > 0) {
      const ends = await this.listOffsets(topic, pastEnd, { spec: 'latest', isolation, signal })
      for (const [partition, end] of ends) found.set(partition, end)
    }
    return found
  }

  /** Raw batches of one partition from `offset` on; empty at the end. */
  async readBatches(topic: string, partition: number, range: BatchRange): Promise<Buffer> {
    const ask = (leaderId: number, asked: readonly SourcePartition[], topicId: SourceTopic['topicId']) =>
      this.#fetchBatches({ topic, topicId, brokerId: leaderId, partitions: asked, ...range })
    const answers = await this.#askLeaders(topic, [partition], { ask, signal: range.signal })
    return answers.get(partition) ?? Buffer.alloc(0)
  }

  /** Where the data of an epoch ends, by the partition's leader; -1 and -1 if it does not know the epoch. */
  async endOfEpoch(topic: string, partition: number, question: EpochEndQuestion): Promise<EpochEnd> {
    const { epoch, signal } = question
    const ask = (leaderId: number, asked: readonly SourcePartition[]) =>
      this.#askEpochEnd({ topic, leaderId, partitions: asked, epoch, signal })
    const answers = await this.#askLeaders(topic, [partition], { ask, signal })
    return answers.get(partition) ?? { epoch: -1, endOffset: -1 }
  }

  async #askLeaders<T>(
    topic: string,
    partitions: readonly number[],
    options: {
      ask: (leaderId: number, asked: readonly SourcePartition[], topicId: SourceTopic['topicId']) => Promise<Answers<T>>
      signal: AbortSignal | undefined
    },
  ): Promise<Answers<T>> {
    const { clock, random, retryBackoffMs } = this.#options
    const backoff = new Backoff({ initialMs: retryBackoffMs, maxMs: BACKOFF_MS_MAX, random })
    const answers: Answers<T> = new Map()
    let failure: SourceError | undefined
    for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
      if (attempt > 0) await sleep(clock, backoff.nextMs(), options.signal)
      options.signal?.throwIfAborted()
      const found = await this.#options.describeTopic(topic, options.signal)
      const missing = partitions.filter(partition => !answers.has(partition))
      const byLeader = Map.groupBy(
        missing.map(partition => knownPartition(found, partition)),
        partition => partition.leader,
      )
      const results = await Promise.allSettled(
        [...byLeader].map(async ([leaderId, asked]) => {
          if (leaderId < 0)
            throw new SourceError('retriable', `topic ${topic}: a partition has no leader at the moment`)
          return await options.ask(leaderId, asked, found.topicId)
        }),
      )
      options.signal?.throwIfAborted()
      for (const result of results) {
        if (result.status === 'fulfilled')
          for (const [partition, answer] of result.value) answers.set(partition, answer)
        else failure = retriableOrThrow(result.reason)
      }
      if (answers.size === partitions.length) return answers
    }
    throw failure ?? new SourceError('retriable', `the leaders of topic ${topic} keep moving`)
  }

  /** Partitions whose leader has moved are absent from the answer. */
  async #askOffsets(question: {
    topic: string
    leaderId: number
    partitions: readonly SourcePartition[]
    timestamp: bigint
    isolation: OffsetQuery['isolation']
    signal: AbortSignal | undefined
  }): Promise<Answers<number>> {
    const { topic, timestamp, signal } = question
    const connection = await this.#options.pool.questionsTo(question.leaderId, signal)
    const partitions = question.partitions.map(({ partition, leaderEpoch }) => ({
      partitionIndex: partition,
      currentLeaderEpoch: leaderEpoch,
      timestamp,
    }))
    const isolationLevel = question.isolation === 'read_committed' ? 1 : 0
    const request = { replicaId: -1, isolationLevel, topics: [{ name: topic, partitions }] }
    const { response } = await connection.send(
      ListOffsetsApi,
      { ...request, timeoutMs: this.#options.requestTimeoutMs },
      { signal },
    )
    const answers: Answers<number> = new Map()
    for (const { partitionIndex, errorCode, offset } of response.topics[0]?.partitions ?? []) {
      if (errorCode === ErrorCode.NONE) answers.set(partitionIndex, offsetFromWire(offset))
      else retriableOrThrow(sourceErrorForCode(errorCode, `listing the offsets of ${topic}-${partitionIndex}`))
    }
    return answers
  }

  async #askEpochEnd(question: {
    topic: string
    leaderId: number
    partitions: readonly SourcePartition[]
    epoch: number
    signal: AbortSignal | undefined
  }): Promise<Answers<EpochEnd>> {
    const { topic, leaderId, epoch, signal } = question
    const connection = await this.#options.pool.questionsTo(leaderId, signal)
    const partitions = question.partitions.map(({ partition, leaderEpoch: currentLeaderEpoch }) => ({
      partition,
      currentLeaderEpoch,
      leaderEpoch: epoch,
    }))
    const request = { replicaId: -1, topics: [{ topic, partitions }] }
    const { response } = await connection.send(OffsetForLeaderEpochApi, request, { signal })
    const answers: Answers<EpochEnd> = new Map()
    for (const { partition, errorCode, leaderEpoch, endOffset } of response.topics[0]?.partitions ?? []) {
      if (errorCode === ErrorCode.NONE)
        answers.set(partition, { epoch: leaderEpoch, endOffset: offsetFromWire(endOffset) })
      else retriableOrThrow(sourceErrorForCode(errorCode, `asking ${topic}-${partition} for the end of epoch ${epoch}`))
    }
    return answers
  }

  async #fetchBatches(question: {
    topic: string
    topicId: SourceTopic['topicId']
    brokerId: number
    partitions: readonly SourcePartition[]
    offset: number
    maxBytes: number
    signal?: AbortSignal | undefined
    /** Set when a leader sent us on: nobody sends us on again (KIP-392). */
    redirected?: true
  }): Promise<Answers<Buffer>> {
    const { topic, topicId, maxBytes, signal } = question
    const connection = await this.#options.pool.questionsTo(question.brokerId, signal)
    const partitions = question.partitions.map(({ partition, leaderEpoch }) => ({
      partition,
      currentLeaderEpoch: leaderEpoch,
      fetchOffset: offsetToWire(question.offset),
      partitionMaxBytes: maxBytes,
    }))
    const request = { maxWaitMs: 0, minBytes: 0, maxBytes, topics: [{ topic, topicId, partitions }] }
    const version = fetchVersionFor(connection, [topicId])
    const { response } = await connection.send(
      FetchApi,
      { ...request, forgottenTopicsData: [], replicaState: {} },
      { version, signal },
    )
    if (response.errorCode !== ErrorCode.NONE) throw sourceErrorForCode(response.errorCode, `reading topic ${topic}`)
    const answers: Answers<Buffer> = new Map()
    for (const answer of response.responses[0]?.partitions ?? []) {
      const { partitionIndex, errorCode, preferredReadReplica, records } = answer
      if (errorCode !== ErrorCode.NONE)
        retriableOrThrow(
          sourceErrorForCode(errorCode, `reading ${topic}-${partitionIndex} at offset ${question.offset}`),
        )
      else if (preferredReadReplica >= 0 && (records?.length ?? 0) === 0 && !question.redirected)
        return await this.#fetchBatches({ ...question, brokerId: preferredReadReplica, redirected: true })
      else answers.set(partitionIndex, records ?? Buffer.alloc(0))
    }
    return answers
  }
}

function knownPartition(topic: SourceTopic, partition: number): SourcePartition {
  const found = partitionOf(topic, partition)
  if (!found) throw new SourceError('unknown-topic', `topic ${topic.name} of the source has no partition ${partition}`)
  return found
}

/** Worth another look at the metadata? Otherwise throws. */
function retriableOrThrow(error: unknown): SourceError {
  const failure = sourceErrorOf(error)
  if (['retriable', 'tcp', 'timeout', 'unknown-topic'].includes(failure.failure)) return failure
  throw failure
}
