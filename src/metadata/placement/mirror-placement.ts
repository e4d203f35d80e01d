/** Where the partitions of a new mirror, and of Lockstep's own topics, live in a joined cluster; the joined destination asks before it creates them. */
import type { Random } from '../../core/random.ts'
import { ErrorCode } from '../../protocol/errors.ts'
import type { ApiError } from '../api-error.ts'
import { isLockstepNode } from '../lockstep-nodes.ts'
import type { MetadataImage, TopicImage } from '../metadata-image.ts'
import { least, placeJavaReplicas, shuffled } from './java-replicas.ts'
import { OWN_TOPICS } from './own-topics.ts'
import { lockstepReplicas, usableJavaBrokers, usableLockstepNodes } from './usable-brokers.ts'

/** Lockstep nodes that hold a mirror partition beside the one that leads it: they take over before any Java broker does. More would only cost disks. */
export const STAND_INS_MAX = 1

export interface MirrorPlacementWanted {
  /** Partitions. */
  readonly count: number
  /** Replicas on real brokers, at least 1: the cluster's default is known to its controller alone. */
  readonly replicationFactor: number
  readonly random: Random
}

export type Placement =
  | { readonly ok: true; readonly assignments: readonly (readonly number[])[] }
  | { readonly ok: false; readonly error: ApiError }

/** `[lockstep nodes…, java brokers…]` per partition: the first is the preferred leader. Refused with INVALID_REPLICATION_FACTOR where brokers are missing. */
export function placeMirror(image: MetadataImage, wanted: MirrorPlacementWanted): Placement {
  const { count, replicationFactor, random } = wanted
  const brokers = usableJavaBrokers(image)
  const nodes = usableLockstepNodes(image).map(({ brokerId }) => brokerId)
  if (replicationFactor < 1) return refused('Replication factor must be larger than 0, or -1 for the default.')
  if (brokers.length < replicationFactor) return tooFew(replicationFactor, brokers.length)
  if (nodes.length === 0) return withoutNode
  const behind = placeJavaReplicas(brokers, { count, replicationFactor, random })
  const ahead = placeLockstepReplicas(nodes, { image, count, each: 1 + STAND_INS_MAX, random })
  return { ok: true, assignments: behind.map((replicas, partition) => [...(ahead[partition] ?? []), ...replicas]) }
}

/**
 * Where the partitions that a mirror gets live: as many replicas as its first partition has, which Kafka insists on, and in the
 * same proportion where there are the brokers for it. Refused like `placeMirror`.
 */
export function placeGrowth(
  image: MetadataImage,
  wanted: { readonly topic: TopicImage; readonly newCount: number; readonly random: Random },
): Placement {
  const { topic, newCount, random } = wanted
  const count = newCount - topic.partitions.length
  const present = topic.partitions[0]?.replicas ?? []
  const nodes = usableLockstepNodes(image).map(({ brokerId }) => brokerId)
  const brokers = usableJavaBrokers(image)
  const each = Math.min(Math.max(1, lockstepReplicas(image, present).length), nodes.length)
  const replicationFactor = present.length - each
  if (each === 0) return withoutNode
  if (brokers.length < replicationFactor) return tooFew(replicationFactor, brokers.length)
  const behind = placeJavaReplicas(brokers, { count, replicationFactor, random })
  const ahead = placeLockstepReplicas(nodes, { image, count, each, random })
  return { ok: true, assignments: ahead.map((replicas, index) => [...replicas, ...(behind[index] ?? [])]) }
}

/**
 * Nodes per partition, whoever is to lead first. Counts what the nodes are first in already, so that many topics of one partition
 * are spread too; stand-ins are spread among all others, so that a node that dies burdens them equally.
 */
export function placeLockstepReplicas(
  nodes: readonly number[],
  wanted: {
    readonly image: MetadataImage
    readonly count: number
    /** Nodes of a partition; fewer if there are fewer. */
    readonly each: number
    readonly random: Random
  },
): number[][] {
  const { image, count, each, random } = wanted
  const order = shuffled(nodes, random)
  const leads = firstPlaces(image)
  const standsIn = new Map<string, number>()
  const pair = (leader: number, other: number): string => `${leader} ${other}`
  return Array.from({ length: count }, () => {
    const leader = least(order, id => [leads.get(id) ?? 0])
    if (leader === undefined) return []
    leads.set(leader, (leads.get(leader) ?? 0) + 1)
    const others = order.filter(id => id !== leader)
    const chosen = [leader]
    while (chosen.length < each) {
      const next = least(
        others.filter(id => !chosen.includes(id)),
        id => [standsIn.get(pair(leader, id)) ?? 0],
      )
      if (next === undefined) break
      standsIn.set(pair(leader, next), (standsIn.get(pair(leader, next)) ?? 0) + 1)
      chosen.push(next)
    }
    return chosen
  })
}

const ownTopics: ReadonlySet<string> = new Set(OWN_TOPICS)

/** How many partitions each Lockstep node is the preferred leader of; those of Lockstep's own topics are no load to speak of. */
export function firstPlaces(image: MetadataImage): Map<number, number> {
  const counts = new Map<number, number>()
  for (const { name, partitions } of image.topics.values())
    for (const { replicas } of ownTopics.has(name) ? [] : partitions) {
      const [first] = replicas
      if (first !== undefined && isLockstepNode(image, first)) counts.set(first, (counts.get(first) ?? 0) + 1)
    }
  return counts
}

const refused = (message: string): Placement => ({
  ok: false,
  error: { errorCode: ErrorCode.INVALID_REPLICATION_FACTOR, errorMessage: message },
})

const tooFew = (wanted: number, present: number): Placement =>
  refused(
    `Unable to replicate the partition ${wanted} time(s): The target replication factor of ${wanted} cannot be reached because only ${present} Kafka broker(s) are alive and take new replicas; Lockstep nodes do not count.`,
  )

const withoutNode: Placement = refused('No Lockstep node is alive and takes new mirrors.')
