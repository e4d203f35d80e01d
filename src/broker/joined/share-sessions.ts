/** Which partitions a share consumer wants of this node: later requests of its session name only what changes (KIP-932). ShareFetch of a joined node keeps them. */

import type { ClientContext } from '../../network/request-handler.ts'
import { ErrorCode } from '../../protocol/errors.ts'
import type { ShareFetchRequest } from '../../protocol/messages/78-share-fetch.ts'
import { RequestFailure } from '../handler.ts'
import type { SharePlace } from './share-answers.ts'

export const SessionEpoch = { INITIAL: 0, FINAL: -1 } as const
/** Of one connection: a client has one per group. */
const SESSIONS_MAX = 64

export interface ShareSession {
  epoch: number
  readonly places: Map<string, SharePlace>
  /** What the client was told of each place. */
  readonly told: Map<string, string>
}

/** A session lives as long as its connection. */
export class ShareSessions {
  readonly #sessions = new WeakMap<ClientContext, Map<string, ShareSession>>()

  /** The session as the request changes it; undefined for the last request of one. Throws RequestFailure. */
  next(request: ShareFetchRequest, client: ClientContext): ShareSession | undefined {
    const ofClient = this.#sessions.get(client) ?? new Map<string, ShareSession>()
    this.#sessions.set(client, ofClient)
    const { shareSessionEpoch } = request
    const key = JSON.stringify([request.groupId, request.memberId])
    const present = ofClient.get(key)
    if (shareSessionEpoch === SessionEpoch.FINAL) {
      ofClient.delete(key)
      return undefined
    }
    const session =
      shareSessionEpoch === SessionEpoch.INITIAL ? { epoch: 0, places: new Map(), told: new Map() } : present
    if (!session) throw new RequestFailure(ErrorCode.SHARE_SESSION_NOT_FOUND, 'there is no such share session')
    if (session.epoch !== shareSessionEpoch)
      throw new RequestFailure(ErrorCode.INVALID_SHARE_SESSION_EPOCH, 'the share session is at another epoch')
    if (!present && ofClient.size >= SESSIONS_MAX)
      throw new RequestFailure(ErrorCode.SHARE_SESSION_LIMIT_REACHED, 'the connection has too many share sessions')
    session.epoch = shareSessionEpoch === 0x7fff_ffff ? 1 : shareSessionEpoch + 1
    ofClient.set(key, session)
    change(session, request)
    return session
  }
}

function change(session: ShareSession, { topics, forgottenTopicsData }: ShareFetchRequest): void {
  for (const { topicId, partitions } of forgottenTopicsData)
    for (const partition of partitions) {
      session.places.delete(`${topicId}:${partition}`)
      session.told.delete(`${topicId}:${partition}`)
    }
  for (const { topicId, partitions } of topics)
    for (const { partitionIndex: partition } of partitions)
      session.places.set(`${topicId}:${partition}`, { topicId, partition })
}
