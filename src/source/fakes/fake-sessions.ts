/** The fake cluster's fetch sessions: just enough of KIP-227 to find a client that gets it wrong; fake-fetch.ts asks it. */
import { ErrorCode } from '../../protocol/errors.ts'
import type { FetchRequest, FetchResponseInput } from '../../protocol/messages/01-fetch.ts'

type Topic = FetchRequest['topics'][number]
type TopicAnswer = FetchResponseInput['responses'][number]

interface FakeSession {
  readonly brokerId: number
  readonly byId: boolean
  epoch: number
  readonly wanted: Map<string, Topic>
  /** What was told last, without records. */
  readonly told: Map<string, string>
}

export interface FakeRound {
  /** One partition per entry. */
  readonly topics: Topic[]
  conclude(responses: TopicAnswer[]): { readonly sessionId: number; readonly responses: TopicAnswer[] }
}

const keyOf = (topic: { readonly topic: string; readonly topicId: string }, partition: number | undefined): string =>
  `${topic.topic}/${topic.topicId}/${partition}`

const onePerEntry = (topics: readonly Topic[]): Topic[] =>
  topics.flatMap(topic => topic.partitions.map(partition => ({ ...topic, partitions: [partition] })))

export class FakeSessions {
  enabled = true
  /** Partitions named by requests, forgotten ones too. */
  named = 0
  readonly #sessions = new Map<number, FakeSession>()
  #lastId = 0

  get count(): number {
    return this.#sessions.size
  }

  /** As after the eviction of all, or a restart of the brokers. */
  forget(): void {
    this.#sessions.clear()
  }

  /** Somebody else used every session meanwhile. */
  skipEpochs(): void {
    for (const session of this.#sessions.values()) session.epoch++
  }

  begin(brokerId: number, request: FetchRequest, version: number): FakeRound | { readonly errorCode: number } {
    const topics = onePerEntry(request.topics)
    this.named += topics.length + request.forgottenTopicsData.reduce((sum, topic) => sum + topic.partitions.length, 0)
    if (request.sessionEpoch <= 0) {
      this.#sessions.delete(request.sessionId)
      const session = request.sessionEpoch === 0 && this.enabled ? this.#create(brokerId, version) : 0
      return this.#round(session, topics)
    }
    const session = this.#sessions.get(request.sessionId)
    if (session?.brokerId !== brokerId) return { errorCode: ErrorCode.FETCH_SESSION_ID_NOT_FOUND }
    if (session.epoch !== request.sessionEpoch) return { errorCode: ErrorCode.INVALID_FETCH_SESSION_EPOCH }
    if (session.byId !== version >= 13) return { errorCode: ErrorCode.FETCH_SESSION_TOPIC_ID_ERROR }
    session.epoch++
    for (const topic of request.forgottenTopicsData)
      for (const partition of topic.partitions) {
        session.wanted.delete(keyOf(topic, partition))
        session.told.delete(keyOf(topic, partition))
      }
    return this.#round(request.sessionId, topics)
  }

  #create(brokerId: number, version: number): number {
    this.#lastId++
    const session = { brokerId, byId: version >= 13, epoch: 1, wanted: new Map(), told: new Map() }
    this.#sessions.set(this.#lastId, session)
    return this.#lastId
  }

  #round(sessionId: number, topics: Topic[]): FakeRound {
    const session = this.#sessions.get(sessionId)
    if (!session) return { topics, conclude: responses => ({ sessionId: 0, responses }) }
    for (const topic of topics) session.wanted.set(keyOf(topic, topic.partitions[0]?.partition), topic)
    return {
      topics: [...session.wanted.values()],
      conclude: responses => ({ sessionId, responses: responses.filter(answer => isNews(session, answer)) }),
    }
  }
}

function isNews(session: FakeSession, answer: TopicAnswer): boolean {
  const [part] = answer.partitions
  const key = keyOf({ topic: answer.topic ?? '', topicId: answer.topicId ?? '' }, part?.partitionIndex)
  const told = `${part?.highWatermark} ${part?.logStartOffset} ${part?.errorCode}`
  const isSame = session.told.get(key) === told
  session.told.set(key, told)
  return !isSame || (part?.records?.length ?? 0) > 0 || part?.errorCode !== 0 || (part?.preferredReadReplica ?? -1) >= 0
}
