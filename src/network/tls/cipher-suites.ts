/** Cipher suites by the names that Kafka's configuration uses (those of the standard) as OpenSSL names them; TLS material uses it. */
import { getCiphers } from 'node:tls'

/** OpenSSL's name of a suite; undefined if there is none here. TLS 1.3 suites have one name only. */
export function openSslCipher(suite: string): string | undefined {
  const known = getCiphers()
  const isKnown = (name: string): boolean => known.includes(name.toLowerCase())
  if (isKnown(suite)) return suite
  const found = /^(?:TLS|SSL)_(.+)_WITH_(.+)$/.exec(suite)
  if (!found) return undefined
  const [, exchange = '', bulk = ''] = found
  const cipher = bulk
    .replace(/^(AES|ARIA|CAMELLIA)_(\d+)/, '$1$2')
    .replace(/_CBC_(SHA\d*)$/, '_$1')
    .replace(/^CHACHA20_POLY1305_SHA256$/, 'CHACHA20_POLY1305')
    .replaceAll('_', '-')
  const name = exchange === 'RSA' ? cipher : `${exchange.replaceAll('_', '-')}-${cipher}`
  return isKnown(name) ? name : undefined
}
