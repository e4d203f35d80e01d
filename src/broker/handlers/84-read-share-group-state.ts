/**
 * ReadShareGroupState (84), version 0 (KIP-932); the dispatch table calls it.
 *
 * What is known of share partitions. A newer leader epoch is remembered, an older one is FENCED_LEADER_EPOCH; INVALID_REQUEST for
 * what was never initialised.
 *
 * CLUSTER_ACTION on the cluster: other brokers of a cluster send it to the share coordinator.
 */
import type { StateBatch } from '../../coordinator/share-state/share-persister.ts'
import { offsetToWire } from '../../core/offset.ts'
import { ReadShareGroupStateApi } from '../../protocol/messages/84-read-share-group-state.ts'
import { requireAllowedOnCluster } from '../authorization.ts'
import { handlerOf } from '../handler.ts'
import { allSharePartitions, forEachSharePartition } from '../share-state-requests.ts'

export const readShareGroupState = handlerOf(ReadShareGroupStateApi, {
  versions: { min: 0, max: 0 },
  async handle(broker, request, origin) {
    requireAllowedOnCluster(broker, origin, 'CLUSTER_ACTION')
    const { results } = await forEachSharePartition(broker, request, async (key, { leaderEpoch }) => {
      const { stateEpoch, startOffset, batches } = await broker.shareState.read(key, leaderEpoch)
      return { stateEpoch, startOffset: offsetToWire(startOffset), stateBatches: batches.map(batchToWire) }
    })
    return { results: results.map(topic => ({ ...topic, partitions: topic.partitions.map(withDefaults) })) }
  },
  failed: (request, errorCode) => ({
    results: allSharePartitions(request, errorCode).results.map(({ topicId, partitions }) => ({
      topicId,
      partitions: partitions.map(withDefaults),
    })),
  }),
})

const withDefaults = <P extends object>(partition: P) => ({
  stateEpoch: 0,
  startOffset: 0n,
  stateBatches: [],
  ...partition,
})

const batchToWire = (batch: StateBatch) => ({
  ...batch,
  firstOffset: offsetToWire(batch.firstOffset),
  lastOffset: offsetToWire(batch.lastOffset),
})
