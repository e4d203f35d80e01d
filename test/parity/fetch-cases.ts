// Fetch as both nodes must answer it: versions, limits, epochs, and sessions from their first answer to their end.
import { type Uuid, ZERO_UUID } from '../../src/core/uuid.ts'
import { FetchApi, type FetchRequestInput, type FetchResponse } from '../../src/protocol/messages/01-fetch.ts'
import { type ParityCase, parityCase, sortedBy, topicIdOf, UNKNOWN_ID } from './parity-case.ts'
import type { Peer } from './raw-exchange.ts'
import { topicIsCreated, topicIsDeleted } from './topic-steps.ts'

type Partition = FetchRequestInput['topics'][number]['partitions'][number]

interface Fetched extends Partial<Omit<Partition, 'fetchOffset'>> {
  readonly version?: number
  readonly offset?: number
  readonly topicId?: Uuid
  readonly isolation?: number
  readonly bytesMax?: number
  readonly minBytes?: number
}

const show = ({ errorCode, sessionId, responses }: FetchResponse) => ({
  errorCode,
  session: sessionId !== 0,
  topics: responses.map(({ topic, partitions }) => ({ topic, partitions })),
})

const fields = ({ version = 12, partition = 0, ...asked }: Fetched): Partition => ({
  partition,
  fetchOffset: BigInt(asked.offset ?? 0),
  partitionMaxBytes: asked.partitionMaxBytes ?? 1 << 20,
  ...(version >= 9 ? { currentLeaderEpoch: asked.currentLeaderEpoch ?? -1 } : {}),
  ...(version >= 12 ? { lastFetchedEpoch: asked.lastFetchedEpoch ?? -1 } : {}),
})

function fetchCase(what: string, topic: string, options: Fetched = {}): ParityCase {
  const { version = 12 } = options
  return parityCase(what, FetchApi, {
    version,
    show,
    request: peer => ({
      maxWaitMs: 100,
      minBytes: options.minBytes ?? 1,
      maxBytes: options.bytesMax ?? 1 << 20,
      isolationLevel: options.isolation ?? 0,
      topics: [{ ...named(peer, { topic, version, topicId: options.topicId }), partitions: [fields(options)] }],
      forgottenTopicsData: [],
    }),
  })
}

function named(peer: Peer, of: { topic: string; version: number; topicId?: Uuid | undefined }) {
  const byId = of.version >= 13
  return {
    topic: byId ? '' : of.topic,
    topicId: byId ? (of.topicId ?? topicIdOf(peer, of.topic)) : ZERO_UUID,
  }
}

/** Sessions of each peer: id and epoch as the answers gave them. */
class Session {
  readonly #ids = new Map<string, number>()

  /** The next request; the epoch is said by the case, so that it can be wrong. */
  step(what: string, step: SessionStep): ParityCase {
    const version = step.version ?? 13
    return parityCase(`session: ${what}`, FetchApi, {
      version,
      request: peer => ({
        maxWaitMs: 0,
        minBytes: 0,
        maxBytes: 1 << 20,
        isolationLevel: 0,
        sessionId: step.sessionId ?? this.#ids.get(peer.name) ?? 0,
        sessionEpoch: step.epoch,
        topics: Object.entries(step.want ?? {}).map(([topic, offset]) => ({
          ...named(peer, { topic, version }),
          partitions: [fields({ version, offset })],
        })),
        forgottenTopicsData: (step.forget ?? []).map(topic => ({
          ...named(peer, { topic, version }),
          partitions: [0],
        })),
      }),
      show: (answer, peer) => {
        if (answer.sessionId !== 0) this.#ids.set(peer.name, answer.sessionId)
        const names = new Map([...peer.topicIds].map(([name, id]) => [id, name]))
        const topics = answer.responses.map(({ topic, topicId, partitions }) => ({
          topic: topic || (names.get(topicId) ?? 'unknown'),
          partitions,
        }))
        return { ...show(answer), topics: sortedBy(topics, ({ topic }) => topic) }
      },
    })
  }
}

interface SessionStep {
  readonly epoch: number
  readonly want?: Readonly<Record<string, number>>
  readonly forget?: readonly string[]
  readonly version?: number
  readonly sessionId?: number
}

const both = { 'session-a': 0, 'session-b': 0 }
const [byId, byName, oldId, oldName] = [new Session(), new Session(), new Session(), new Session()]

/** In this order; the topics of the sessions are empty, so that answers do not depend on time. */
const sessions: readonly ParityCase[] = [
  byId.step('a full fetch starts one', { epoch: 0, want: both }),
  byId.step('nothing new', { epoch: 1 }),
  byId.step('an old epoch', { epoch: 1 }),
  byId.step('an epoch of the future', { epoch: 7 }),
  byId.step('an unknown one', { epoch: 2, sessionId: 77 }),
  byId.step('by name instead of id', { epoch: 2, version: 12 }),
  byId.step('a partition that is out of range', { epoch: 2, want: { 'session-a': 9 } }),
  byId.step('still out of range', { epoch: 3 }),
  byId.step('in range again', { epoch: 4, want: { 'session-a': 0 } }),
  byId.step('nothing new after an error', { epoch: 5 }),
  byId.step('a partition is forgotten', { epoch: 6, forget: ['session-a'] }),
  byId.step('an unknown topic joins', { epoch: 7, want: { nowhere: 0 } }),
  byId.step('the unknown topic is told again', { epoch: 8 }),
  byId.step('all partitions are forgotten', { epoch: 9, forget: ['session-b', 'nowhere'] }),
  byId.step('it has ended', { epoch: 10 }),
  byName.step('one by name', { epoch: 0, want: both, version: 12 }),
  byName.step('by id instead of name', { epoch: 1, version: 13 }),
  byName.step('an unknown name joins', { epoch: 1, want: { nowhere: 0 }, version: 12 }),
  byName.step('a full fetch without one ends it', { epoch: -1, want: both, version: 12 }),
  byName.step('the ended one', { epoch: 2, version: 12 }),
  new Session().step('epoch without session', { epoch: 3, sessionId: 0 }),
  new Session().step('one without partitions', { epoch: 0 }),
  oldId.step('by id, before the topic goes', { epoch: 0, want: both }),
  oldName.step('by name, before the topic goes', { epoch: 0, want: both, version: 12 }),
  topicIsDeleted('session-a'),
  oldId.step('by id, the topic is gone', { epoch: 1 }),
  oldName.step('by name, the topic is gone', { epoch: 1, version: 12 }),
  topicIsCreated('session-a'),
  oldId.step('by id, another topic has the name', { epoch: 2 }),
  oldName.step('by name, another topic has the name', { epoch: 2, version: 12 }),
]

export const fetchCases: readonly ParityCase[] = [
  ...[4, 5, 7, 9, 11, 12, 13, 15, 16, 17, 18].map(version => fetchCase(`version ${version}`, 'p', { version })),
  fetchCase('an empty topic', 'small'),
  fetchCase('above the end', 'p', { offset: 9999 }),
  fetchCase('below zero', 'p', { offset: -5 }),
  fetchCase('from inside a batch', 'p', { offset: 1 }),
  fetchCase('unknown topic', 'nowhere'),
  fetchCase('unknown partition', 'p', { partition: 8 }),
  fetchCase('unknown topic id', 'p', { version: 13, topicId: UNKNOWN_ID }),
  fetchCase('read_committed', 'p', { isolation: 1 }),
  fetchCase('a partition limit below one batch', 'p', { partitionMaxBytes: 10 }),
  fetchCase('a limit below one batch', 'p', { bytesMax: 10 }),
  fetchCase('a negative partition limit', 'p', { partitionMaxBytes: -1 }),
  fetchCase('the present leader epoch', 'p', { currentLeaderEpoch: 0 }),
  fetchCase('a newer leader epoch', 'p', { currentLeaderEpoch: 99 }),
  fetchCase('the last epoch', 'p', { lastFetchedEpoch: 0, offset: 2 }),
  fetchCase('the last epoch beyond the end', 'small', { lastFetchedEpoch: 0, offset: 5 }),
  fetchCase('an unknown last epoch', 'p', { lastFetchedEpoch: 9, offset: 2 }),
  ...sessions,
]
