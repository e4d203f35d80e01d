/** The dispatch table: every API that this node serves. ApiVersions and the listener's check of versions are derived from it. */
import type { Handler } from '../handler.ts'
import { produce } from './00-produce.ts'
import { fetch } from './01-fetch.ts'
import { listOffsets } from './02-list-offsets.ts'
import { metadata } from './03-metadata.ts'
import { findCoordinator } from './10-find-coordinator.ts'
import { apiVersions } from './18-api-versions.ts'
import { createTopics } from './19-create-topics.ts'
import { deleteTopics } from './20-delete-topics.ts'
import { deleteRecords } from './21-delete-records.ts'
import { initProducerId } from './22-init-producer-id.ts'
import { offsetForLeaderEpoch } from './23-offset-for-leader-epoch.ts'
import { describeConfigs } from './32-describe-configs.ts'
import { legacyAlterConfigs } from './33-alter-configs.ts'
import { describeLogDirs } from './35-describe-log-dirs.ts'
import { createPartitions } from './37-create-partitions.ts'
import { incrementalAlterConfigs } from './44-incremental-alter-configs.ts'
import { describeCluster } from './60-describe-cluster.ts'
import { describeProducers } from './61-describe-producers.ts'
import { describeTopicPartitions } from './75-describe-topic-partitions.ts'

/** In the order of their keys. */
export const handlers: readonly Handler[] = [
  produce,
  fetch,
  listOffsets,
  metadata,
  findCoordinator,
  apiVersions,
  createTopics,
  deleteTopics,
  deleteRecords,
  initProducerId,
  offsetForLeaderEpoch,
  describeConfigs,
  legacyAlterConfigs,
  describeLogDirs,
  createPartitions,
  incrementalAlterConfigs,
  describeCluster,
  describeProducers,
  describeTopicPartitions,
]
