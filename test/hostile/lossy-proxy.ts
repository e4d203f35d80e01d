// A proxy in front of a node that cuts connections when an answer comes: the request has worked, its client never learns it.
import { once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'
import type { Random } from '../../src/core/random.ts'

export class LossyProxy {
  readonly port: number
  /** Connections cut so far. */
  cuts = 0
  /** Part of the answers that are lost with their connection. */
  lossRate = 0
  readonly #server: Server
  readonly #random: Random
  readonly #sockets = new Set<Socket>()

  private constructor(server: Server, port: number, random: Random) {
    this.#server = server
    this.port = port
    this.#random = random
  }

  /** Listens on `port` and forwards to `target`. */
  static async start(port: number, target: number, random: Random): Promise<LossyProxy> {
    const server = createServer()
    const proxy = new LossyProxy(server, port, random)
    server.on('connection', client => proxy.#forward(client, connect(target, '127.0.0.1')))
    server.listen(port, '127.0.0.1')
    await once(server, 'listening')
    return proxy
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy()
    this.#server.close()
    await once(this.#server, 'close')
  }

  #forward(client: Socket, node: Socket): void {
    const cut = () => {
      client.destroy()
      node.destroy()
    }
    for (const socket of [client, node]) {
      this.#sockets.add(socket)
      socket.on('error', cut)
      socket.on('close', () => {
        this.#sockets.delete(socket)
        cut()
      })
    }
    client.on('data', chunk => node.write(chunk))
    node.on('data', chunk => {
      if (this.#random() >= this.lossRate) return client.write(chunk)
      this.cuts++
      return cut()
    })
  }
}
