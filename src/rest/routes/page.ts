/** The operator's page at `/`: files that were built before, told apart by their content; everything it shows it asks of the API. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import type { RestApp, RestContext } from '../context.ts'
import { PAGE_ASSETS } from '../login.ts'
import type { PageFile } from '../ports.ts'

/** The page sends it with every request: it asks for user and password itself. */
export const PAGE_HEADER = 'x-lockstep-page'

/** No other host, no code and no style but from files of this node, in nobody's frame. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "form-action 'none'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ')

const HEADERS = {
  'content-security-policy': CONTENT_SECURITY_POLICY,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=()',
}

const NOT_BUILT =
  'The page of this node was not built. "npm start", "npm test" and "./lockstep server" build it; the API is at /openapi.json.\n'

export function pageRoutes(app: RestApp, { page }: RestContext): void {
  app.get('/', { schema: { summary: "The operator's page", tags: ['node'] } }, (request, reply) => {
    const file = page?.get('index.html')
    if (!file) return reply.status(404).type('text/plain; charset=utf-8').send(NOT_BUILT)
    // It names its files by their content: a new version is seen at once, and the rest comes from the browser's store.
    return sendFile(file, { request, reply, caching: 'no-cache' })
  })

  app.get(
    `${PAGE_ASSETS}:name`,
    {
      schema: {
        summary: "A file of the operator's page",
        tags: ['node'],
        params: Type.Object({ name: Type.String() }),
      },
    },
    (request, reply) => {
      const file = page?.get(`assets/${request.params.name}`)
      if (!file) return reply.callNotFound()
      return sendFile(file, { request, reply, caching: 'public, max-age=31536000, immutable' })
    },
  )
}

function sendFile(
  file: PageFile,
  { request, reply, caching }: { request: FastifyRequest; reply: FastifyReply; caching: string },
): FastifyReply {
  reply.headers({ ...HEADERS, 'cache-control': caching, vary: 'accept-encoding' }).type(file.contentType)
  const takesGzip = /\bgzip\b/.test(String(request.headers['accept-encoding'] ?? ''))
  if (takesGzip) reply.header('content-encoding', 'gzip')
  return reply.send(takesGzip ? file.gzipped : file.bytes)
}
