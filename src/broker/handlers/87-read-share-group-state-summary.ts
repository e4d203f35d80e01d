/**
 * ReadShareGroupStateSummary (87), versions 0–1 (KIP-932); the dispatch table calls it.
 *
 * 1: the number of records that are done (KIP-1226).
 *
 * How far share partitions are, without their records; start offset -1 for what was never initialised.
 *
 * CLUSTER_ACTION on the cluster: other brokers of a cluster send it to the share coordinator.
 */
import { offsetToWire } from '../../core/offset.ts'
import { ReadShareGroupStateSummaryApi } from '../../protocol/messages/87-read-share-group-state-summary.ts'
import { requireAllowedOnCluster } from '../authorization.ts'
import { handlerOf } from '../handler.ts'
import { allSharePartitions, forEachSharePartition } from '../share-state-requests.ts'

export const readShareGroupStateSummary = handlerOf(ReadShareGroupStateSummaryApi, {
  versions: { min: 0, max: 1 },
  async handle(broker, request, origin) {
    requireAllowedOnCluster(broker, origin, 'CLUSTER_ACTION')
    const { results } = await forEachSharePartition(broker, request, async key => {
      const { startOffset, ...summary } = await broker.shareState.readSummary(key)
      return { ...summary, startOffset: offsetToWire(startOffset) }
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
  leaderEpoch: 0,
  startOffset: 0n,
  ...partition,
})
