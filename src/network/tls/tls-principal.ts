/** Who a client is by its TLS certificate; the listener asks when a handshake is done. */
import type { TLSSocket } from 'node:tls'
import type { ListenerSecurity } from '../listener-security.ts'
import { ANONYMOUS, type Principal } from '../request-handler.ts'
import { subjectOf } from './distinguished-name.ts'

/** A client without a certificate is anonymous. Throws when the certificate is not trusted, or no rule names its owner. */
export function tlsPrincipal(socket: TLSSocket, { tls }: ListenerSecurity): Principal {
  const { raw } = socket.getPeerCertificate()
  if (!tls || raw === undefined) return ANONYMOUS
  // Without `rejectUnauthorized` (requested, not required) Node lets everybody in and tells what it thinks.
  if (!socket.authorized) throw new Error(`it is not trusted (${socket.authorizationError})`)
  return tls.identifies ? { type: 'User', name: tls.principalNameOf(subjectOf(raw)) } : ANONYMOUS
}
