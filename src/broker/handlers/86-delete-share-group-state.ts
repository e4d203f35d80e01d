/**
 * DeleteShareGroupState (86), version 0 (KIP-932); the dispatch table calls it.
 *
 * Forgets share partitions; those that are not known count as forgotten.
 *
 * CLUSTER_ACTION on the cluster: other brokers of a cluster send it to the share coordinator.
 */
import { DeleteShareGroupStateApi } from '../../protocol/messages/86-delete-share-group-state.ts'
import { requireAllowedOnCluster } from '../authorization.ts'
import { handlerOf } from '../handler.ts'
import { allSharePartitions, forEachSharePartition } from '../share-state-requests.ts'

export const deleteShareGroupState = handlerOf(DeleteShareGroupStateApi, {
  versions: { min: 0, max: 0 },
  async handle(broker, request, origin) {
    requireAllowedOnCluster(broker, origin, 'CLUSTER_ACTION')
    return await forEachSharePartition(broker, request, async key => {
      await broker.shareState.delete(key)
      return {}
    })
  },
  failed: (request, errorCode) => allSharePartitions(request, errorCode),
})
