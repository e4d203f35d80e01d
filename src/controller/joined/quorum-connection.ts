/** How connections to controllers and other brokers are made: from plain data, so that the heartbeat thread can make its own. */
import type { SecureContextOptions } from 'node:tls'
import type { Clock } from '../../core/clock.ts'
import { BrokerConnection } from '../../network/broker-connection.ts'
import type { FrameBuffers } from '../../network/frame-buffers.ts'
import { plainClient, scramClient } from '../../network/login/client-mechanisms.ts'
import { isScram } from '../../network/login/scram.ts'

/** Where a controller or broker listens. */
export interface ServerPlace {
  readonly host: string
  readonly port: number
}

export const placeText = ({ host, port }: ServerPlace): string => `${host.includes(':') ? `[${host}]` : host}:${port}`

/** Everything that a connection needs but its address. Can be handed to another thread. Holds secrets: never log it. */
export interface QuorumSecurity {
  readonly tls: { readonly options: SecureContextOptions; readonly checksHost: boolean } | undefined
  readonly login: { readonly mechanism: string; readonly user: string; readonly password: string } | undefined
}

export const openToAll: QuorumSecurity = { tls: undefined, login: undefined }

/** Opens a connection; rejects with ConnectionError or the signal's reason. */
export type OpenConnection = (
  place: ServerPlace,
  signal?: AbortSignal,
  frames?: FrameBuffers,
) => Promise<BrokerConnection>

export interface QuorumConnectionOptions {
  readonly clientId: string
  readonly security: QuorumSecurity
  readonly clock: Clock
  /**
   * For connecting, and for an answer beyond what a request itself asks to wait. A controller that hangs gives no error of the
   * socket, so this is how it is noticed: keep it well below `broker.session.timeout.ms`.
   */
  readonly timeoutMs: number
  /** For an answer, where it may take longer than connecting. */
  readonly requestTimeoutMs?: number
}

export function quorumConnections(options: QuorumConnectionOptions): OpenConnection {
  const { clientId, security, clock, timeoutMs, requestTimeoutMs = timeoutMs } = options
  const login = security.login && mechanismOf(security.login)
  return (place, signal, frames) =>
    BrokerConnection.connect({
      ...place,
      clientId,
      connectTimeoutMs: timeoutMs,
      requestTimeoutMs,
      clock,
      signal,
      frames,
      tls: security.tls,
      login,
    })
}

function mechanismOf({ mechanism, user, password }: NonNullable<QuorumSecurity['login']>) {
  if (isScram(mechanism)) return scramClient(mechanism, { user, password })
  return plainClient({ user, password })
}
