/** A client's IP address as the bytes that an Envelope carries; ACLs of hosts are judged by it. */
import { isIP, isIPv4 } from 'node:net'
import { aclHost } from '../../metadata/acl-host.ts'

/** 4 or 16 bytes; an IPv4 address inside IPv6, as sockets tell it, is 4. Throws RangeError. */
export function clientAddressBytes(address: string): Buffer {
  if (isIP(address) === 0) throw new RangeError(`"${address}" is no IP address`)
  const [host = ''] = aclHost(address).split('%')
  if (isIPv4(host)) return Buffer.from(host.split('.').map(Number))
  const bytes = Buffer.alloc(16)
  for (const [index, group] of host.split(':').entries()) bytes.writeUInt16BE(Number.parseInt(group, 16), index * 2)
  return bytes
}
