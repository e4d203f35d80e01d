/** Makes the share partitions of a node out of its server properties; the composition root and the broker's test node call it, and subscribe them behind the replicas. */
import { brokerConfig } from '../../metadata/broker-configs.ts'
import { SharePartitions, type SharePartitionsOptions } from './share-partitions.ts'
import { shareServerSettings } from './share-settings.ts'

export interface OpenSharePartitionsOptions extends Omit<SharePartitionsOptions, 'settings'> {
  /** The server's properties file. */
  readonly file: ReadonlyMap<string, string>
}

export function openSharePartitions(options: OpenSharePartitionsOptions): SharePartitions {
  const property = (name: string) => options.file.get(name)?.trim() ?? brokerConfig(name)?.property.default ?? ''
  return new SharePartitions({ ...options, settings: shareServerSettings(property) })
}
