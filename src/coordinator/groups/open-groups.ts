/** Makes the group coordinator of a node out of its server properties; the composition root and tests call it, and subscribe it behind the replicas. */
import { brokerConfig } from '../../metadata/broker-configs.ts'
import { compressionNames } from '../../protocol/batches/batch-header.ts'
import { groupsTopic } from '../runtime/internal-topics.ts'
import { GroupCoordinator, type GroupCoordinatorOptions } from './group-coordinator.ts'
import { groupSettings } from './group-settings.ts'

export interface OpenGroupsOptions extends Omit<GroupCoordinatorOptions, 'topic' | 'settings' | 'compression'> {
  /** The server's properties file. */
  readonly file: ReadonlyMap<string, string>
}

export function openGroups(options: OpenGroupsOptions): GroupCoordinator {
  const property = (name: string) => options.file.get(name)?.trim() ?? brokerConfig(name)?.property.default ?? ''
  return new GroupCoordinator({
    ...options,
    topic: groupsTopic(property),
    settings: groupSettings(property),
    compression: compressionNames[Number(property('offsets.topic.compression.codec'))] ?? 'none',
  })
}
