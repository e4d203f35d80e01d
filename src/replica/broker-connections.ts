/** Connections to the other brokers of this cluster: port of whatever asks them (fetchers, group offsets, redirected questions). A joined node implements it; a standalone one has nobody to connect to. */
import type { BrokerConnection } from '../network/broker-connection.ts'
import type { FrameBuffers } from '../network/frame-buffers.ts'

export interface OwnConnectionOptions {
  /** Where the memory of answers comes from, and goes. */
  readonly frames?: FrameBuffers
  /** Gives up connecting. */
  readonly signal?: AbortSignal
}

export interface BrokerConnections {
  /** The connection that everybody here shares for short questions; made anew when it was lost, or the broker moved. Rejects with ConnectionError. */
  to(brokerId: number): Promise<BrokerConnection>
  /** A connection of the caller's own, for requests that wait at the broker; the caller closes it. Rejects with ConnectionError. */
  open(brokerId: number, options?: OwnConnectionOptions): Promise<BrokerConnection>
  /** Closes all, also those that were given out. */
  close(): Promise<void>
}
