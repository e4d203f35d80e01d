/** The Lockstep nodes of a Kafka cluster as one of them tells them in `GET /nodes`, and whether this one is ready; made at start. */
import type { ClusterMembership } from '../../controller/joined/cluster-membership.ts'
import type { MetadataObserver } from '../../controller/joined/metadata-observer.ts'
import { stateTopicName } from '../../destination/state-topic.ts'
import type { LinkEngine } from '../../link/engine-api.ts'
import { type LockstepNode, lockstepNodes, restUrlOf } from '../../metadata/lockstep-nodes.ts'
import { type MetadataImage, topicByName } from '../../metadata/metadata-image.ts'
import type { NodeView } from '../../rest/cluster-ports.ts'
import type { Health } from '../../rest/ports.ts'
import { type LedBy, partitionsLedBy, statusReasons } from '../rest/local-node.ts'

/** Ready = a broker that may lead, and follows the metadata. */
export function joinedHealth(of: {
  readonly nodeId: number
  readonly observer: Pick<MetadataObserver, 'image' | 'failure'>
  readonly membership: Pick<ClusterMembership, 'brokerEpoch' | 'isServing'>
  readonly engine: Pick<LinkEngine, 'statusIsDue'>
}): Health {
  const { nodeId, observer, membership, engine } = of
  return {
    notReadyReasons() {
      if (observer.failure) return [observer.failure.message]
      if (!membership.isServing) return ['this node is starting']
      if (membership.brokerEpoch < 0) return ['this node is not registered with the cluster']
      const known = observer.image.brokers.get(nodeId)
      if (known?.epoch !== membership.brokerEpoch) return ['the registration of this node is not in the metadata yet']
      if (known.inControlledShutdown) return ['this node is leaving']
      return known.fenced ? ['the controller has fenced this node'] : statusReasons(engine)
    },
  }
}

export function joinedNodes(of: {
  readonly nodeId: number
  /** Of this node; that of others is not in the metadata. */
  readonly version: string
  readonly image: MetadataImage
  readonly engine: LedBy['engine'] & Pick<LinkEngine, 'ready'>
  readonly notReady: readonly string[]
}): NodeView[] {
  const { nodeId, version, image, engine, notReady } = of
  const coordinator = topicByName(image, stateTopicName)?.partitions[0]?.leader
  return lockstepNodes(image).map(node => {
    const isThis = node.brokerId === nodeId
    const healthMessage = isThis && notReady.length > 0 ? notReady.join('; ') : messageOfState(node)
    return {
      nodeId: node.brokerId,
      mode: 'JOINED',
      version: isThis ? version : null,
      restUrl: restUrlOf(node),
      ...partitionsLedBy({ nodeId: node.brokerId, image, engine }),
      cordoned: (image.brokers.get(node.brokerId)?.cordonedLogDirs ?? []).length > 0,
      health: healthOf(node, healthMessage),
      healthMessage,
      linkCoordinator: isThis ? engine.ready : node.brokerId === coordinator,
    }
  })
}

function healthOf(node: LockstepNode, message: string | null): NodeView['health'] {
  if (node.inControlledShutdown) return 'LEAVING'
  if (node.fenced) return 'FENCED'
  return message === null ? 'HEALTHY' : 'STARTING'
}

function messageOfState({ fenced, inControlledShutdown }: LockstepNode): string | null {
  if (inControlledShutdown) return 'it has asked the cluster to take its leaderships'
  return fenced ? 'the cluster has heard nothing of it for a session, or it has asked to be fenced' : null
}
