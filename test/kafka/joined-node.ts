// A Lockstep node that joins a real Kafka cluster, as a process of its own: suites start, stop, kill and restart it.
import { LockstepNode, type LockstepOptions } from '../lockstep-process.ts'
import type { KafkaCluster } from './cluster.ts'

export interface JoinedNodeOptions extends Omit<LockstepOptions, 'clusterId'> {
  /** Default 1001. */
  readonly nodeId?: number
}

/** Where a node joins. */
export type JoinedCluster = Pick<KafkaCluster, 'clusterId' | 'controllerAddresses'>

/** What the node's file says about the cluster that it joins. */
export const joiningProperties = (cluster: JoinedCluster, nodeId: number): Readonly<Record<string, string>> => ({
  'process.roles': 'broker',
  'node.id': String(nodeId),
  'controller.quorum.bootstrap.servers': cluster.controllerAddresses,
  'controller.listener.names': 'CONTROLLER',
  'inter.broker.listener.name': 'PLAINTEXT',
  'listener.security.protocol.map': 'CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT',
})

/** Starts it with a fresh directory, and waits until it is a broker of the cluster that may lead. */
export function startJoinedNode(
  cluster: JoinedCluster,
  { nodeId = 1001, properties = {}, ...options }: JoinedNodeOptions = {},
): Promise<LockstepNode> {
  return LockstepNode.start({
    ...options,
    clusterId: cluster.clusterId,
    properties: {
      ...joiningProperties(cluster, nodeId),
      // A busy machine misses one heartbeat now and then.
      'broker.heartbeat.interval.ms': '1000',
      ...properties,
    },
  })
}
