/** The answer to every wish to change the voters of the metadata quorum; AddRaftVoter and RemoveRaftVoter share it. */
import { ErrorCode } from '../protocol/errors.ts'
import { requireAllowedOnCluster } from './authorization.ts'
import type { BrokerContext, RequestOrigin } from './handler.ts'

/** Throws RequestFailure where the client may not ask. */
export function fixedVoters(broker: BrokerContext, origin: RequestOrigin, clusterId: string | null) {
  requireAllowedOnCluster(broker, origin, 'ALTER')
  const { clusterId: own } = origin.image
  if (clusterId !== null && clusterId !== own) {
    const errorMessage = `the request is for cluster ${clusterId}, and this is ${own}`
    return { throttleTimeMs: 0, errorCode: ErrorCode.INCONSISTENT_CLUSTER_ID, errorMessage }
  }
  const errorMessage = 'the voters of a standalone node cannot change: kraft.version is 0'
  return { throttleTimeMs: 0, errorCode: ErrorCode.UNSUPPORTED_VERSION, errorMessage }
}
