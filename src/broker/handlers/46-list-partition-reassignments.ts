/**
 * ListPartitionReassignments (46), version 0 (KIP-455); the dispatch table calls it.
 *
 * Reassignments are told as the metadata has them: none in a cluster that was always this node alone. Partitions that are not
 * being reassigned or do not exist are left out.
 */
import type { TopicImage } from '../../metadata/metadata-image.ts'
import { ErrorCode } from '../../protocol/errors.ts'
import { ListPartitionReassignmentsApi } from '../../protocol/messages/46-list-partition-reassignments.ts'
import { requireAllowedOnCluster } from '../authorization.ts'
import { handlerOf } from '../handler.ts'

export const listPartitionReassignments = handlerOf(ListPartitionReassignmentsApi, {
  versions: { min: 0, max: 0 },
  handle(broker, request, origin) {
    requireAllowedOnCluster(broker, origin, 'DESCRIBE')
    const asked =
      request.topics && new Set(request.topics.flatMap(t => t.partitionIndexes.map(index => `${t.name}-${index}`)))
    return {
      throttleTimeMs: 0,
      errorCode: ErrorCode.NONE,
      errorMessage: null,
      topics: [...origin.image.topics.values()].flatMap(topic => {
        const partitions = ongoing(topic).filter(
          ({ partitionIndex }) => !asked || asked.has(`${topic.name}-${partitionIndex}`),
        )
        return partitions.length === 0 ? [] : [{ name: topic.name, partitions }]
      }),
    }
  },
  failed: (_request, errorCode) => ({ throttleTimeMs: 0, errorCode, errorMessage: null, topics: [] }),
})

const ongoing = ({ partitions }: TopicImage) =>
  partitions.flatMap(({ replicas, addingReplicas, removingReplicas }, partitionIndex) =>
    addingReplicas.length + removingReplicas.length === 0
      ? []
      : [
          {
            partitionIndex,
            replicas: [...replicas],
            addingReplicas: [...addingReplicas],
            removingReplicas: [...removingReplicas],
          },
        ],
  )
