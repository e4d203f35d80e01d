/** Who sends a request: asks the login port before anything of the request is read, and keeps the answer for the routes. */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { restError } from './errors.ts'
import type { Forwarding, Login, RestClient } from './ports.ts'

/** Paths that answer anybody: they say nothing about the cluster. */
const OPEN_PATHS: ReadonlySet<string> = new Set(['/healthz', '/readyz', '/openapi.json', '/'])
/** What the page at `/` is made of; what it shows it asks of the API, with a login. */
export const PAGE_ASSETS = '/assets/'

export const isOpenPath = (path: string): boolean => OPEN_PATHS.has(path) || path.startsWith(PAGE_ASSETS)

const clients = new WeakMap<FastifyRequest, RestClient>()

/** Every request has to pass here first; `clientOf` knows its sender afterwards. */
export function askForLogin(app: FastifyInstance, login: Login, forwarding?: Forwarding): void {
  app.addHook('onRequest', async request => {
    const path = request.url.split('?')[0] ?? ''
    if (isOpenPath(path) || (path === '/metrics' && login.metricsOpen)) return
    if (isOfForeignPage(request)) throw restError('FOREIGN_PAGE', { origin: request.headers.origin ?? 'another site' })
    const { authorization, 'x-lockstep-forwarded': vouched } = request.headers
    if (typeof vouched === 'string') {
      const client = forwarding?.clientOf(vouched)
      if (!client) throw restError('LOGIN_REFUSED', { reason: 'no node of this cluster vouches for this request' })
      clients.set(request, client)
      return
    }
    const result = await login.identify({ authorization, socket: request.socket, address: request.ip })
    if (result.kind === 'refused') throw restError('LOGIN_REFUSED', { reason: result.reason })
    if (result.kind === 'limited') throw restError('LOGIN_LIMITED', { seconds: result.retryAfterSeconds })
    if (result.kind === 'anonymous' && !login.anonymousAllowed) throw restError('LOGIN_NEEDED', {})
    if (result.kind === 'anonymous' && !login.isTrustedHost(request.host))
      throw restError('FOREIGN_HOST', { host: request.host })
    const principal = result.kind === 'known' ? result.principal : ANONYMOUS
    clients.set(request, { principal, host: request.ip, loggedIn: result.kind === 'known' })
  })
}

/**
 * A browser sends what other sites' pages make it send, from this machine and with whatever login it keeps. Reading the answers
 * is forbidden to them, changing something is not; browsers say whose page it was.
 */
function isOfForeignPage({ method, headers, host }: FastifyRequest): boolean {
  if (method === 'GET' || method === 'HEAD' || method === 'OPTIONS') return false
  const { 'sec-fetch-site': site, origin } = headers
  if (typeof site === 'string') return site !== 'same-origin' && site !== 'none'
  return origin !== undefined && URL.parse(origin)?.host !== host
}

const ANONYMOUS = { type: 'User', name: 'ANONYMOUS' } as const

/** The sender, as the login port named it. */
export const clientOf = (request: FastifyRequest): RestClient =>
  clients.get(request) ?? { principal: ANONYMOUS, host: request.ip, loggedIn: false }
