/** Which brokers of a cluster are Lockstep nodes, told by the listener LOCKSTEP of their registration; placement, redirection, the link engine and REST ask here. */
import type { BrokerImage, EndpointImage, MetadataImage } from './metadata-image.ts'

/**
 * A Lockstep node registers one listener more than a Kafka broker, of this name: the address of its REST. Nobody connects to it as
 * Kafka, and KRaft looks at no name or address of a listener (docs/decisions/0009).
 */
export const LOCKSTEP_LISTENER = 'LOCKSTEP'

/** Numbers of security protocols on the wire. */
const PLAINTEXT = 0
const SSL = 1

/** A broker that is a Lockstep node. */
export interface LockstepNode {
  readonly brokerId: number
  /** Of its REST. */
  readonly host: string
  readonly port: number
  /** https, not http. */
  readonly tls: boolean
  readonly epoch: number
  readonly fenced: boolean
  readonly inControlledShutdown: boolean
  readonly rack: string | null
  /** Does it lead partitions, or could? */
  readonly isActive: boolean
}

/** By ascending id. */
export const lockstepNodes = (image: MetadataImage): LockstepNode[] =>
  byId(image).flatMap(broker => nodeOf(broker) ?? [])

export function lockstepNode(image: MetadataImage, brokerId: number): LockstepNode | undefined {
  const broker = image.brokers.get(brokerId)
  return broker && nodeOf(broker)
}

/** False also for brokers that are not registered. */
export const isLockstepNode = (image: MetadataImage, brokerId: number): boolean =>
  image.brokers.get(brokerId)?.listeners.has(LOCKSTEP_LISTENER) ?? false

/** False also for brokers that are not registered: such a replica may be a Lockstep node's that somebody unregistered, for a moment perhaps. */
export const isJavaBroker = (image: MetadataImage, brokerId: number): boolean =>
  image.brokers.get(brokerId)?.listeners.has(LOCKSTEP_LISTENER) === false

/** The brokers that are no Lockstep nodes, by ascending id, fenced ones too. */
export const javaBrokers = (image: MetadataImage): BrokerImage[] =>
  byId(image).filter(({ listeners }) => !listeners.has(LOCKSTEP_LISTENER))

/** May lead and be in an ISR: neither fenced nor leaving. */
export const isActiveBroker = ({
  fenced,
  inControlledShutdown,
}: Pick<BrokerImage, 'fenced' | 'inControlledShutdown'>) => !fenced && !inControlledShutdown

/** `http://host:port` or `https://…`. */
export const restUrlOf = ({ host, port, tls }: Pick<LockstepNode, 'host' | 'port' | 'tls'>): string =>
  `${tls ? 'https' : 'http'}://${host.includes(':') ? `[${host}]` : host}:${port}`

/** The listener by which a node says that it is one. */
export const lockstepEndpoint = (url: string): EndpointImage => {
  const { protocol, hostname, port } = new URL(url)
  const tls = protocol === 'https:'
  return {
    name: LOCKSTEP_LISTENER,
    host: hostname.replace(/^\[|\]$/g, ''),
    port: Number(port || (tls ? 443 : 80)),
    securityProtocol: tls ? SSL : PLAINTEXT,
  }
}

const byId = ({ brokers }: MetadataImage): BrokerImage[] => [...brokers.values()].sort((a, b) => a.id - b.id)

function nodeOf(broker: BrokerImage): LockstepNode | undefined {
  const endpoint = broker.listeners.get(LOCKSTEP_LISTENER)
  if (!endpoint) return undefined
  const { id: brokerId, epoch, fenced, inControlledShutdown, rack } = broker
  const { host, port, securityProtocol } = endpoint
  const isActive = isActiveBroker(broker)
  return { brokerId, host, port, tls: securityProtocol === SSL, epoch, fenced, inControlledShutdown, rack, isActive }
}
