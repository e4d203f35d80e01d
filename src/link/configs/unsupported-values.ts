/** Which values of link properties this version cannot honour yet, with the reason; they are refused, never ignored. */
import type { linkConfigRows } from './link-config-rows.ts'

const supportedMechanisms: readonly string[] = ['PLAIN', 'SCRAM-SHA-256', 'SCRAM-SHA-512', 'OAUTHBEARER']

/** Why this value of this key is refused for now; undefined = it is honoured. */
export function unsupportedReason(key: keyof typeof linkConfigRows, formatted: string): string | undefined {
  switch (key) {
    case 'link.mode':
      return formatted === 'SOURCE' ? 'source-initiated links are not supported' : undefined
    case 'connection.mode':
    case 'remote.link.connection.mode':
      return formatted === 'INBOUND' ? 'source-initiated connections are not supported' : undefined
    case 'sasl.mechanism':
      return supportedMechanisms.includes(formatted.toUpperCase())
        ? undefined
        : `only ${supportedMechanisms.join(', ')} are supported`
    case 'ssl.keystore.type':
    case 'ssl.truststore.type':
      return /^(PEM|PKCS12|JKS)$/i.test(formatted) ? undefined : 'only PEM, PKCS12 and JKS are supported'
  }
  return undefined
}
