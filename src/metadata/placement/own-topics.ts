/** Where Lockstep's own topics live in a joined cluster: on every Lockstep node, and on real brokers behind them. The joined destination asks at their creation, the placement keeper afterwards. */
import type { Random } from '../../core/random.ts'
import { type MetadataImage, topicByName } from '../metadata-image.ts'
import { placeJavaReplicas } from './java-replicas.ts'
import { isDraining, javaReplicas, lockstepReplicas, usableJavaBrokers, usableLockstepNodes } from './usable-brokers.ts'

/** One partition each. */
export const OWN_TOPICS = ['__lockstep_state', '__lockstep_inbox', '__lockstep_status'] as const

/** On so many real brokers, where there are as many. */
const JAVA_REPLICAS = 3

export interface OwnTopicPlacement {
  /** Of partition 0, the preferred coordinator first. */
  readonly replicas: readonly number[]
  readonly minInsyncReplicas: number
}

/** The same for all three, so that one node leads them. Undefined without a Lockstep node or a real broker that is alive. */
export function placeOwnTopic(image: MetadataImage, random: Random): OwnTopicPlacement | undefined {
  const listed = OWN_TOPICS.map(name => topicByName(image, name)?.partitions[0]?.replicas).find(found => found) ?? []
  const nodes = inOrderOf(
    listed,
    usableLockstepNodes(image).map(({ brokerId }) => brokerId),
  )
  const usable = usableJavaBrokers(image)
  const present = usable.filter(({ id }) => listed.includes(id)).slice(0, JAVA_REPLICAS)
  const [added = []] = placeJavaReplicas(usable, {
    count: 1,
    replicationFactor: Math.min(JAVA_REPLICAS, usable.length) - present.length,
    present: [present],
    random,
  })
  const brokers = inOrderOf(listed, [...present.map(({ id }) => id), ...added])
  if (nodes.length === 0 || brokers.length === 0) return undefined
  const replicas = [...nodes, ...brokers]
  return { replicas, minInsyncReplicas: minInsyncReplicasOf(replicas.length) }
}

/** Two copies of what is acknowledged, if one replica may still be down then. */
export const minInsyncReplicasOf = (replicas: number): number => (replicas > 2 ? 2 : 1)

/**
 * What an own topic's partition shall have instead: nodes that came since, without those that are being emptied or are not
 * registered any more. Real brokers stay, whoever moved it there. Undefined = it is fine as it is, or nothing can be said now.
 */
export function ownTopicMove(image: MetadataImage, replicas: readonly number[]): readonly number[] | undefined {
  const usable = usableLockstepNodes(image).map(({ brokerId }) => brokerId)
  // A node that is only down for a while keeps its place.
  const kept = lockstepReplicas(image, replicas).filter(
    id => usable.includes(id) || (image.brokers.get(id)?.fenced === true && !isDraining(image, id)),
  )
  const nodes = [...kept, ...usable.filter(id => !kept.includes(id))]
  const brokers = javaReplicas(image, replicas)
  const wanted = [...nodes, ...brokers]
  if (usable.length === 0 || brokers.length === 0) return undefined
  return wanted.length === replicas.length && wanted.every((id, index) => id === replicas[index]) ? undefined : wanted
}

/** As they are listed, then the others. */
const inOrderOf = (listed: readonly number[], wanted: readonly number[]): number[] => [
  ...listed.filter(id => wanted.includes(id)),
  ...wanted.filter(id => !listed.includes(id)),
]
