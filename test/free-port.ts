// Loopback ports for processes that need to know their port before they start; used by clusters and nodes.
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createConnection, createServer, type Server } from 'node:net'

/**
 * Below the ports that Linux gives to outgoing connections (32768 and up): one of those could be given away while the node that
 * it belongs to is down, and a client that keeps calling a node that is down could even be connected to itself.
 */
const lowest = 12_000
const limit = 32_000
/**
 * Ports are taken in blocks. A process that listens on the first port of a block owns the others for as long as it lives, whether
 * they are in use or not: two suites that run side by side never choose the same port before either listens on it, and neither
 * is given that of a node which the other has stopped.
 */
const blockSize = 50
const triesMax = 2000

/** Of this process, and given to nobody yet. */
const own: number[] = []

/** The port that is listened on by whoever owns `port`. */
export const guardOf = (port: number): number => port - ((port - lowest) % blockSize)

/** `count` different ports of 127.0.0.1 that are free, and are given to nobody else while this process lives. */
export async function freePorts(count: number): Promise<number[]> {
  const ports: number[] = []
  while (ports.length < count) {
    const port = own.shift()
    if (port === undefined) own.push(...(await claimBlock()))
    else if (await isFree(port)) ports.push(port)
  }
  return ports
}

async function claimBlock(): Promise<number[]> {
  for (let tries = 0; tries < triesMax; tries++) {
    const guard = guardOf(randomInt(lowest, limit))
    const server = await tryListen(guard)
    if (server === undefined) continue
    server.unref()
    return Array.from({ length: blockSize - 1 }, (_, index) => guard + 1 + index)
  }
  throw new Error(`every block of ports that was tried is taken, ${triesMax} times`)
}

/** Whoever was killed may have left a process behind that still listens. */
async function isFree(port: number): Promise<boolean> {
  const server = await tryListen(port)
  if (server === undefined) return false
  server.close()
  await once(server, 'close')
  return true
}

async function tryListen(port: number): Promise<Server | undefined> {
  const server = createServer()
  try {
    server.listen(port, '127.0.0.1')
    await once(server, 'listening')
    return server
  } catch {
    return undefined
  }
}

/** Connects to a port of 127.0.0.1 and hangs up; rejects while nobody listens there. */
export async function tryConnect(port: number): Promise<void> {
  const socket = createConnection({ host: '127.0.0.1', port })
  await once(socket, 'connect')
  socket.destroy()
}
