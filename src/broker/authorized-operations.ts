/** Bit fields of the operations that a client may do on a resource, as Metadata, DescribeCluster and the descriptions of groups tell them. */
import { AclOperation, type AclOperationName, type AclResourceName } from '../metadata/authorizer.ts'
import { allowed, allowedOnCluster, CLUSTER_NAME } from './authorization.ts'
import type { BrokerContext, RequestOrigin } from './handler.ts'

/** "Not asked for". */
export const OPERATIONS_UNKNOWN = -2147483648

/** What can be done with each type of resource that answers describe. */
const operationsOf = {
  TOPIC: ['READ', 'WRITE', 'CREATE', 'DESCRIBE', 'DELETE', 'ALTER', 'DESCRIBE_CONFIGS', 'ALTER_CONFIGS'],
  GROUP: ['READ', 'DESCRIBE', 'DELETE', 'DESCRIBE_CONFIGS', 'ALTER_CONFIGS'],
  CLUSTER: ['CREATE', 'CLUSTER_ACTION', 'DESCRIBE_CONFIGS', 'ALTER_CONFIGS', 'IDEMPOTENT_WRITE', 'ALTER', 'DESCRIBE'],
} as const satisfies Partial<Record<AclResourceName, readonly AclOperationName[]>>

/** Bit n is set if operation n is allowed; without an authorizer all that the type has. */
export const authorizedOperations = (
  broker: Pick<BrokerContext, 'authorizer'>,
  origin: RequestOrigin,
  { resource, name }: { readonly resource: keyof typeof operationsOf; readonly name: string },
): number =>
  operationsOf[resource]
    .filter(operation => allowed(broker, origin, { operation, resource, name }))
    .reduce((sum, operation) => sum | (1 << AclOperation[operation]), 0)

/** Those on the cluster; none for who may not describe it. */
export const authorizedClusterOperations = (
  broker: Pick<BrokerContext, 'authorizer'>,
  origin: RequestOrigin,
): number =>
  allowedOnCluster(broker, origin, 'DESCRIBE')
    ? authorizedOperations(broker, origin, { resource: 'CLUSTER', name: CLUSTER_NAME })
    : 0
