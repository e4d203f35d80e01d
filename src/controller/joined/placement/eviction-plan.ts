/** How a foreign partition leaves the Lockstep nodes: pure decisions over the image, carried out by the evictor. */
import type { Random } from '../../../core/random.ts'
import { isActiveBroker, isLockstepNode, lockstepNodes } from '../../../metadata/lockstep-nodes.ts'
import type { MetadataImage, PartitionImage } from '../../../metadata/metadata-image.ts'
import { placeJavaReplicas } from '../../../metadata/placement/java-replicas.ts'
import { javaReplicas, usableJavaBrokers } from '../../../metadata/placement/usable-brokers.ts'

export interface EvictionPlan {
  /** To be asked for at once: in one record where a real broker is in sync, else as soon as one is. */
  readonly leave: readonly number[]
  /** To be asked for when the first is done: it has as many replicas as whoever placed it wanted. */
  readonly settle: readonly number[]
}

/**
 * Where a partition that is neither a mirror nor Lockstep's own goes; undefined = no real broker is alive to take it, or nothing
 * is to be done. A reassignment that waits for a replica that is not in sync waits for ever for one that is dead, hence
 * the first step names only replicas that are in sync (a reassignment completes when all it names are), or one that is alive.
 */
export function evictionPlan(
  image: MetadataImage,
  partition: PartitionImage,
  random: Random,
): EvictionPlan | undefined {
  const goal = reassignmentGoal(partition)
  if (!needsEviction(image, partition)) return undefined
  const kept = javaReplicas(image, goal)
  const missing = Math.max(0, goal.length - kept.length) + (kept.some(id => isAlive(image, id)) ? 0 : 1)
  const usable = usableJavaBrokers(image)
  const present = kept.flatMap(id => image.brokers.get(id) ?? [])
  const [substitutes = []] = placeJavaReplicas(usable, {
    count: 1,
    replicationFactor: missing,
    present: [present],
    random,
  })
  // The dead ones among them are whoever placed it's business; they count.
  const settle = [...kept, ...substitutes].slice(0, Math.max(goal.length, 1))
  const inSync = kept.filter(id => partition.isr.includes(id))
  if (inSync.length > 0) return { leave: inSync, settle }
  const alive = [...kept.filter(id => isAlive(image, id)), ...substitutes][0]
  return alive === undefined ? undefined : { leave: [alive], settle }
}

/** Where the partition's replicas will be when the reassignment that is under way, if one is, has come to its end. */
export const reassignmentGoal = ({ replicas, removingReplicas }: PartitionImage): number[] =>
  replicas.filter(id => !removingReplicas.includes(id))

/** Is it meant to stay on a Lockstep node, or on its way to brokers none of which can ever be in sync? */
export function needsEviction(image: MetadataImage, partition: PartitionImage): boolean {
  const goal = reassignmentGoal(partition)
  if (goal.some(id => isLockstepNode(image, id))) return true
  if (!isOnLockstep(image, partition)) return false
  return !goal.some(id => isAlive(image, id))
}

export const isOnLockstep = (image: MetadataImage, { replicas }: PartitionImage): boolean =>
  replicas.some(id => isLockstepNode(image, id))

/** One node acts: the first of the partition's nodes that is alive, or the first node of all. */
export function evictorOf(image: MetadataImage, { replicas }: PartitionImage): number | undefined {
  const nodes = lockstepNodes(image).filter(({ fenced }) => !fenced)
  return (nodes.find(({ brokerId }) => replicas.includes(brokerId)) ?? nodes[0])?.brokerId
}

function isAlive(image: MetadataImage, id: number): boolean {
  const broker = image.brokers.get(id)
  return broker !== undefined && isActiveBroker(broker)
}
