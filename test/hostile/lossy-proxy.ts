// A proxy in front of a node that cuts connections when an answer comes: the request has worked, its client never learns it.
import type { Random } from '../../src/core/random.ts'
import { BrokerProxy, type ProxiedConnection } from './broker-proxy.ts'

export class LossyProxy {
  readonly port: number
  /** Connections cut so far. */
  cuts = 0
  /** Part of the answers that are lost with their connection. */
  lossRate = 0
  readonly #random: Random
  #proxy: BrokerProxy | undefined

  private constructor(port: number, random: Random) {
    this.port = port
    this.#random = random
  }

  /** Listens on `port` and forwards to `target`. */
  static async start(port: number, target: number, random: Random): Promise<LossyProxy> {
    const lossy = new LossyProxy(port, random)
    lossy.#proxy = await BrokerProxy.start(port, target, connection => lossy.#forward(connection))
    return lossy
  }

  async close(): Promise<void> {
    await this.#proxy?.close()
  }

  #forward({ client, broker, cut }: ProxiedConnection): void {
    client.on('data', chunk => broker.write(chunk))
    broker.on('data', chunk => {
      if (this.#random() >= this.lossRate) return client.write(chunk)
      this.cuts++
      return cut()
    })
  }
}
