/** What every route receives, and the admission of a request: right cluster, allowed, ready. */
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type {
  FastifyBaseLogger,
  FastifyInstance,
  FastifyRequest,
  RawReplyDefaultExpression,
  RawRequestDefaultExpression,
  RawServerDefault,
} from 'fastify'
import type { Logger } from '../core/logger.ts'
import type { LinkEngine } from '../link/engine-api.ts'
import { restError } from './errors.ts'
import type { AccessCheck, ClusterAdmin, Health, MetricsSource, Need, Principal } from './ports.ts'

/** The application as routes see it: schemas give the types. */
export type RestApp = FastifyInstance<
  RawServerDefault,
  RawRequestDefaultExpression,
  RawReplyDefaultExpression,
  FastifyBaseLogger,
  TypeBoxTypeProvider
>

/** Everything that routes may use. */
export interface RestContext {
  readonly engine: LinkEngine
  readonly cluster: ClusterAdmin
  readonly access: AccessCheck
  readonly health: Health
  readonly metrics: readonly MetricsSource[]
  readonly version: string
  readonly logger: Logger
}

/** Checks the cluster id of the path and the caller's rights; returns the base URL of the cluster's resources. */
export function admit(context: RestContext, request: FastifyRequest, needs: readonly Need[]): string {
  const { cluster_id: asked } = request.params as { cluster_id?: string }
  const own = context.cluster.clusterId
  if (asked !== undefined && asked !== own) throw restError('UNKNOWN_CLUSTER', { asked, own })
  const principal = principalOf(request)
  const need = context.access.firstDenied(principal, needs)
  if (need) throw restError('ACCESS_DENIED', { principal: `${principal.type}:${principal.name}`, need })
  return `${request.protocol}://${request.host}/kafka/v3/clusters/${own}`
}

/** Throws NOT_READY until the engine has replayed its state. */
export function requireReady(context: RestContext): void {
  if (context.engine.ready) return
  throw restError('NOT_READY', {
    reasons: context.health.notReadyReasons().join('; ') || 'the link state is being replayed',
  })
}

/** Who sent the request. */
function principalOf(_request: FastifyRequest): Principal {
  return { type: 'User', name: 'ANONYMOUS' }
}
