// One raw request to a node and its decoded answer, on a connection of its own; the parity cases ask both nodes through it.
import { connect } from 'node:net'
import type { Uuid } from '../../src/core/uuid.ts'
import { ApiVersionsApi } from '../../src/protocol/messages/18-api-versions.ts'
import type { Api } from '../../src/protocol/schema/message.ts'
import { answerOf, requestFrame } from '../raw-request.ts'

/** One of the two nodes that are compared. */
export interface Peer {
  readonly name: 'kafka' | 'lockstep'
  readonly port: number
  /** Ids of its topics by name. */
  readonly topicIds: Map<string, Uuid>
}

export interface Question<Q, QI, R, RI> {
  readonly api: Api<Q, QI, R, RI>
  readonly request: QI
  readonly version: number
  readonly clientId?: string | undefined
  /** How long an answer may take; default: 60 s. */
  readonly patienceMs?: number | undefined
}

/** How long a node may take before it counts as silent. */
const ANSWER_MS_MAX = 60_000
const BEHIND = 8

/** The answer, or how there was none. */
export async function ask<Q, QI, R, RI>(
  peer: Peer,
  { api, request, version, clientId = 'parity', patienceMs = ANSWER_MS_MAX }: Question<Q, QI, R, RI>,
): Promise<R | 'closed' | 'silent'> {
  const frames = [requestFrame(api, request, { version, clientId })]
  // Answers come in order: if that to the request behind it comes first, there is none to this one.
  if (isUnanswered(request)) frames.push(requestFrame(ApiVersionsApi, {}, { version: 0, correlationId: BEHIND }))
  const answer = await exchangeFrames(peer.port, Buffer.concat(frames), patienceMs)
  if (typeof answer === 'string') return answer
  return answer.readInt32BE(0) === BEHIND ? 'silent' : answerOf(api, answer, version)
}

/** Produce with acks=0. */
const isUnanswered = (request: unknown): boolean =>
  typeof request === 'object' && request !== null && 'acks' in request && request.acks === 0

function exchangeFrames(port: number, request: Buffer, patienceMs: number): Promise<Buffer | 'closed' | 'silent'> {
  return new Promise(resolve => {
    let received = Buffer.alloc(0)
    const socket = connect(port, '127.0.0.1', () => socket.write(request))
    const timer = setTimeout(() => end('silent'), patienceMs)
    const end = (result: Buffer | 'closed' | 'silent') => {
      clearTimeout(timer)
      socket.destroy()
      resolve(result)
    }
    socket.on('data', chunk => {
      received = Buffer.concat([received, chunk])
      const size = received.length < 4 ? Number.POSITIVE_INFINITY : received.readInt32BE(0)
      if (received.length >= 4 + size) end(received.subarray(4, 4 + size))
    })
    socket.on('close', () => end('closed'))
    socket.on('error', () => end('closed'))
  })
}
