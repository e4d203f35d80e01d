/** The REST server: builds the HTTP application from the engine and the ports, and listens; called by the node. */
import assert from 'node:assert/strict'
import type { TlsOptions } from 'node:tls'
import fastifySwagger from '@fastify/swagger'
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import fastify, { type FastifyInstance } from 'fastify'
import { type RestApp, type RestContext, wasAdmitted } from './context.ts'
import { errorAnswer } from './errors.ts'
import { forwardToCoordinator, wasForwarded } from './forwarding.ts'
import { askForLogin } from './login.ts'
import { openApiOptions } from './openapi.ts'
import { readBodies, refuseMalformed, refuseUnroutable } from './request-bodies.ts'
import { brokerRoutes } from './routes/brokers.ts'
import { clusterAclRoutes } from './routes/cluster-acls.ts'
import { clusterRoutes } from './routes/clusters.ts'
import { consumerGroupRoutes } from './routes/consumer-groups.ts'
import { consumerLagRoutes } from './routes/consumer-lags.ts'
import { eventRoutes } from './routes/events.ts'
import { groupRoutes } from './routes/groups.ts'
import { healthRoutes } from './routes/health.ts'
import { linkAclRoutes } from './routes/link-acls.ts'
import { linkConfigRoutes } from './routes/link-configs.ts'
import { linkPreflightRoutes } from './routes/link-preflight.ts'
import { linkRoutes } from './routes/links.ts'
import { mirrorRoutes } from './routes/mirrors.ts'
import { nodeRoutes } from './routes/nodes.ts'
import { PAGE_HEADER, pageRoutes } from './routes/page.ts'
import { partitionRoutes } from './routes/partitions.ts'
import { peerCallRoutes } from './routes/peer-calls.ts'
import { placementRoutes } from './routes/placement.ts'
import { sourceTopicRoutes } from './routes/source-topics.ts'
import { topicConfigRoutes } from './routes/topic-configs.ts'
import { topicRoutes } from './routes/topics.ts'
import { verificationRoutes } from './routes/verifications.ts'

/** Largest request body accepted. */
const BODY_BYTES_MAX = 4 * 1024 * 1024

/** A request that has not come in whole by then is given up. */
const REQUEST_TIMEOUT_MS = 60_000

function emptyApplication(tls: TlsOptions | undefined) {
  const options = {
    bodyLimit: BODY_BYTES_MAX,
    requestTimeout: REQUEST_TIMEOUT_MS,
    routerOptions: { maxParamLength: 500 },
    forceCloseConnections: true,
    clientErrorHandler: refuseMalformed,
    frameworkErrors: refuseUnroutable,
    // Unknown JSON fields are refused, never dropped, and nothing is coerced behind the caller's back.
    ajv: { customOptions: { removeAdditional: false as const, coerceTypes: false as const, allErrors: false } },
  }
  // A server with TLS is a server as far as routes can tell.
  const app = tls ? (fastify({ ...options, https: tls }) as unknown as FastifyInstance) : fastify(options)
  readBodies(app)
  return app.withTypeProvider<TypeBoxTypeProvider>()
}

/** The whole application, not listening yet (tests inject requests into it). With `tls` it speaks https. */
export async function buildRestApplication(context: RestContext, tls?: TlsOptions): Promise<FastifyInstance> {
  const app = emptyApplication(tls)
  // Schemas of answers document them; tests hold answers against them. Serialising must never drop or change a field.
  app.setSerializerCompiler(() => data => JSON.stringify(data))
  app.setErrorHandler((error, request, reply) => {
    const answer = errorAnswer(error)
    if (answer.status >= 500 && answer.status !== 503)
      context.logger.error('REST request failed', { method: request.method, url: request.url, error })
    // The page asks for user and password itself; with this header the browser would, in a window of its own.
    if (answer.status === 401 && request.headers[PAGE_HEADER] === undefined)
      reply.header('www-authenticate', 'Basic realm="lockstep", charset="UTF-8"')
    if (answer.retryAfterSeconds !== undefined) reply.header('retry-after', String(answer.retryAfterSeconds))
    return reply.status(answer.status).send(answer.body)
  })
  askForLogin(app, context.login, context.forwarding)
  if (context.forwarding) forwardToCoordinator(app, context.forwarding, () => context.engine.ready)
  app.addHook('onSend', async (request, reply) => {
    const isAnswer = request.url.startsWith('/kafka/') && reply.statusCode < 400
    assert(
      !isAnswer || wasAdmitted(request) || wasForwarded(request),
      'a route answers without having asked whether its caller may',
    )
  })
  app.setNotFoundHandler((request, reply) =>
    reply
      .status(404)
      .send({ error_code: 404, message: `no resource at ${request.method} ${request.url.split('?')[0]}` }),
  )
  await app.register(fastifySwagger, openApiOptions(context.version))
  await app.register(async scope => restRoutes(scope.withTypeProvider<TypeBoxTypeProvider>(), context))
  await app.ready()
  return app
}

/** Every route that a node serves. */
export function restRoutes(routes: RestApp, context: RestContext): void {
  clusterRoutes(routes, context)
  brokerRoutes(routes, context)
  nodeRoutes(routes, context)
  topicRoutes(routes, context)
  topicConfigRoutes(routes, context)
  partitionRoutes(routes, context)
  placementRoutes(routes, context)
  consumerGroupRoutes(routes, context)
  consumerLagRoutes(routes, context)
  clusterAclRoutes(routes, context)
  linkRoutes(routes, context)
  linkPreflightRoutes(routes, context)
  linkConfigRoutes(routes, context)
  mirrorRoutes(routes, context)
  verificationRoutes(routes, context)
  eventRoutes(routes, context)
  groupRoutes(routes, context)
  linkAclRoutes(routes, context)
  sourceTopicRoutes(routes, context)
  healthRoutes(routes, context)
  pageRoutes(routes, context)
  peerCallRoutes(routes, context)
}
