/** Connections of a joined node to the other brokers of its cluster, by the addresses in the metadata; everything that asks brokers shares one. */
import { type OpenConnection, quorumConnections } from '../../controller/joined/quorum-connection.ts'
import type { Clock } from '../../core/clock.ts'
import type { MetadataImage } from '../../metadata/metadata-image.ts'
import type { BrokerConnection } from '../../network/broker-connection.ts'
import { ConnectionError } from '../../network/connection-error.ts'
import type { BrokerConnections, OwnConnectionOptions } from '../../replica/broker-connections.ts'
import { type JoinedSettings, peerSecurity } from './joined-settings.ts'

export interface ClusterConnectionsOptions {
  /** `inter.broker.listener.name`. */
  readonly listener: string
  readonly open: OpenConnection
  readonly image: () => MetadataImage
}

interface Shared {
  readonly address: string
  readonly connection: Promise<BrokerConnection>
}

export class ClusterConnections implements BrokerConnections {
  readonly #options: ClusterConnectionsOptions
  readonly #closing = new AbortController()
  readonly #shared = new Map<number, Shared>()
  /** Everything open, whoever uses it. */
  readonly #open = new Set<BrokerConnection>()

  constructor(options: ClusterConnectionsOptions) {
    this.#options = options
  }

  async to(brokerId: number): Promise<BrokerConnection> {
    const address = this.#addressOf(brokerId)
    const known = this.#shared.get(brokerId)
    if (known && known.address === address.text) {
      const connection = await known.connection.catch(() => undefined)
      if (connection?.isOpen) return connection
    }
    const present = this.#shared.get(brokerId)
    // Somebody else who waited for the same lost one was quicker.
    if (present && present !== known && present.address === address.text) return await present.connection
    present?.connection.then(old => old.close()).catch(() => {})
    const shared = { address: address.text, connection: this.#connect(address.place) }
    this.#shared.set(brokerId, shared)
    return await shared.connection
  }

  open(brokerId: number, options: OwnConnectionOptions = {}): Promise<BrokerConnection> {
    return this.#connect(this.#addressOf(brokerId).place, options)
  }

  async close(): Promise<void> {
    this.#closing.abort()
    const open = [...this.#open]
    for (const connection of open) connection.close()
    await Promise.all(open.map(connection => connection.closed))
  }

  async #connect(
    place: { readonly host: string; readonly port: number },
    { signal, frames }: OwnConnectionOptions = {},
  ): Promise<BrokerConnection> {
    const closing = this.#closing.signal
    if (closing.aborted) throw new ConnectionError('closed', 'this node is shutting down')
    const connection = await this.#options.open(place, signal ? AbortSignal.any([signal, closing]) : closing, frames)
    if (closing.aborted) {
      connection.close()
      throw new ConnectionError('closed', 'this node is shutting down')
    }
    this.#open.add(connection)
    void connection.closed.then(() => this.#open.delete(connection))
    return connection
  }

  /** Throws ConnectionError where the metadata has no address. */
  #addressOf(brokerId: number): { readonly text: string; readonly place: { host: string; port: number } } {
    const { listener, image } = this.#options
    const broker = image().brokers.get(brokerId)
    if (!broker) throw new ConnectionError('dns', `broker ${brokerId} is not registered with the cluster`)
    const endpoint = broker.listeners.get(listener)
    if (!endpoint) throw new ConnectionError('dns', `broker ${brokerId} has no listener ${listener}`)
    const { host, port } = endpoint
    return { text: `${host}:${port}`, place: { host, port } }
  }
}
/** As long as a Java broker waits for another (replica.socket.timeout.ms). */
const REQUEST_MS = 30_000
const CONNECT_MS = 10_000

/** Reads the keys of the listener between brokers. Rejects with TlsMaterialError. */
export async function clusterConnections(of: {
  readonly nodeId: number
  readonly joined: JoinedSettings
  /** The server's properties file. */
  readonly file: ReadonlyMap<string, string>
  readonly image: () => MetadataImage
  readonly clock: Clock
}): Promise<ClusterConnections> {
  const { nodeId, joined, file, image, clock } = of
  const security = await peerSecurity(joined.brokers, file)
  const clientId = `lockstep-${nodeId}`
  const open = quorumConnections({ clientId, security, clock, timeoutMs: CONNECT_MS, requestTimeoutMs: REQUEST_MS })
  return new ClusterConnections({ listener: joined.brokers.name, open, image })
}
