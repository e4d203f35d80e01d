/** Parses the entries of `bootstrap.servers`; the broker pool calls it. */
import { SourceError } from '../link/ports.ts'

export interface HostPort {
  readonly host: string
  readonly port: number
}

/** `host:port`, or `[address]:port` for IPv6. Throws SourceError naming the entry. */
export function parseHostPort(text: string): HostPort {
  const match = /^(?:\[([0-9A-Fa-f:.%]+)\]|([^\s:[\]/]+)):(\d{1,5})$/.exec(text.trim())
  const host = match?.[1] ?? match?.[2]
  const port = Number(match?.[3])
  if (host === undefined || port < 1 || port > 65535)
    throw new SourceError('dns', `"${text}" in bootstrap.servers is not host:port`)
  return { host, port }
}
