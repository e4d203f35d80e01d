/** The client's side of TLS: opens a secured socket and says in words what went wrong; the dialler uses it. */
import type { OnReadOpts } from 'node:net'
import { isIP } from 'node:net'
import {
  type ConnectionOptions,
  checkServerIdentity,
  connect,
  type SecureContextOptions,
  type TLSSocket,
} from 'node:tls'

export interface ClientTls {
  readonly options: SecureContextOptions
  /** Must the certificate name the host that was asked for? */
  readonly checksHost: boolean
}

/** Begins to connect to an address of `host`. */
export function connectTls(
  tls: ClientTls,
  to: { readonly host: string; readonly address: string; readonly port: number; readonly onread: OnReadOpts },
): TLSSocket {
  const { host, address, port, onread } = to
  const options: ConnectionOptions & { onread: OnReadOpts } = {
    ...tls.options,
    host: address,
    port,
    // Passed on to the socket, though the types do not say so.
    onread,
    // Names only: an address is no name of the extension.
    servername: isIP(host) === 0 ? host : '',
    checkServerIdentity: (_name, certificate) => (tls.checksHost ? checkServerIdentity(host, certificate) : undefined),
  }
  return connect(options).setNoDelay(true).setKeepAlive(true)
}

export const isTlsError = (error: Error & { code?: string }): boolean =>
  /^(ERR_SSL_|ERR_TLS_|CERT_|EPROTO)|CERT|ISSUER|_SIGNATURE$/.test(error.code ?? '')

const REASONS: readonly (readonly [RegExp, string])[] = [
  [/^(DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_)/, 'its certificate is not trusted here'],
  [/^CERT_HAS_EXPIRED$/, 'its certificate has expired'],
  [/^CERT_NOT_YET_VALID$/, 'its certificate is not valid yet'],
  [/^ERR_TLS_CERT_ALTNAME_INVALID$/, 'its certificate is for another host'],
  [/^ERR_SSL_(WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG)$/, 'it does not speak TLS on this port'],
  [/ALERT_(BAD_CERTIFICATE|CERTIFICATE_|UNKNOWN_CA|NO_CERTIFICATE|UNSUPPORTED_CERT)/, 'it refuses our certificate'],
  [
    /^ERR_SSL_.*(HANDSHAKE_FAILURE|PROTOCOL_VERSION|NO_CIPHERS|UNSUPPORTED_PROTOCOL)/,
    'there is no common version or cipher, or it wants a certificate',
  ],
  [/^(ECONNRESET|EPIPE)$/, 'it closed the connection during the handshake'],
]

/** What a failure of TLS means, with the words of OpenSSL behind it. */
export function describeTlsError(error: Error & { code?: string }): string {
  const reason = REASONS.find(([pattern]) => pattern.test(error.code ?? ''))?.[1]
  return reason === undefined ? error.message : `${reason} (${error.message})`
}
