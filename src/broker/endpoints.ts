/** Nodes as clients of one listener see them; every answer that names brokers takes them from here. */
import { isLockstepNode } from '../metadata/lockstep-nodes.ts'
import type { BrokerImage, MetadataImage, PartitionImage } from '../metadata/metadata-image.ts'

/** A broker's address on the listener that the client came on. */
export interface NodeEndpoint {
  readonly nodeId: number
  readonly host: string
  readonly port: number
  readonly rack: string | null
}

/** undefined for a broker that is unknown, fenced or without that listener. */
export function endpointOf(image: MetadataImage, brokerId: number, listener: string): NodeEndpoint | undefined {
  const broker = image.brokers.get(brokerId)
  if (!broker || broker.fenced) return undefined
  return addressOf(broker, listener)
}

/** The broker's address, fenced or not; undefined without that listener. */
export function addressOf(broker: BrokerImage, listener: string): NodeEndpoint | undefined {
  const found = broker.listeners.get(listener)
  return found && { nodeId: broker.id, host: found.host, port: found.port, rack: broker.rack }
}

/** All brokers that a client of the listener can reach, by id. */
export const aliveEndpoints = (image: MetadataImage, listener: string): NodeEndpoint[] =>
  [...image.brokers.keys()].sort((a, b) => a - b).flatMap(id => endpointOf(image, id, listener) ?? [])

/**
 * The broker that clients are told to take for the controller, since each passes on what is the controller's: the one with the lowest
 * id that is no Lockstep node, if there is one. -1 = none.
 */
export function adminBroker(image: MetadataImage, listener: string): number {
  const alive = aliveEndpoints(image, listener)
  return (alive.find(({ nodeId }) => !isLockstepNode(image, nodeId)) ?? alive[0])?.nodeId ?? -1
}

/** Leader id and epoch for answers that refuse with "not the leader" (KIP-951), and its address if it can be reached. */
export function currentLeader(
  image: MetadataImage,
  partition: PartitionImage | undefined,
  listener: string,
): { readonly leader: { leaderId: number; leaderEpoch: number }; readonly endpoint: NodeEndpoint | undefined } {
  if (!partition) return { leader: { leaderId: -1, leaderEpoch: -1 }, endpoint: undefined }
  return {
    leader: { leaderId: partition.leader, leaderEpoch: partition.leaderEpoch },
    endpoint: endpointOf(image, partition.leader, listener),
  }
}
