/** How handlers ask the authorizer, about one name or about many, and what a refusal of each type of resource is called on the wire. */

import { aclHost } from '../metadata/acl-host.ts'
import type { Requester } from '../metadata/authorizer.ts'
import {
  type AclAction,
  type AclOperationName,
  type AclResourceName,
  allowAll,
  CLUSTER_NAME,
} from '../metadata/authorizer.ts'
import { ErrorCode } from '../protocol/errors.ts'
import { type BrokerContext, RequestFailure, type RequestOrigin } from './handler.ts'

export { CLUSTER_NAME } from '../metadata/authorizer.ts'

/** Operation and type of resource, for questions about several names. */
export type Permission = Omit<AclAction, 'name'>

/** Without an authorizer; for handlers that ask about very many names. */
export const isEverythingAllowed = ({ authorizer }: Pick<BrokerContext, 'authorizer'>): boolean =>
  authorizer === allowAll

/** May the client of this request do it? Decided by the ACLs when the request arrived. */
export const allowed = (
  { authorizer }: Pick<BrokerContext, 'authorizer'>,
  origin: RequestOrigin,
  action: AclAction,
): boolean => authorizer === allowAll || authorizer.allows(origin.image, requesterOf(origin), action)

/** Those of the names on which the client may do it. Names that occur several times are decided once. */
export function allowedNames(
  { authorizer }: Pick<BrokerContext, 'authorizer'>,
  origin: RequestOrigin,
  of: Permission & { readonly names: Iterable<string> },
): ReadonlySet<string> {
  const distinct = new Set(of.names)
  if (authorizer === allowAll) return distinct
  const requester = requesterOf(origin)
  const { operation, resource } = of
  for (const name of distinct)
    if (!authorizer.allows(origin.image, requester, { operation, resource, name })) distinct.delete(name)
  return distinct
}

/** Those of the names under which the client may create topics: all with CREATE on the cluster, else those with CREATE on the topic. */
export function creatableTopics(
  broker: Pick<BrokerContext, 'authorizer'>,
  origin: RequestOrigin,
  names: readonly string[],
): ReadonlySet<string> {
  if (names.length === 0 || allowedOnCluster(broker, origin, 'CREATE')) return new Set(names)
  return allowedNames(broker, origin, { operation: 'CREATE', resource: 'TOPIC', names })
}

/** May the client do it on at least one resource of the type, whatever its name? */
export const allowedOnSome = (
  { authorizer }: Pick<BrokerContext, 'authorizer'>,
  origin: RequestOrigin,
  permission: Permission,
): boolean => authorizer === allowAll || authorizer.allowsSome(origin.image, requesterOf(origin), permission)

/** `allowed` for the cluster itself. */
export const allowedOnCluster = (
  broker: Pick<BrokerContext, 'authorizer'>,
  origin: RequestOrigin,
  operation: AclOperationName,
): boolean => allowed(broker, origin, { operation, resource: 'CLUSTER', name: CLUSTER_NAME })

/** Throws RequestFailure with the code of the resource's type: the request is refused as a whole. */
export function requireAllowed(
  broker: Pick<BrokerContext, 'authorizer'>,
  origin: RequestOrigin,
  action: AclAction,
): void {
  if (allowed(broker, origin, action)) return
  const code = authorizationFailed[action.resource]
  throw new RequestFailure(
    code,
    `${principalOf(origin)} lacks ${action.operation} on ${action.resource} ${action.name}`,
  )
}

/** `requireAllowed` for the cluster itself: CLUSTER_AUTHORIZATION_FAILED. */
export const requireAllowedOnCluster = (
  broker: Pick<BrokerContext, 'authorizer'>,
  origin: RequestOrigin,
  operation: AclOperationName,
): void => requireAllowed(broker, origin, { operation, resource: 'CLUSTER', name: CLUSTER_NAME })

/** The error code of a refusal, by type of resource. */
export const authorizationFailed: Readonly<Record<AclResourceName, number>> = {
  TOPIC: ErrorCode.TOPIC_AUTHORIZATION_FAILED,
  GROUP: ErrorCode.GROUP_AUTHORIZATION_FAILED,
  CLUSTER: ErrorCode.CLUSTER_AUTHORIZATION_FAILED,
  TRANSACTIONAL_ID: ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
  DELEGATION_TOKEN: ErrorCode.DELEGATION_TOKEN_AUTHORIZATION_FAILED,
  USER: ErrorCode.CLUSTER_AUTHORIZATION_FAILED,
}

/** As in ACLs: `User:alice`. */
export const principalOf = ({ client }: RequestOrigin): string => `${client.principal.type}:${client.principal.name}`

const requesterOf = (origin: RequestOrigin): Requester => ({
  principal: principalOf(origin),
  host: aclHost(origin.client.remoteAddress),
})
