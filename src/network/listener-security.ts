/** What a listener demands of those who connect: TLS, a login, both or nothing; built by node/ from Kafka's listener properties. */
import type { TlsOptions } from 'node:tls'
import type { LoginSettings } from './login/sasl-session.ts'

/** The server's side of TLS. */
export interface ServerTls {
  /** Key, chain, trusted certificates, versions, ciphers, and whether clients must show a certificate. */
  readonly options: TlsOptions
  /** Clients that show a certificate are who it says; otherwise it only lets them in (SASL_SSL). */
  readonly identifies: boolean
  /** Principal name for the subject of a client's certificate (RFC 2253). Throws if no rule applies. */
  readonly principalNameOf: (subject: string) => string
}

export interface ListenerSecurity {
  readonly tls?: ServerTls | undefined
  readonly login?: LoginSettings | undefined
}

/** Anybody may connect and is anonymous. */
export const openListener: ListenerSecurity = {}
