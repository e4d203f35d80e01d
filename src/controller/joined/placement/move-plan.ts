/** Where mirror partitions go when an operator moves them between Lockstep nodes, or empties a node: pure, carried out by the mover. */
import type { NamedPartition } from '../../../metadata/cluster-commands.ts'
import { lockstepNode } from '../../../metadata/lockstep-nodes.ts'
import type { MetadataImage, PartitionImage, TopicImage } from '../../../metadata/metadata-image.ts'
import { least } from '../../../metadata/placement/java-replicas.ts'
import { firstPlaces, STAND_INS_MAX } from '../../../metadata/placement/mirror-placement.ts'
import {
  isDraining,
  javaReplicas,
  lockstepReplicas,
  usableLockstepNodes,
} from '../../../metadata/placement/usable-brokers.ts'
import { reassignmentGoal } from './eviction-plan.ts'
import { withFirst } from './mirror-conditions.ts'

/** A partition and where its replicas go, the preferred leader first. */
export interface PlannedMove extends NamedPartition {
  readonly from: readonly number[]
  readonly to: readonly number[]
  readonly leader: number
  /** Who is to lead has no replica yet, or one that is behind: it copies the partition first. */
  readonly copies: boolean
}

export interface MovePlan {
  readonly moves: readonly PlannedMove[]
  /** Why partitions cannot be moved; nothing of the plan is done then. */
  readonly problem: string | undefined
}

const refused = (problem: string): MovePlan => ({ moves: [], problem })

/** `node` leads the partitions; whoever did stands in for it. Partitions that are there already are not in the plan. */
export function planMove(
  image: MetadataImage,
  wanted: { readonly node: number; readonly topics: readonly TopicImage[]; readonly partition?: number | undefined },
): MovePlan {
  const { node, topics, partition: only } = wanted
  const target = lockstepNode(image, node)
  if (!target) return refused(`broker ${node} is not a Lockstep node of this cluster`)
  if (!target.isActive) return refused(`the Lockstep node ${node} is not alive, or is leaving`)
  if (isDraining(image, node)) return refused(`the Lockstep node ${node} is being drained`)
  const moves = topics.flatMap(topic =>
    topic.partitions.flatMap((placed, partition) => {
      if (only !== undefined && only !== partition) return []
      const goal = reassignmentGoal(placed)
      const nodes = lockstepReplicas(image, goal)
      const others = nodes.filter(id => id !== node).slice(0, nodes.includes(node) ? undefined : STAND_INS_MAX)
      const to = withFirst([...others, ...javaReplicas(image, goal)], node)
      return moveOf(topic, { partition, placed, to })
    }),
  )
  return { moves, problem: undefined }
}

/** No partition of these topics keeps a replica on `node`: its stand-ins take over, nodes with the fewest partitions take their place. */
export function planDrain(
  image: MetadataImage,
  wanted: { readonly node: number; readonly topics: readonly TopicImage[] },
): MovePlan {
  const { node, topics } = wanted
  if (!lockstepNode(image, node)) return refused(`broker ${node} is not a Lockstep node of this cluster`)
  const usable = usableLockstepNodes(image).flatMap(({ brokerId }) => (brokerId === node ? [] : [brokerId]))
  const leads = firstPlaces(image)
  const moves: PlannedMove[] = []
  for (const topic of topics)
    for (const [partition, placed] of topic.partitions.entries()) {
      const goal = reassignmentGoal(placed)
      const nodes = lockstepReplicas(image, goal)
      if (!nodes.includes(node)) continue
      const kept = nodes.filter(id => id !== node)
      const added = least(
        usable.filter(id => !kept.includes(id)),
        id => [leads.get(id) ?? 0],
      )
      const staying = added === undefined ? kept : [...kept, added]
      const [first] = staying
      if (first === undefined || !staying.some(id => usable.includes(id)))
        return refused(
          `no other Lockstep node is alive to take ${topic.name}-${partition}: promote or fail over its mirror first, or start another node`,
        )
      leads.set(first, (leads.get(first) ?? 0) + 1)
      moves.push(...moveOf(topic, { partition, placed, to: [...staying, ...javaReplicas(image, goal)] }))
    }
  return { moves, problem: undefined }
}

function moveOf(
  { name: topic }: TopicImage,
  { partition, placed, to }: { partition: number; placed: PartitionImage; to: readonly number[] },
): PlannedMove[] {
  const goal = reassignmentGoal(placed)
  const [first] = to
  const there = to.length === goal.length && to.every((id, index) => id === goal[index])
  if (there && placed.leader === first) return []
  const copies = first === undefined || !placed.isr.includes(first)
  return [{ topic, partition, from: goal, to, leader: placed.leader, copies }]
}
