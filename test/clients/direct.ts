// A connection to one broker below any client: requests of any version, sent where a client would choose another broker; used by suites of joined nodes.
import { readFileSync } from 'node:fs'
import { systemClock } from '../../src/core/clock.ts'
import { BrokerConnection } from '../../src/network/broker-connection.ts'
import { plainClient, scramClient } from '../../src/network/login/client-mechanisms.ts'
import type { ClientSecurity } from './client-record.ts'

const TIMEOUT_MS = 60_000

/** To be closed by the caller. `address` is `host:port`. */
export function connectTo(address: string, security?: ClientSecurity): Promise<BrokerConnection> {
  const [host = '', port] = address.split(':')
  return BrokerConnection.connect({
    host,
    port: Number(port),
    clientId: 'suite',
    connectTimeoutMs: TIMEOUT_MS,
    requestTimeoutMs: TIMEOUT_MS,
    clock: systemClock,
    tls: tlsOf(security),
    login: loginOf(security),
  })
}

/** One connection for the time of `ask`. */
export async function askBroker<T>(
  address: string,
  ask: (connection: BrokerConnection) => Promise<T>,
  security?: ClientSecurity,
): Promise<T> {
  const connection = await connectTo(address, security)
  try {
    return await ask(connection)
  } finally {
    connection.close()
  }
}

function tlsOf(security: ClientSecurity | undefined) {
  if (security === undefined || security.protocol === 'SASL_PLAINTEXT') return undefined
  return { options: { ca: readFileSync(security.caFile, 'utf8') }, checksHost: true }
}

function loginOf(security: ClientSecurity | undefined) {
  if (security?.mechanism === undefined) return undefined
  const { mechanism, user = '', password = '' } = security
  return mechanism === 'PLAIN' ? plainClient({ user, password }) : scramClient(mechanism, { user, password })
}
