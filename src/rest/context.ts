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
import type { AclAdmin, ClusterAdmin, GroupAdmin, NodeList } from './cluster-ports.ts'
import { restError } from './errors.ts'
import { clientOf } from './login.ts'
import type { PlacementAdmin } from './placement-ports.ts'
import {
  type AccessCheck,
  type Forwarding,
  type Health,
  type Login,
  type MetricsSource,
  type Need,
  noLogin,
  type PageFiles,
  type PeerCallHandler,
} from './ports.ts'

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
  readonly groups: GroupAdmin
  readonly acls: AclAdmin
  readonly nodes: NodeList
  readonly placement: PlacementAdmin
  readonly login: Login
  /** Where there may be other nodes. */
  readonly forwarding?: Forwarding
  /** What those may ask of this one. */
  readonly peerCalls?: PeerCallHandler
  readonly access: AccessCheck
  readonly health: Health
  readonly metrics: readonly MetricsSource[]
  /** The operator's page; undefined = it was not built. */
  readonly page: PageFiles | undefined
  readonly version: string
  readonly logger: Logger
}

const admitted = new WeakSet<FastifyRequest>()

/** Has the route of this request asked whether the sender may? */
export const wasAdmitted = (request: FastifyRequest): boolean => admitted.has(request)

/** Checks the cluster id of the path and the caller's rights; returns the base URL of the cluster's resources. */
export function admit(context: RestContext, request: FastifyRequest, needs: readonly Need[]): string {
  const { cluster_id: asked } = request.params as { cluster_id?: string }
  const own = context.cluster.clusterId
  if (asked !== undefined && asked !== own) throw restError('UNKNOWN_CLUSTER', { asked, own })
  requireAccess(context, request, needs)
  admitted.add(request)
  return `${request.protocol}://${request.host}/kafka/v3/clusters/${own}`
}

/** Throws ACCESS_DENIED, or LOGIN_NEEDED where a login might help. */
export function requireAccess(context: RestContext, request: FastifyRequest, needs: readonly Need[]): void {
  const client = clientOf(request)
  const need = context.access.firstDenied(client, needs)
  if (!need) return
  const { principal, loggedIn } = client
  if (!loggedIn && context.login !== noLogin) throw restError('LOGIN_NEEDED', {})
  throw restError('ACCESS_DENIED', { principal: `${principal.type}:${principal.name}`, need })
}

/** Asked again while an answer goes on. */
export const isAllowed = (context: RestContext, request: FastifyRequest, needs: readonly Need[]): boolean =>
  context.access.firstDenied(clientOf(request), needs) === undefined

/** Throws NOT_READY until the engine has replayed its state. */
export function requireReady(context: RestContext): void {
  if (context.engine.ready) return
  throw restError('NOT_READY', { reasons: context.health.notReadyReasons().join('; ') || context.engine.whyNotReady })
}
