/** Which addresses `bootstrap.servers` stand for by `client.dns.lookup`; the broker pool asks before it connects to one. */
import { lookup, lookupService } from 'node:dns/promises'
import { isIP } from 'node:net'
import { messageOf } from '../core/errors.ts'
import type { SourceConnectionSettings } from '../link/ports.ts'
import { ConnectionError } from '../network/connection-error.ts'
import type { DnsLookup } from '../network/dial.ts'
import { type HostPort, parseHostPort } from './bootstrap-servers.ts'

/** The name that an address has: what DNS answers backwards, else the address. */
export type CanonicalName = (address: string) => Promise<string>

const systemLookup: DnsLookup = async host => (await lookup(host, { all: true })).map(entry => entry.address)

const systemName: CanonicalName = async address => {
  try {
    return (await lookupService(address, 0)).hostname
  } catch {
    return address
  }
}

export interface NameServices {
  readonly dnsLookup?: DnsLookup | undefined
  readonly canonicalName?: CanonicalName | undefined
}

/**
 * With `use_all_dns_ips` the server itself: whoever connects tries all its addresses. With
 * `resolve_canonical_bootstrap_servers_only` every address under its canonical name, as certificates and logins may need
 * it. Rejects with SourceError or ConnectionError.
 */
export async function placesOf(
  server: string,
  bootstrapLookup: SourceConnectionSettings['bootstrapLookup'],
  services: NameServices,
): Promise<readonly HostPort[]> {
  const { host, port } = parseHostPort(server)
  if (bootstrapLookup === 'use_all_dns_ips') return [{ host, port }]
  const addresses = isIP(host) === 0 ? await addressesOf(host, services.dnsLookup ?? systemLookup) : [host]
  const names = await Promise.all(addresses.map(services.canonicalName ?? systemName))
  return [...new Set(names)].map(name => ({ host: name, port }))
}

async function addressesOf(host: string, dnsLookup: DnsLookup): Promise<readonly string[]> {
  let addresses: readonly string[]
  try {
    addresses = await dnsLookup(host)
  } catch (error) {
    throw new ConnectionError('dns', `cannot resolve ${host}: ${messageOf(error)}`, { cause: error })
  }
  if (addresses.length === 0) throw new ConnectionError('dns', `${host} has no address`)
  return addresses
}
