/**
 * AlterPartitionReassignments (45), versions 0–1 (KIP-455); the dispatch table calls it.
 *
 * 0: flexible from the start. 1: may the replication factor change? (KIP-860)
 *
 * Partitions have nowhere to go in a cluster of one broker: the assignment that they have is accepted, any other is
 * INVALID_REPLICA_ASSIGNMENT, and giving up a reassignment is NO_REASSIGNMENT_IN_PROGRESS.
 */
import { ErrorCode } from '../../protocol/errors.ts'
import {
  AlterPartitionReassignmentsApi,
  type AlterPartitionReassignmentsRequest,
} from '../../protocol/messages/45-alter-partition-reassignments.ts'
import { requireAllowedOnCluster } from '../authorization.ts'
import { handlerOf } from '../handler.ts'

export const alterPartitionReassignments = handlerOf(AlterPartitionReassignmentsApi, {
  versions: { min: 0, max: 1 },
  async handle(broker, request, origin) {
    requireAllowedOnCluster(broker, origin, 'ALTER')
    const asked = request.topics.flatMap(({ name, partitions }) =>
      partitions.map(({ partitionIndex, replicas }) => ({ topic: name, partition: partitionIndex, replicas })),
    )
    const results = await broker.controller.cluster.alterPartitionReassignments(asked)
    let next = 0
    return {
      ...headOf(request, ErrorCode.NONE),
      // The answers have the order of the questions.
      responses: request.topics.map(({ name, partitions }) => ({
        name,
        partitions: partitions.map(({ partitionIndex }) => {
          const { errorCode = ErrorCode.NONE, errorMessage = null } = results[next++] ?? {}
          return { partitionIndex, errorCode, errorMessage }
        }),
      })),
    }
  },
  failed: (request, errorCode) => ({ ...headOf(request, errorCode), responses: [] }),
})

const headOf = ({ allowReplicationFactorChange }: AlterPartitionReassignmentsRequest, errorCode: number) => ({
  throttleTimeMs: 0,
  allowReplicationFactorChange,
  errorCode,
  errorMessage: null,
})
