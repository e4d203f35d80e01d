/**
 * The fetch session of one slot with its broker (KIP-227): requests name only what is new, answers tell only what has changed.
 * The fetch slots build their requests and read their answers through it.
 */
import { offsetToWire } from '../../core/offset.ts'
import type { Uuid } from '../../core/uuid.ts'
import { ErrorCode } from '../../protocol/errors.ts'
import type { FetchRequestInput, FetchResponse } from '../../protocol/messages/01-fetch.ts'
import { AnswerIndex, type AskedPartition, type FetchLimits, type PartitionAnswer } from './fetch-exchange.ts'

const NO_SESSION = 0
const INITIAL_EPOCH = 0
const FINAL_EPOCH = -1
const EPOCH_MAX = 2 ** 31 - 1
/** First versions with sessions, and with topic ids. */
const [SESSION_VERSION, TOPIC_ID_VERSION] = [7, 13]

const sessionErrors: ReadonlySet<number> = new Set([
  ErrorCode.FETCH_SESSION_ID_NOT_FOUND,
  ErrorCode.INVALID_FETCH_SESSION_EPOCH,
  ErrorCode.FETCH_SESSION_TOPIC_ID_ERROR,
])

/** A partition as the broker knows it in our session. */
interface KnownPartition {
  readonly topic: string
  readonly topicId: Uuid
  readonly partition: number
  readonly leaderEpoch: number
  readonly fetchOffset: number
  /** As it was named last. */
  bytesMax: number
  /** The last answer for it, if that was a good one. */
  told: PartitionAnswer | undefined
}

type RequestTopic = FetchRequestInput['topics'][number]
type RequestPartition = RequestTopic['partitions'][number]

/** Finds the part of a partition in an answer. */
export interface SessionAnswers {
  /** The part, or what was told before where nothing has changed; undefined if the broker should have answered and did not. */
  find(asked: AskedPartition): PartitionAnswer | undefined
}

/** One request at a time; a failed request must be told by `broken`. */
export class SlotSession {
  #id = NO_SESSION
  #epoch = INITIAL_EPOCH
  #usesTopicIds = false
  #known = new Map<string, KnownPartition>()

  /** As a consumer (replica id -1), read_uncommitted. In a full request partitions keep their order: the first are filled first. */
  requestFor(asked: readonly AskedPartition[], limits: FetchLimits, version: number): FetchRequestInput {
    const usesTopicIds = version >= TOPIC_ID_VERSION
    if (usesTopicIds !== this.#usesTopicIds) this.broken()
    this.#usesTopicIds = usesTopicIds
    const before = this.#known
    this.#known = new Map(asked.map(one => [this.#keyOf(one), knownOf(one, limits)]))
    const isFull = this.#epoch <= INITIAL_EPOCH
    const named: KnownPartition[] = []
    for (const [key, known] of this.#known) {
      const earlier = isFull ? undefined : before.get(key)
      known.told = earlier?.told
      if (earlier && isSame(earlier, known)) known.bytesMax = earlier.bytesMax
      else named.push(known)
    }
    return {
      replicaState: {},
      maxWaitMs: limits.waitMs,
      minBytes: limits.minBytes,
      maxBytes: limits.responseBytesMax,
      isolationLevel: 0,
      sessionId: this.#id,
      sessionEpoch: version >= SESSION_VERSION ? this.#epoch : FINAL_EPOCH,
      topics: byTopic(named),
      forgottenTopicsData: isFull ? [] : forgotten(before, this.#known),
    }
  }

  /** Did the broker lose our session? Then the next request starts another one. */
  isLost(response: FetchResponse): boolean {
    if (this.#epoch <= INITIAL_EPOCH || !sessionErrors.has(response.errorCode)) return false
    this.broken()
    if (response.errorCode === ErrorCode.FETCH_SESSION_ID_NOT_FOUND) this.#id = NO_SESSION
    return true
  }

  /** The parts of a good answer to the last request. */
  answersOf(response: FetchResponse, version: number, asked: readonly AskedPartition[]): SessionAnswers {
    const index = new AnswerIndex(response, version)
    const isIncremental = this.#epoch > INITIAL_EPOCH
    this.#id = response.sessionId
    this.#epoch = this.#id === NO_SESSION ? INITIAL_EPOCH : nextEpoch(this.#epoch)
    // All of them now: what the broker has told it does not tell again, whether anybody here still wants it or not.
    const parts = new Map(asked.map(one => [one, this.#partOf(one, index.find(one), isIncremental)]))
    return { find: one => parts.get(one) }
  }

  /** It is not known what the broker made of the last request: the next one starts anew and ends the old session. */
  broken(): void {
    this.#epoch = INITIAL_EPOCH
    this.#known.clear()
  }

  #partOf(asked: AskedPartition, part: PartitionAnswer | undefined, isIncremental: boolean) {
    const known = this.#known.get(this.#keyOf(asked))
    if (!part) return isIncremental ? known?.told : undefined
    if (known) known.told = part.errorCode === ErrorCode.NONE ? withoutNews(part) : undefined
    return part
  }

  #keyOf({ partition, route }: AskedPartition): string {
    return `${this.#usesTopicIds ? route.topicId : partition.topic}:${partition.partition}`
  }
}

const nextEpoch = (epoch: number): number => (epoch === EPOCH_MAX ? 1 : epoch + 1)

const knownOf = ({ partition, route, fetchOffset }: AskedPartition, limits: FetchLimits): KnownPartition => ({
  topic: partition.topic,
  topicId: route.topicId,
  partition: partition.partition,
  leaderEpoch: route.leaderEpoch,
  fetchOffset,
  bytesMax: limits.partitionBytesMax,
  told: undefined,
})

/** A limit that has not changed much is not worth naming the partition: limits follow the number of partitions in a fetch. */
const isSame = (before: KnownPartition, now: KnownPartition): boolean =>
  before.fetchOffset === now.fetchOffset &&
  before.leaderEpoch === now.leaderEpoch &&
  now.bytesMax >= before.bytesMax / 2 &&
  now.bytesMax <= before.bytesMax * 2

/** What "nothing has changed" will mean from now on. The bytes of the answer are not kept. */
const withoutNews = (part: PartitionAnswer): PartitionAnswer => ({
  ...part,
  records: null,
  abortedTransactions: null,
  preferredReadReplica: -1,
})

/** Consecutive partitions of a topic share an entry; a topic may have several. */
function byTopic(partitions: readonly KnownPartition[]): RequestTopic[] {
  const topics: { topic: string; topicId: Uuid; partitions: RequestPartition[] }[] = []
  for (const { topic, topicId, partition, leaderEpoch, fetchOffset, bytesMax } of partitions) {
    let last = topics.at(-1)
    if (last?.topic !== topic || last.topicId !== topicId) {
      last = { topic, topicId, partitions: [] }
      topics.push(last)
    }
    last.partitions.push({
      partition,
      currentLeaderEpoch: leaderEpoch,
      fetchOffset: offsetToWire(fetchOffset),
      partitionMaxBytes: bytesMax,
    })
  }
  return topics
}

function forgotten(before: ReadonlyMap<string, KnownPartition>, now: ReadonlyMap<string, KnownPartition>) {
  const gone = [...before].flatMap(([key, known]) => (now.has(key) ? [] : [known]))
  return byTopic(gone).map(({ topic, topicId, partitions }) => ({
    topic,
    topicId,
    partitions: partitions.map(({ partition }) => partition),
  }))
}
