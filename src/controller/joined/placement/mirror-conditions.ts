/** What is not as it should be about where a mirror partition lives and who leads it: pure, for the watch over mirrors and what it tells. */
import { isActiveBroker, isLockstepNode } from '../../../metadata/lockstep-nodes.ts'
import type { MetadataImage, PartitionImage } from '../../../metadata/metadata-image.ts'
import { isDraining, lockstepReplicas } from '../../../metadata/placement/usable-brokers.ts'
import { reassignmentGoal } from './eviction-plan.ts'

/**
 * `LED_BY_KAFKA`: a Java broker leads, so nothing is mirrored. `LED_BY_STAND_IN`: another Lockstep node than the preferred one.
 * `WITHOUT_LEADER`. `OFF_LOCKSTEP`: somebody moved it to Java brokers, or added the partition there. `NOT_PREFERRED`: somebody put
 * a Java broker first.
 */
export type MirrorConditionName =
  | 'LED_BY_KAFKA'
  | 'LED_BY_STAND_IN'
  | 'WITHOUT_LEADER'
  | 'OFF_LOCKSTEP'
  | 'NOT_PREFERRED'

export interface MirrorCondition {
  readonly name: MirrorConditionName
  /** The node that can lead again now, in sync and alive; undefined = nobody can, or it is the operator's decision. */
  readonly returnsTo: number | undefined
}

/** Undefined = led by its preferred Lockstep node. */
export function conditionOf(image: MetadataImage, partition: PartitionImage): MirrorCondition | undefined {
  const goal = reassignmentGoal(partition)
  const nodes = lockstepReplicas(image, goal)
  const [preferred] = goal
  // Who moved it away, by the kill switch perhaps, decides; `lockstep mirror move` brings it back.
  if (preferred === undefined || nodes.length === 0) return { name: 'OFF_LOCKSTEP', returnsTo: undefined }
  const available = (id: number): boolean => {
    const broker = image.brokers.get(id)
    return broker !== undefined && isActiveBroker(broker) && partition.isr.includes(id) && !isDraining(image, id)
  }
  const { leader } = partition
  if (leader < 0) return { name: 'WITHOUT_LEADER', returnsTo: undefined }
  if (!isLockstepNode(image, preferred)) return { name: 'NOT_PREFERRED', returnsTo: undefined }
  if (!isLockstepNode(image, leader)) return { name: 'LED_BY_KAFKA', returnsTo: nodes.find(available) }
  if (leader === preferred) return undefined
  return { name: 'LED_BY_STAND_IN', returnsTo: available(preferred) ? preferred : undefined }
}

/** The replicas in the order in which `node` is the preferred leader. */
export const withFirst = (replicas: readonly number[], node: number): number[] => [
  node,
  ...replicas.filter(id => id !== node),
]
