/** How many Kafka brokers are in sync with the mirrors that a node leads: pure, for the figures of placement. */
import { isLockstepNode } from '../../../metadata/lockstep-nodes.ts'
import type { MetadataImage, TopicImage } from '../../../metadata/metadata-image.ts'

export interface JavaReplicas {
  /** Per topic the fewest Kafka brokers that are in the ISR of one of its partitions. */
  readonly fewest: ReadonlyMap<string, number>
  /** Partitions with fewer of them than `min.insync.replicas`, or than the brokers among their replicas if those are fewer. */
  readonly below: number
}

export interface JavaReplicasQuestion {
  readonly image: MetadataImage
  /** Only partitions that it leads are looked at. */
  readonly leader: number
  readonly mirrors: Iterable<TopicImage>
  /** `min.insync.replicas` of a topic. */
  readonly minInsync: (topic: string) => number
}

export function javaReplicas({ image, leader, mirrors, minInsync }: JavaReplicasQuestion): JavaReplicas {
  const fewest = new Map<string, number>()
  let below = 0
  const countOf = (brokers: readonly number[]) => brokers.filter(id => !isLockstepNode(image, id)).length
  for (const { name, partitions } of mirrors) {
    for (const { leader: leads, isr, replicas } of partitions) {
      if (leads !== leader) continue
      const inSync = countOf(isr)
      fewest.set(name, Math.min(inSync, fewest.get(name) ?? inSync))
      if (inSync < Math.min(minInsync(name), countOf(replicas))) below++
    }
  }
  return { fewest, below }
}
