/** Passes requests about links on to the node that is the link coordinator, with the sender that this node has made sure of; any node takes them. Hooked into the application by the server. */
import { Readable } from 'node:stream'
import type { ReadableStream } from 'node:stream/web'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { messageOf } from '../core/errors.ts'
import { restError } from './errors.ts'
import { clientOf } from './login.ts'
import type { ForwardedRequest, Forwarding } from './ports.ts'

/** What is about links: their own resources, and what happens to them. */
const ABOUT_LINKS = /^\/kafka\/v3\/clusters\/[^/]+\/(?:links|events)(?:[/?:]|$)/

/** Headers by which one node vouches for the sender of a request to another. */
export const FORWARDED_HEADER = 'x-lockstep-forwarded'

/** Headers of an answer that the client gets too. */
const PASSED_BACK = ['content-type', 'retry-after', 'cache-control']

const forwarded = new WeakSet<FastifyRequest>()

/** Was the answer given by the coordinator, which has asked what the sender may? */
export const wasForwarded = (request: FastifyRequest): boolean => forwarded.has(request)

/** `isCoordinator`: does this node answer itself? */
export function forwardToCoordinator(app: FastifyInstance, forwarding: Forwarding, isCoordinator: () => boolean): void {
  app.addHook('preHandler', async (request, reply) => {
    const given = request.headers[FORWARDED_HEADER]
    if (typeof given === 'string') {
      const problem = forwarding.problemOf(given, forwardedPart(request))
      if (problem !== undefined) throw restError('LOGIN_REFUSED', { reason: problem })
      return
    }
    const coordinator = isCoordinator() || !ABOUT_LINKS.test(request.url) ? undefined : forwarding.coordinator()
    if (coordinator) return await passOn(request, reply, { forwarding, ...coordinator })
  })
}

/** The node that has signed the request; undefined = a client sent it. To be asked in a route, where the signature has been looked at. */
export function vouchingNode(request: FastifyRequest, forwarding: Forwarding): number | undefined {
  const given = request.headers[FORWARDED_HEADER]
  return typeof given === 'string' ? forwarding.nodeOf(given) : undefined
}

const forwardedPart = (request: FastifyRequest): ForwardedRequest => ({
  method: request.method,
  url: request.url,
  body: request.body === undefined || request.body === null ? '' : JSON.stringify(request.body),
})

async function passOn(
  request: FastifyRequest,
  reply: FastifyReply,
  to: { readonly forwarding: Forwarding; readonly nodeId: number; readonly origin: string },
): Promise<FastifyReply> {
  forwarded.add(request)
  const part = forwardedPart(request)
  const gone = new AbortController()
  reply.raw.once('close', () => gone.abort())
  const { accept, 'last-event-id': lastEventId } = request.headers
  try {
    const answer = await to.forwarding.send(`${to.origin}${part.url}`, {
      method: part.method,
      headers: {
        [FORWARDED_HEADER]: to.forwarding.vouch(part, { client: clientOf(request), nodeId: to.nodeId }),
        ...(part.body === '' ? {} : { 'content-type': 'application/json' }),
        ...(accept === undefined ? {} : { accept }),
        ...(typeof lastEventId === 'string' ? { 'last-event-id': lastEventId } : {}),
      },
      ...(part.body === '' ? {} : { body: part.body }),
      signal: gone.signal,
    })
    reply.status(answer.status)
    for (const name of PASSED_BACK) {
      const value = answer.headers.get(name)
      if (value !== null) reply.header(name, value)
    }
    return reply.send(answer.body ? Readable.fromWeb(answer.body as ReadableStream) : null)
  } catch (error) {
    throw restError('COORDINATOR_UNREACHABLE', { nodeId: to.nodeId, reason: messageOf(error) })
  }
}
