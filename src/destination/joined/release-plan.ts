/** Where the partitions of a mirror are and what a release has to do with each of them; pure, asked by TopicRelease at every step. */
import { isActiveBroker, isJavaBroker } from '../../metadata/lockstep-nodes.ts'
import type { MetadataImage, PartitionImage, TopicImage } from '../../metadata/metadata-image.ts'
import { javaReplicas } from '../../metadata/placement/usable-brokers.ts'

/** Brokers that are to have each partition in the end, the preferred leader first; index = partition. */
export interface ReleasePlan {
  readonly replicas: readonly (readonly number[])[]
}

/** A partition on its way to the Java brokers. */
export interface PartitionStanding {
  readonly partition: number
  readonly leader: number
  /** Some replica is not at a Java broker: at a Lockstep node still, registered or not. */
  readonly isOurs: boolean
  /** Java brokers that have everything and can lead, in the order of the plan. */
  readonly inSync: readonly number[]
  /** Java brokers of the plan that are not among them. */
  readonly missing: readonly number[]
}

export const planOf = (image: MetadataImage, topic: TopicImage): ReleasePlan => ({
  replicas: topic.partitions.map(partition => javaReplicas(image, goalOf(partition))),
})

/** For the state record; `parsePlan` reads it back, also if it is none. */
export const planText = ({ replicas }: ReleasePlan): string => JSON.stringify(replicas)

export function parsePlan(text: string): ReleasePlan {
  try {
    const value: unknown = JSON.parse(text)
    if (Array.isArray(value) && value.every(isIds)) return { replicas: value }
  } catch {
    // Of another version, or nothing was planned.
  }
  return { replicas: [] }
}

const isIds = (value: unknown): value is number[] =>
  Array.isArray(value) && value.every(id => Number.isSafeInteger(id) && id >= 0)

/** Where it will be when a reassignment that is under way has ended. */
const goalOf = ({ replicas, removingReplicas }: PartitionImage): number[] =>
  replicas.filter(id => !removingReplicas.includes(id))

/** All replicas are at Java brokers, or will be. */
export const isTakenAway = (image: MetadataImage, partition: PartitionImage | undefined): boolean =>
  partition !== undefined && goalOf(partition).every(id => isJavaBroker(image, id))

export function standingOf(
  image: MetadataImage,
  { topic, partition, plan }: { readonly topic: TopicImage; readonly partition: number; readonly plan: ReleasePlan },
): PartitionStanding {
  const placed = topic.partitions[partition]
  if (!placed) throw new RangeError(`topic ${topic.name} has no partition ${partition}`)
  const java = javaReplicas(image, goalOf(placed))
  const wanted = plan.replicas[partition]?.length ? plan.replicas[partition] : java
  const canLead = (id: number): boolean => {
    const broker = image.brokers.get(id)
    return broker !== undefined && isJavaBroker(image, id) && isActiveBroker(broker) && placed.isr.includes(id)
  }
  // In the order of the plan, so that the preferred leader stays the one that it was to be.
  const inSync = [...new Set([...wanted, ...java])].filter(canLead)
  return {
    partition,
    leader: placed.leader,
    isOurs: placed.replicas.some(id => !isJavaBroker(image, id)),
    inSync,
    missing: wanted.filter(id => !inSync.includes(id)),
  }
}
