/** Partition directories that the metadata does not know: set aside under another name, as Kafka does, never deleted. */
import type { Logger } from '../core/logger.ts'
import type { LogStore } from '../log/log-store.ts'
import type { MetadataImage } from '../metadata/metadata-image.ts'

/** Before any log is opened: a topic deleted just before a crash must not stand in the way of a new one of its name. */
export async function setAsideStrayLogs(
  store: LogStore,
  image: MetadataImage,
  /** `hostedBy`: also what has no replica on that broker any more. */
  { hostedBy, logger }: { readonly hostedBy?: number; readonly logger: Logger },
): Promise<void> {
  for (const { topic, partition, topicId } of await store.partitions()) {
    const known = topicId === undefined ? undefined : image.topics.get(topicId)
    const assigned = known?.name === topic ? known.partitions[partition] : undefined
    if (assigned && (hostedBy === undefined || assigned.replicas.includes(hostedBy))) continue
    const directory = await store.setAside(topic, partition)
    logger.warn('a partition directory that belongs to no topic here was set aside; delete it when it is not needed', {
      directory,
    })
  }
}
