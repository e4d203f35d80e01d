/** Makes the share coordinator of a node out of its server properties; the composition root and the broker's test node call it, and subscribe it behind the replicas. */
import { brokerConfig } from '../../metadata/broker-configs.ts'
import { compressionNames } from '../../protocol/batches/batch-header.ts'
import { LocalSharePersister } from './local-share-persister.ts'
import { ShareCoordinator, type ShareCoordinatorOptions } from './share-coordinator.ts'
import type { SharePersister } from './share-persister.ts'
import { shareStateSettings, shareStateTopic } from './share-state-settings.ts'

export interface OpenShareStateOptions extends Omit<ShareCoordinatorOptions, 'topic' | 'settings' | 'compression'> {
  /** The server's properties file. */
  readonly file: ReadonlyMap<string, string>
}

/** The share coordinator, and how this node's own share groups and share partitions reach it. */
export interface ShareState {
  readonly coordinator: ShareCoordinator
  readonly persister: SharePersister
}

export function openShareState(options: OpenShareStateOptions): ShareState {
  const property = (name: string) => options.file.get(name)?.trim() ?? brokerConfig(name)?.property.default ?? ''
  const coordinator = new ShareCoordinator({
    ...options,
    topic: shareStateTopic(property),
    settings: shareStateSettings(property),
    compression: compressionNames[Number(property('share.coordinator.state.topic.compression.codec'))] ?? 'none',
  })
  return { coordinator, persister: new LocalSharePersister({ coordinator, clock: options.clock }) }
}
