// Free loopback ports for processes that need to know their port before they start; used by clusters and nodes.
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createConnection, createServer } from 'node:net'

/**
 * Below the ports that Linux gives to outgoing connections (32768 and up): one of those could be given away while the node that
 * it belongs to is down, and a client that keeps calling a node that is down could even be connected to itself.
 */
const lowest = 12_000
const limit = 32_000
const triesMax = 1000

/** `count` different ports of 127.0.0.1 that were free a moment ago. */
export async function freePorts(count: number): Promise<number[]> {
  const ports = new Set<number>()
  for (let tries = 0; ports.size < count; tries++) {
    if (tries === triesMax) throw new Error(`no ${count} free ports were found in ${triesMax} tries`)
    const port = randomInt(lowest, limit)
    if (!ports.has(port) && (await isFree(port))) ports.add(port)
  }
  return [...ports]
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer()
  try {
    server.listen(port, '127.0.0.1')
    await once(server, 'listening')
  } catch {
    return false
  }
  server.close()
  await once(server, 'close')
  return true
}

/** Connects to a port of 127.0.0.1 and hangs up; rejects while nobody listens there. */
export async function tryConnect(port: number): Promise<void> {
  const socket = createConnection({ host: '127.0.0.1', port })
  await once(socket, 'connect')
  socket.destroy()
}
