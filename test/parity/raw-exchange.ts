// One raw request to a node and its decoded answer, on a connection of its own; the parity cases ask both nodes through it.
import { connect } from 'node:net'
import type { Uuid } from '../../src/core/uuid.ts'
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
  /** How long an answer may take; default: 3 s. */
  readonly patienceMs?: number
}

/** How long a node may take before it counts as silent, as it should be for acks=0. */
const SILENCE_MS = 3000

/** The answer, or how there was none. */
export async function ask<Q, QI, R, RI>(
  peer: Peer,
  { api, request, version, clientId = 'parity', patienceMs = SILENCE_MS }: Question<Q, QI, R, RI>,
): Promise<R | 'closed' | 'silent'> {
  const answer = await exchangeFrames(peer.port, requestFrame(api, request, { version, clientId }), patienceMs)
  return typeof answer === 'string' ? answer : answerOf(api, answer, version)
}

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
