/**
 * DescribeCluster (60), versions 0–2; the dispatch table calls it.
 *
 * 0: flexible from the start. 1: endpoint type, brokers (1) or controllers (2) (KIP-919). 2: fenced brokers on request (KIP-1073).
 *
 * Whoever may log in may ask; the operations on the cluster are told to those with DESCRIBE on it, 0 to others.
 *
 * A broker's listener describes brokers only: controllers are MISMATCHED_ENDPOINT_TYPE, anything else UNSUPPORTED_ENDPOINT_TYPE.
 */
import { ErrorCode } from '../../protocol/errors.ts'
import { DescribeClusterApi } from '../../protocol/messages/60-describe-cluster.ts'
import { authorizedClusterOperations, OPERATIONS_UNKNOWN } from '../authorized-operations.ts'
import { addressOf, adminBroker } from '../endpoints.ts'
import { handlerOf } from '../handler.ts'

const EndpointType = { BROKERS: 1, CONTROLLERS: 2 } as const
const FENCED_VERSION = 2

export const describeCluster = handlerOf(DescribeClusterApi, {
  versions: { min: 0, max: 2 },
  handle(broker, request, origin) {
    const { version, image, client } = origin
    if (request.endpointType === EndpointType.CONTROLLERS)
      return refused(ErrorCode.MISMATCHED_ENDPOINT_TYPE, 'This endpoint describes brokers, not controllers.')
    if (request.endpointType !== EndpointType.BROKERS)
      return refused(ErrorCode.UNSUPPORTED_ENDPOINT_TYPE, `There is no endpoint type ${request.endpointType}.`)
    const listed = [...image.brokers.values()]
      .filter(broker => !broker.fenced || (version >= FENCED_VERSION && request.includeFencedBrokers))
      .sort((a, b) => a.id - b.id)
    return {
      throttleTimeMs: 0,
      errorCode: ErrorCode.NONE,
      endpointType: EndpointType.BROKERS,
      clusterId: image.clusterId,
      controllerId: adminBroker(image, client.listener),
      brokers: listed.flatMap(broker => {
        const address = addressOf(broker, client.listener)
        if (!address) return []
        const { nodeId, host, port, rack } = address
        return { brokerId: nodeId, host, port, rack, ...(version >= FENCED_VERSION ? { isFenced: broker.fenced } : {}) }
      }),
      clusterAuthorizedOperations: request.includeClusterAuthorizedOperations
        ? authorizedClusterOperations(broker, origin)
        : OPERATIONS_UNKNOWN,
    }
  },
  failed: (_request, errorCode) => refused(errorCode, null),
})

const refused = (errorCode: number, errorMessage: string | null) => ({
  throttleTimeMs: 0,
  errorCode,
  errorMessage,
  clusterId: '',
  brokers: [],
})
