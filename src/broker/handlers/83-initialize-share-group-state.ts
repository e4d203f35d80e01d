/**
 * InitializeShareGroupState (83), version 0 (KIP-932); the dispatch table calls it.
 *
 * Begins the state of share partitions anew. FENCED_STATE_EPOCH for a state epoch below the present one.
 *
 * CLUSTER_ACTION on the cluster: other brokers of a cluster send it to the share coordinator.
 */
import { offsetFromWire } from '../../core/offset.ts'
import { InitializeShareGroupStateApi } from '../../protocol/messages/83-initialize-share-group-state.ts'
import { requireAllowedOnCluster } from '../authorization.ts'
import { handlerOf } from '../handler.ts'
import { allSharePartitions, forEachSharePartition } from '../share-state-requests.ts'

export const initializeShareGroupState = handlerOf(InitializeShareGroupStateApi, {
  versions: { min: 0, max: 0 },
  async handle(broker, request, origin) {
    requireAllowedOnCluster(broker, origin, 'CLUSTER_ACTION')
    return await forEachSharePartition(broker, request, async (key, { stateEpoch, startOffset }) => {
      await broker.shareState.initialize(key, { stateEpoch, startOffset: offsetFromWire(startOffset) })
      return {}
    })
  },
  failed: (request, errorCode) => allSharePartitions(request, errorCode),
})
