/** Partition directories that the metadata does not know: set aside under another name, as Kafka does, never deleted. */
import { randomUUID } from 'node:crypto'
import { rename } from 'node:fs/promises'
import { join } from 'node:path'
import type { Logger } from '../core/logger.ts'
import type { LogStore } from '../log/log-store.ts'
import type { MetadataImage } from '../metadata/metadata-image.ts'

/** Before any log is opened: a topic deleted just before a crash must not stand in the way of a new one of its name. */
export async function setAsideStrayLogs(store: LogStore, image: MetadataImage, logger: Logger): Promise<void> {
  for (const { topic, partition, topicId } of await store.partitions()) {
    if (topic === '__cluster_metadata') continue
    const known = topicId === undefined ? undefined : image.topics.get(topicId)
    if (known?.name === topic && known.partitions[partition] !== undefined) continue
    const suffix = `-${partition}.${randomUUID().replaceAll('-', '')}-stray`
    const target = topic.slice(0, 255 - suffix.length) + suffix
    await rename(join(store.directory, `${topic}-${partition}`), join(store.directory, target))
    logger.warn('a partition directory without a topic was set aside; delete it when it is not needed', {
      directory: join(store.directory, target),
    })
  }
}
