/** Who may see or alter the configs of which resource; the handlers of DescribeConfigs and of both AlterConfigs APIs ask it. */
import type { ConfigResource } from '../metadata/controller-port.ts'
import { ConfigResourceType } from '../metadata/metadata-image.ts'
import { CLUSTER_NAME, requireAllowed } from './authorization.ts'
import type { BrokerContext, RequestOrigin } from './handler.ts'

/** Throws RequestFailure. Unknown types of resources are left to the handler. */
export function requireConfigAccess(
  broker: Pick<BrokerContext, 'authorizer'>,
  origin: RequestOrigin,
  { resource: { type, name }, operation }: ConfigAccess,
): void {
  if (type === ConfigResourceType.TOPIC) return requireAllowed(broker, origin, { operation, resource: 'TOPIC', name })
  if (type === ConfigResourceType.GROUP) return requireAllowed(broker, origin, { operation, resource: 'GROUP', name })
  if (CLUSTER_TYPES.has(type)) requireAllowed(broker, origin, { operation, resource: 'CLUSTER', name: CLUSTER_NAME })
}

export interface ConfigAccess {
  readonly resource: ConfigResource
  readonly operation: 'ALTER_CONFIGS' | 'DESCRIBE_CONFIGS'
}

/** Their configs belong to the cluster. */
const CLUSTER_TYPES: ReadonlySet<number> = new Set([
  ConfigResourceType.BROKER,
  ConfigResourceType.BROKER_LOGGER,
  ConfigResourceType.CLIENT_METRICS,
])
