/** The dispatch table: every API that this node serves. ApiVersions and the listener's check of versions are derived from it. */
import type { Handler } from '../handler.ts'
import { produce } from './00-produce.ts'
import { fetch } from './01-fetch.ts'
import { listOffsets } from './02-list-offsets.ts'
import { metadata } from './03-metadata.ts'
import { offsetCommit } from './08-offset-commit.ts'
import { offsetFetch } from './09-offset-fetch.ts'
import { findCoordinator } from './10-find-coordinator.ts'
import { joinGroup } from './11-join-group.ts'
import { heartbeat } from './12-heartbeat.ts'
import { leaveGroup } from './13-leave-group.ts'
import { syncGroup } from './14-sync-group.ts'
import { describeGroups } from './15-describe-groups.ts'
import { listGroups } from './16-list-groups.ts'
import { saslHandshake } from './17-sasl-handshake.ts'
import { apiVersions } from './18-api-versions.ts'
import { createTopics } from './19-create-topics.ts'
import { deleteTopics } from './20-delete-topics.ts'
import { deleteRecords } from './21-delete-records.ts'
import { initProducerId } from './22-init-producer-id.ts'
import { offsetForLeaderEpoch } from './23-offset-for-leader-epoch.ts'
import { addPartitionsToTxn } from './24-add-partitions-to-txn.ts'
import { addOffsetsToTxn } from './25-add-offsets-to-txn.ts'
import { endTxn } from './26-end-txn.ts'
import { writeTxnMarkers } from './27-write-txn-markers.ts'
import { txnOffsetCommit } from './28-txn-offset-commit.ts'
import { describeAcls } from './29-describe-acls.ts'
import { createAcls } from './30-create-acls.ts'
import { deleteAcls } from './31-delete-acls.ts'
import { describeConfigs } from './32-describe-configs.ts'
import { legacyAlterConfigs } from './33-alter-configs.ts'
import { alterReplicaLogDirs } from './34-alter-replica-log-dirs.ts'
import { describeLogDirs } from './35-describe-log-dirs.ts'
import { saslAuthenticate } from './36-sasl-authenticate.ts'
import { createPartitions } from './37-create-partitions.ts'
import { deleteGroups } from './42-delete-groups.ts'
import { electLeaders } from './43-elect-leaders.ts'
import { incrementalAlterConfigs } from './44-incremental-alter-configs.ts'
import { alterPartitionReassignments } from './45-alter-partition-reassignments.ts'
import { listPartitionReassignments } from './46-list-partition-reassignments.ts'
import { offsetDelete } from './47-offset-delete.ts'
import { describeClientQuotas } from './48-describe-client-quotas.ts'
import { alterClientQuotas } from './49-alter-client-quotas.ts'
import { describeUserScramCredentials } from './50-describe-user-scram-credentials.ts'
import { alterUserScramCredentials } from './51-alter-user-scram-credentials.ts'
import { describeQuorum } from './55-describe-quorum.ts'
import { updateFeatures } from './57-update-features.ts'
import { describeCluster } from './60-describe-cluster.ts'
import { describeProducers } from './61-describe-producers.ts'
import { unregisterBroker } from './64-unregister-broker.ts'
import { describeTransactions } from './65-describe-transactions.ts'
import { listTransactions } from './66-list-transactions.ts'
import { consumerGroupHeartbeat } from './68-consumer-group-heartbeat.ts'
import { consumerGroupDescribe } from './69-consumer-group-describe.ts'
import { listConfigResources } from './74-list-config-resources.ts'
import { describeTopicPartitions } from './75-describe-topic-partitions.ts'
import { shareGroupHeartbeat } from './76-share-group-heartbeat.ts'
import { shareGroupDescribe } from './77-share-group-describe.ts'
import { shareFetch } from './78-share-fetch.ts'
import { shareAcknowledge } from './79-share-acknowledge.ts'
import { addRaftVoter } from './80-add-raft-voter.ts'
import { removeRaftVoter } from './81-remove-raft-voter.ts'
import { initializeShareGroupState } from './83-initialize-share-group-state.ts'
import { readShareGroupState } from './84-read-share-group-state.ts'
import { writeShareGroupState } from './85-write-share-group-state.ts'
import { deleteShareGroupState } from './86-delete-share-group-state.ts'
import { readShareGroupStateSummary } from './87-read-share-group-state-summary.ts'
import { describeShareGroupOffsets } from './90-describe-share-group-offsets.ts'
import { alterShareGroupOffsets } from './91-alter-share-group-offsets.ts'
import { deleteShareGroupOffsets } from './92-delete-share-group-offsets.ts'

/** In the order of their keys. */
export const handlers: readonly Handler[] = [
  produce,
  fetch,
  listOffsets,
  metadata,
  offsetCommit,
  offsetFetch,
  findCoordinator,
  joinGroup,
  heartbeat,
  leaveGroup,
  syncGroup,
  describeGroups,
  listGroups,
  saslHandshake,
  apiVersions,
  createTopics,
  deleteTopics,
  deleteRecords,
  initProducerId,
  offsetForLeaderEpoch,
  addPartitionsToTxn,
  addOffsetsToTxn,
  endTxn,
  writeTxnMarkers,
  txnOffsetCommit,
  describeAcls,
  createAcls,
  deleteAcls,
  describeConfigs,
  legacyAlterConfigs,
  alterReplicaLogDirs,
  describeLogDirs,
  saslAuthenticate,
  createPartitions,
  deleteGroups,
  electLeaders,
  incrementalAlterConfigs,
  alterPartitionReassignments,
  listPartitionReassignments,
  offsetDelete,
  describeClientQuotas,
  alterClientQuotas,
  describeUserScramCredentials,
  alterUserScramCredentials,
  describeQuorum,
  updateFeatures,
  describeCluster,
  describeProducers,
  unregisterBroker,
  describeTransactions,
  listTransactions,
  consumerGroupHeartbeat,
  consumerGroupDescribe,
  listConfigResources,
  describeTopicPartitions,
  shareGroupHeartbeat,
  shareGroupDescribe,
  shareFetch,
  shareAcknowledge,
  addRaftVoter,
  removeRaftVoter,
  initializeShareGroupState,
  readShareGroupState,
  writeShareGroupState,
  deleteShareGroupState,
  readShareGroupStateSummary,
  describeShareGroupOffsets,
  alterShareGroupOffsets,
  deleteShareGroupOffsets,
]
