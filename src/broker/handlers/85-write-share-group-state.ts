/**
 * WriteShareGroupState (85), versions 0–1 (KIP-932); the dispatch table calls it.
 *
 * 1: the number of records that are done (KIP-1226).
 *
 * Changes what is known of share partitions. FENCED_STATE_EPOCH and FENCED_LEADER_EPOCH for older writers; INVALID_REQUEST for
 * what was never initialised.
 *
 * CLUSTER_ACTION on the cluster: other brokers of a cluster send it to the share coordinator.
 */
import { offsetFromWire } from '../../core/offset.ts'
import { WriteShareGroupStateApi } from '../../protocol/messages/85-write-share-group-state.ts'
import { requireAllowedOnCluster } from '../authorization.ts'
import { handlerOf } from '../handler.ts'
import { allSharePartitions, forEachSharePartition } from '../share-state-requests.ts'

export const writeShareGroupState = handlerOf(WriteShareGroupStateApi, {
  versions: { min: 0, max: 1 },
  async handle(broker, request, origin) {
    requireAllowedOnCluster(broker, origin, 'CLUSTER_ACTION')
    return await forEachSharePartition(broker, request, async (key, change) => {
      const { stateEpoch, leaderEpoch, deliveryCompleteCount } = change
      const startOffset = offsetFromWire(change.startOffset)
      const batches = change.stateBatches.map(batchFromWire)
      await broker.shareState.write(key, { stateEpoch, leaderEpoch, startOffset, deliveryCompleteCount, batches })
      return {}
    })
  },
  failed: (request, errorCode) => allSharePartitions(request, errorCode),
})

const batchFromWire = <B extends { readonly firstOffset: bigint; readonly lastOffset: bigint }>(batch: B) => ({
  ...batch,
  firstOffset: offsetFromWire(batch.firstOffset),
  lastOffset: offsetFromWire(batch.lastOffset),
})
