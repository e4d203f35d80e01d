/** The server properties behind the share coordinator; openShareState reads them once. */
import type { InternalTopic, PropertyText } from '../runtime/internal-topics.ts'

export interface ShareStateSettings {
  /** `share.coordinator.snapshot.update.records.per.snapshot`: so many updates, then everything anew. */
  readonly updatesPerSnapshot: number
  /** `share.coordinator.state.topic.prune.interval.ms` */
  readonly pruneMs: number
  /** `share.coordinator.cold.partition.snapshot.interval.ms`: idle time after which a partition is written anew, so that what is before it can go. */
  readonly coldSnapshotMs: number
}

export const shareStateSettings = (property: PropertyText): ShareStateSettings => ({
  updatesPerSnapshot: Number(property('share.coordinator.snapshot.update.records.per.snapshot')),
  pruneMs: Number(property('share.coordinator.state.topic.prune.interval.ms')),
  coldSnapshotMs: Number(property('share.coordinator.cold.partition.snapshot.interval.ms')),
})

/** `__share_group_state`, from the `share.coordinator.state.topic.*` properties. It is not compacted: the coordinator deletes what is redundant. */
export const shareStateTopic = (property: PropertyText): InternalTopic => ({
  name: '__share_group_state',
  partitions: Number(property('share.coordinator.state.topic.num.partitions')),
  replicationFactor: Number(property('share.coordinator.state.topic.replication.factor')),
  configs: new Map([
    ['cleanup.policy', 'delete'],
    ['compression.type', 'producer'],
    ['min.insync.replicas', property('share.coordinator.state.topic.min.isr')],
    ['retention.ms', '-1'],
    ['segment.bytes', property('share.coordinator.state.topic.segment.bytes')],
  ]),
})
