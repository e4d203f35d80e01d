// Stands between clients and one broker of 127.0.0.1, with every connection in somebody's hands; the proxies of suites are made of it.
import { once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'

/** What a client has opened; `cut` ends both halves. Nothing goes over by itself. */
export interface ProxiedConnection {
  readonly client: Socket
  readonly broker: Socket
  readonly cut: () => void
}

export class BrokerProxy {
  readonly #server: Server
  readonly #sockets = new Set<Socket>()

  private constructor(server: Server) {
    this.#server = server
  }

  /** Listens on `port` and connects to `target` for every client. */
  static async start(
    port: number,
    target: number,
    serve: (connection: ProxiedConnection) => void,
  ): Promise<BrokerProxy> {
    const server = createServer()
    const proxy = new BrokerProxy(server)
    server.on('connection', client => serve(proxy.#join(client, connect(target, '127.0.0.1'))))
    server.listen(port, '127.0.0.1')
    await once(server, 'listening')
    return proxy
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy()
    this.#server.close()
    await once(this.#server, 'close')
  }

  /** The end of one half ends the other. */
  #join(client: Socket, broker: Socket): ProxiedConnection {
    const cut = () => {
      client.destroy()
      broker.destroy()
    }
    for (const socket of [client, broker]) {
      this.#sockets.add(socket)
      socket.on('error', cut)
      socket.on('close', () => {
        this.#sockets.delete(socket)
        cut()
      })
    }
    return { client, broker, cut }
  }
}
