// Free loopback ports for processes that need to know their port before they start; used by clusters and nodes.
import { once } from 'node:events'
import { createServer } from 'node:net'

/** `count` different ports of 127.0.0.1 that were free a moment ago. */
export async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer())
  const ports = await Promise.all(
    servers.map(async server => {
      server.listen(0, '127.0.0.1')
      await once(server, 'listening')
      const address = server.address()
      if (address === null || typeof address === 'string') throw new Error('a TCP server has a port')
      return address.port
    }),
  )
  await Promise.all(
    servers.map(async server => {
      server.close()
      await once(server, 'close')
    }),
  )
  return ports
}
