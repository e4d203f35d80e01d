/** Which brokers may be given new replicas of ours; the placement of mirrors, the evictor and moves of mirrors ask here. */
import {
  isActiveBroker,
  isJavaBroker,
  isLockstepNode,
  javaBrokers,
  type LockstepNode,
  lockstepNodes,
} from '../lockstep-nodes.ts'
import { type BrokerImage, ConfigResourceType, configOverrides, type MetadataImage } from '../metadata-image.ts'

/**
 * A dynamic config of a Lockstep node's broker: it is being emptied and gets no new mirrors. It lives in the cluster's metadata, so
 * that every node sees it and a restart does not forget it; KRaft keeps configs of brokers whose keys it does not know.
 */
export const DRAINING_CONFIG = 'lockstep.node.draining'

export const isDraining = (image: MetadataImage, brokerId: number): boolean =>
  configOverrides(image, { type: ConfigResourceType.BROKER, name: String(brokerId) }).get(DRAINING_CONFIG) === 'true'

/** Real brokers that are alive and take new replicas: neither fenced, leaving, nor with all their directories cordoned (KIP-1066). By ascending id. */
export const usableJavaBrokers = (image: MetadataImage): BrokerImage[] =>
  javaBrokers(image).filter(broker => isActiveBroker(broker) && !isCordoned(broker))

/** Lockstep nodes that may lead and are not being emptied; that they are cordoned concerns others' replicas. By ascending id. */
export const usableLockstepNodes = (image: MetadataImage): LockstepNode[] =>
  lockstepNodes(image).filter(({ isActive, brokerId }) => isActive && !isDraining(image, brokerId))

const isCordoned = ({ cordonedLogDirs, logDirs }: BrokerImage): boolean =>
  cordonedLogDirs !== null && logDirs.length > 0 && logDirs.every(directory => cordonedLogDirs.includes(directory))

/** Those of the replicas that are on Lockstep nodes, in their order. */
export const lockstepReplicas = (image: MetadataImage, replicas: readonly number[]): number[] =>
  replicas.filter(id => isLockstepNode(image, id))

/** Those of the replicas that are at Kafka brokers, in their order. The controller refuses to place what is not registered, such as a node that somebody unregistered. */
export const javaReplicas = (image: MetadataImage, replicas: readonly number[]): number[] =>
  replicas.filter(id => isJavaBroker(image, id))
