// Connections that logged in with SASL/PLAIN, one for each node and user, for raw requests; the authorization cases ask through them.
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { SaslHandshakeApi } from '../../../src/protocol/messages/17-sasl-handshake.ts'
import { SaslAuthenticateApi } from '../../../src/protocol/messages/36-sasl-authenticate.ts'
import { answerOf, requestFrame } from '../../raw-request.ts'
import type { Peer, Question } from '../raw-exchange.ts'

/** How long a node may take to answer. */
const ANSWER_MS_MAX = 60_000

/** A node that each user asks through a connection of its own. */
export interface AccessPeer extends Peer {
  /** The answer, or that the node closed the connection. One question at a time per user. */
  askAs<Q, QI, R, RI>(user: string, question: Question<Q, QI, R, RI>): Promise<R | 'closed'>
}

/** A node that asks for a login; the password of each user is the name. */
export class SecuredPeer implements AccessPeer {
  readonly name: Peer['name']
  readonly port: number
  readonly topicIds: Peer['topicIds'] = new Map()
  readonly #sockets = new Map<string, Socket>()

  constructor(name: Peer['name'], bootstrap: string) {
    this.name = name
    this.port = Number(bootstrap.split(':').at(-1))
  }

  async askAs<Q, QI, R, RI>(user: string, { api, request, version, clientId = 'parity' }: Question<Q, QI, R, RI>) {
    const socket = await this.#loggedIn(user)
    const answer = await exchange(socket, requestFrame(api, request, { version, clientId }))
    if (answer !== undefined) return answerOf(api, answer, version)
    this.#sockets.delete(user)
    return 'closed'
  }

  close(): void {
    for (const socket of this.#sockets.values()) socket.destroy()
  }

  async #loggedIn(user: string): Promise<Socket> {
    const known = this.#sockets.get(user)
    if (known && !known.destroyed) return known
    const socket = connect(this.port, '127.0.0.1')
    socket.on('error', () => {})
    await once(socket, 'connect')
    await exchange(socket, requestFrame(SaslHandshakeApi, { mechanism: 'PLAIN' }, { version: 1 }))
    const authBytes = Buffer.from(`\0${user}\0${user}`)
    const frame = await exchange(socket, requestFrame(SaslAuthenticateApi, { authBytes }, { version: 2 }))
    const code = frame === undefined ? 'closed' : answerOf(SaslAuthenticateApi, frame, 2).errorCode
    if (code !== 0) throw new Error(`${this.name} does not let ${user} in: ${code}`)
    this.#sockets.set(user, socket)
    return socket
  }
}

/** The next frame without its size, or undefined if the connection ends first. */
function exchange(socket: Socket, request: Buffer): Promise<Buffer | undefined> {
  return new Promise((resolve, reject) => {
    let received = Buffer.alloc(0)
    const end = (settle: () => void) => {
      clearTimeout(timer)
      socket.off('data', onData)
      socket.off('close', onClose)
      settle()
    }
    const onData = (chunk: Buffer) => {
      received = Buffer.concat([received, chunk])
      const size = received.length < 4 ? Number.POSITIVE_INFINITY : received.readInt32BE(0)
      if (received.length >= 4 + size) end(() => resolve(received.subarray(4, 4 + size)))
    }
    const onClose = () => end(() => resolve(undefined))
    const timer = setTimeout(() => end(() => reject(new Error('no answer'))), ANSWER_MS_MAX)
    socket.on('data', onData)
    socket.on('close', onClose)
    if (socket.destroyed) return onClose()
    socket.write(request)
  })
}
