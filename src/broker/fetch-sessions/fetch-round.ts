/** One Fetch request seen through its session, if it has one: which partitions are read, and what of their answers is told; the Fetch handler runs it. */
import { ErrorCode } from '../../protocol/errors.ts'
import type { FetchRequest } from '../../protocol/messages/01-fetch.ts'
import { type FetchSession, nextEpoch } from './fetch-session.ts'
import type { SessionCache } from './session-cache.ts'
import { type PartitionAnswer, SessionPartition, type WantedPartition, wantedPartitions } from './session-partition.ts'

const INITIAL_EPOCH = 0
const FINAL_EPOCH = -1
export const NO_SESSION = 0
/** From this version on topics have ids. */
export const TOPIC_ID_VERSION = 13

/** One partition with its answer. */
export interface AnsweredPartition {
  readonly wanted: WantedPartition
  readonly answer: PartitionAnswer
}

/** What becomes of the answers. */
export interface ToldAnswers {
  readonly errorCode: number
  readonly sessionId: number
  readonly told: readonly AnsweredPartition[]
}

export interface FetchRound {
  /** In the order in which they are read. */
  readonly wanted: readonly WantedPartition[]
  /** Given an answer for each wanted partition; to be called once. */
  conclude(answers: readonly AnsweredPartition[]): ToldAnswers
  /** In place of `conclude`: nothing is told, the client is over its quota and asks again (KIP-219). */
  postpone(): ToldAnswers
}

/** The round, or the error of the whole request. */
export function beginRound(
  cache: SessionCache,
  request: FetchRequest,
  of: { readonly version: number; readonly fromFollower: boolean },
): FetchRound | { readonly errorCode: number } {
  const { sessionId, sessionEpoch } = request
  if (sessionEpoch === INITIAL_EPOCH || sessionEpoch === FINAL_EPOCH) {
    // A full fetch ends the session that it names.
    if (sessionId !== NO_SESSION) cache.remove(sessionId)
    const wanted = wantedPartitions(request)
    return sessionEpoch === FINAL_EPOCH ? withoutSession(wanted) : firstOfSession(cache, wanted, of)
  }
  const session = cache.find(sessionId)
  if (!session) return { errorCode: ErrorCode.FETCH_SESSION_ID_NOT_FOUND }
  if (session.epoch !== sessionEpoch) return { errorCode: ErrorCode.INVALID_FETCH_SESSION_EPOCH }
  if (session.usesTopicIds !== of.version >= TOPIC_ID_VERSION)
    return { errorCode: ErrorCode.FETCH_SESSION_TOPIC_ID_ERROR }
  const wanted = wantedPartitions(request)
  session.update(wanted, forgottenIn(request))
  if (session.size === 0) {
    cache.remove(session.id)
    return withoutSession(wanted)
  }
  cache.touch(session)
  session.epoch = nextEpoch(session.epoch)
  return nextOfSession(session)
}

const forgottenIn = (request: FetchRequest) =>
  request.forgottenTopicsData.flatMap(({ topic, topicId, partitions }) =>
    partitions.map(partition => ({ topic, topicId, partition })),
  )

const withoutSession = (wanted: ReadonlyMap<string, WantedPartition>): FetchRound => ({
  wanted: [...wanted.values()],
  conclude: answers => ({ errorCode: ErrorCode.NONE, sessionId: NO_SESSION, told: answers }),
  postpone: nothingWithoutSession,
})

/** The client takes it for an answer without a session, and begins anew. */
const nothingWithoutSession = (): ToldAnswers => ({ errorCode: ErrorCode.NONE, sessionId: NO_SESSION, told: [] })

function firstOfSession(
  cache: SessionCache,
  wanted: ReadonlyMap<string, WantedPartition>,
  of: { readonly version: number; readonly fromFollower: boolean },
): FetchRound {
  const partitions = Array.from(wanted.values(), one => new SessionPartition(one))
  return {
    wanted: partitions,
    conclude(answers) {
      const usesTopicIds = of.version >= TOPIC_ID_VERSION
      const session = cache.create({ privileged: of.fromFollower, usesTopicIds, partitions })
      for (const [index, { answer }] of answers.entries()) partitions[index]?.told(answer)
      return { errorCode: ErrorCode.NONE, sessionId: session?.id ?? NO_SESSION, told: answers }
    },
    postpone: nothingWithoutSession,
  }
}

/** Only what is news is told, and who brought data comes last next time. */
function nextOfSession(session: FetchSession): FetchRound {
  const partitions = [...session.partitions]
  const expectedEpoch = session.epoch
  // Another connection may use the session meanwhile.
  const errorCode = () => (session.epoch === expectedEpoch ? ErrorCode.NONE : ErrorCode.INVALID_FETCH_SESSION_EPOCH)
  return {
    wanted: partitions,
    postpone: () => ({ errorCode: errorCode(), sessionId: session.id, told: [] }),
    conclude(answers) {
      if (errorCode() !== ErrorCode.NONE) return { errorCode: errorCode(), sessionId: session.id, told: [] }
      const told = answers.filter(({ answer }, index) => {
        const partition = partitions[index]
        if (!partition?.tells(answer)) return false
        if ((answer.records?.length ?? 0) > 0) session.moveToEnd(partition)
        return true
      })
      return { errorCode: ErrorCode.NONE, sessionId: session.id, told }
    },
  }
}
