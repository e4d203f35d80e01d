/** What is known about the topics that are being fetched: a metadata cache that refreshes itself; the fetcher routes by it. */
import { Backoff } from '../core/backoff.ts'
import type { Clock, Timer } from '../core/clock.ts'
import type { Random } from '../core/random.ts'
import { ZERO_UUID } from '../core/uuid.ts'
import type { SourceError, SourcePartition, SourceTopic } from '../link/ports.ts'
import type { MetadataAnswer, TopicAnswer } from './metadata-question.ts'
import { sourceErrorOf } from './source-error-of.ts'

export interface TopicDirectoryOptions {
  /** Asks the source about these topics. */
  readonly ask: (names: readonly string[]) => Promise<MetadataAnswer>
  readonly clock: Clock
  readonly random: Random
  /** Unasked-for refresh after this long. */
  readonly maxAgeMs: number
  /** Least time between refreshes, and first wait after a failed one. */
  readonly retryBackoffMs: number
}

/** Called after every refresh. Level-triggered: look at `find` again. */
export interface DirectoryListener {
  onUpdate(): void
  onFailure(error: SourceError): void
}

const FAILURE_BACKOFF_MS_MAX = 10_000

/** Runs at most one refresh at a time, and none while nothing is tracked. */
export class TopicDirectory {
  readonly #options: TopicDirectoryOptions
  readonly #listener: DirectoryListener
  readonly #backoff: Backoff
  /** Fetched partitions per topic. */
  readonly #tracked = new Map<string, number>()
  readonly #answers = new Map<string, TopicAnswer>()
  #timer: Timer | undefined
  #timerDueMs = Number.POSITIVE_INFINITY
  /** Least time between questions, longer after failures. */
  #notBeforeMs = Number.NEGATIVE_INFINITY
  #asking = false
  /** A refresh was wished for while one was under way, which may have been answered before the reason arose. */
  #again = false
  #closed = false

  constructor(options: TopicDirectoryOptions, listener: DirectoryListener) {
    this.#options = options
    this.#listener = listener
    const bounds = { initialMs: options.retryBackoffMs, maxMs: FAILURE_BACKOFF_MS_MAX }
    this.#backoff = new Backoff({ ...bounds, random: options.random })
  }

  /** Counts one user of the topic; the first causes a refresh. */
  track(topic: string): void {
    const users = this.#tracked.get(topic) ?? 0
    this.#tracked.set(topic, users + 1)
    if (users === 0) this.refreshSoon()
  }

  untrack(topic: string): void {
    const users = this.#tracked.get(topic) ?? 0
    if (users > 1) this.#tracked.set(topic, users - 1)
    else {
      this.#tracked.delete(topic)
      this.#answers.delete(topic)
    }
  }

  /** The latest answer about a tracked topic; undefined before the first. */
  find(topic: string): TopicAnswer | undefined {
    return this.#answers.get(topic)
  }

  /** Asks as soon as the least time since the last question allows. */
  refreshSoon(): void {
    if (this.#asking) this.#again = true
    else this.#schedule(this.#notBeforeMs)
  }

  /**
   * The next answer about the topic is taken as it is: what is known has led nowhere for long (a source that was restored
   * from a copy has lower epochs than before).
   */
  forget(topic: string): void {
    this.#answers.delete(topic)
  }

  /** Takes an answer that somebody else asked for. */
  learn(answer: MetadataAnswer): void {
    for (const [name, topic] of answer.topics)
      if (this.#tracked.has(name)) this.#answers.set(name, withoutOlderEpochs(topic, this.#answers.get(name)))
  }

  close(): void {
    this.#closed = true
    this.#timer?.cancel()
  }

  #schedule(dueMs: number): void {
    if (this.#closed || dueMs >= this.#timerDueMs) return
    this.#timer?.cancel()
    this.#timerDueMs = dueMs
    const { clock } = this.#options
    this.#timer = clock.after(Math.max(0, dueMs - clock.monotonicMs()), () => {
      this.#timerDueMs = Number.POSITIVE_INFINITY
      void this.#refresh()
    })
  }

  /** Never rejects. */
  async #refresh(): Promise<void> {
    const names = [...this.#tracked.keys()]
    if (names.length === 0) return
    const { clock, maxAgeMs, retryBackoffMs } = this.#options
    this.#asking = true
    this.#again = false
    let failure: SourceError | undefined
    try {
      this.learn(await this.#options.ask(names))
      this.#backoff.reset()
    } catch (error) {
      failure = sourceErrorOf(error)
    }
    this.#asking = false
    if (this.#closed) return
    const askedNew = [...this.#tracked.keys()].some(name => !names.includes(name))
    this.#notBeforeMs = clock.monotonicMs() + (failure ? this.#backoff.nextMs() : retryBackoffMs)
    if (failure || this.#again || askedNew) this.#schedule(this.#notBeforeMs)
    else this.#schedule(clock.monotonicMs() + maxAgeMs)
    if (failure) this.#listener.onFailure(failure)
    else this.#listener.onUpdate()
  }
}

/** A broker that lags behind may tell an older leader: what is known of the same topic with a higher epoch stays. */
function withoutOlderEpochs(answer: TopicAnswer, known: TopicAnswer | undefined): TopicAnswer {
  if (answer.kind !== 'present' || known?.kind !== 'present') return answer
  if (answer.topic.topicId !== known.topic.topicId || answer.topic.topicId === ZERO_UUID) return answer
  const before = new Map(known.topic.partitions.map(partition => [partition.partition, partition]))
  const newer = (partition: SourcePartition): SourcePartition => {
    const old = before.get(partition.partition)
    return old && old.leaderEpoch > partition.leaderEpoch ? old : partition
  }
  return { kind: 'present', topic: { ...answer.topic, partitions: answer.topic.partitions.map(newer) } }
}

/** A partition of the topic, if it has it. Partitions are sorted, and usually complete. */
export function partitionOf(topic: SourceTopic, partition: number): SourcePartition | undefined {
  const guess = topic.partitions[partition]
  return guess?.partition === partition ? guess : topic.partitions.find(found => found.partition === partition)
}
