/** Who may be given a producer id; the handler of InitProducerId asks it. */
import { ErrorCode } from '../protocol/errors.ts'
import { allowedOnCluster, allowedOnSome, requireAllowed } from './authorization.ts'
import { type BrokerContext, RequestFailure, type RequestOrigin } from './handler.ts'

/** Throws RequestFailure: TRANSACTIONAL_ID_AUTHORIZATION_FAILED, or CLUSTER_AUTHORIZATION_FAILED without an id. */
export function requireProducerAccess(
  broker: Pick<BrokerContext, 'authorizer'>,
  origin: RequestOrigin,
  transactionalId: string | null,
): void {
  if (transactionalId !== null)
    return requireAllowed(broker, origin, { operation: 'WRITE', resource: 'TRANSACTIONAL_ID', name: transactionalId })
  if (allowedOnCluster(broker, origin, 'IDEMPOTENT_WRITE')) return
  // Who may write to any topic may do so idempotently (KIP-679).
  if (allowedOnSome(broker, origin, { operation: 'WRITE', resource: 'TOPIC' })) return
  throw new RequestFailure(ErrorCode.CLUSTER_AUTHORIZATION_FAILED, 'no topic may be written')
}
