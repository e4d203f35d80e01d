/** Which mirror partitions get a stand-in, and who leads them then: pure decisions over the image, carried out by the keeper of stand-ins. */
import type { NamedPartition, Reassignment } from '../../../metadata/cluster-commands.ts'
import type { MetadataImage, PartitionImage, TopicImage } from '../../../metadata/metadata-image.ts'
import { least } from '../../../metadata/placement/java-replicas.ts'
import { firstPlaces, STAND_INS_MAX } from '../../../metadata/placement/mirror-placement.ts'
import { isDraining, lockstepReplicas, usableLockstepNodes } from '../../../metadata/placement/usable-brokers.ts'

export interface StandInsWanted {
  /** The node whose partitions these are: it leads them, and is to. */
  readonly node: number
  /** Mirrors. */
  readonly topics: Iterable<TopicImage>
  /** How many partitions may be on their way at a time: each is copied whole. */
  readonly underWayMax: number
}

/**
 * Mirrors that were created before there was another node, or restored by the link coordinator, lack what new mirrors have. The node
 * that is added leads at the end where it leads less than this one: such partitions are spread, once; where somebody moves one to
 * afterwards it stays.
 */
export function planStandIns(image: MetadataImage, { node, topics, underWayMax }: StandInsWanted): Reassignment[] {
  const others = usableLockstepNodes(image).flatMap(({ brokerId }) => (brokerId === node ? [] : [brokerId]))
  if (others.length === 0 || isDraining(image, node)) return []
  const { alone, underWay } = partitionsOf(image, node, topics)
  const leads = firstPlaces(image)
  const standsIn = new Map<number, number>()
  const leadsOf = (id: number): number => leads.get(id) ?? 0
  return alone.slice(0, Math.max(0, underWayMax - underWay)).flatMap(({ topic, partition, placed }) => {
    const added = least(others, id => [leadsOf(id), standsIn.get(id) ?? 0])
    if (added === undefined) return []
    const behind = placed.replicas.filter(id => id !== node)
    const isSpread = leadsOf(node) - leadsOf(added) >= 2
    if (isSpread) {
      leads.set(added, leadsOf(added) + 1)
      leads.set(node, leadsOf(node) - 1)
    } else standsIn.set(added, (standsIn.get(added) ?? 0) + 1)
    return [{ topic, partition, replicas: isSpread ? [added, node, ...behind] : [node, added, ...behind] }]
  })
}

interface Alone extends NamedPartition {
  readonly placed: PartitionImage
}

/** Those that `node` leads without a stand-in, and how many are being copied to one already. */
function partitionsOf(image: MetadataImage, node: number, topics: Iterable<TopicImage>) {
  const alone: Alone[] = []
  let underWay = 0
  for (const topic of topics)
    for (const [partition, placed] of topic.partitions.entries()) {
      if (placed.leader !== node) continue
      if (placed.addingReplicas.length > 0 || placed.removingReplicas.length > 0)
        underWay += lockstepReplicas(image, placed.addingReplicas).length > 0 ? 1 : 0
      else if (placed.replicas[0] === node && lockstepReplicas(image, placed.replicas).length <= STAND_INS_MAX)
        alone.push({ topic: topic.name, partition, placed })
    }
  return { alone, underWay }
}
