/** Closes connections on which nothing was asked for `connections.max.idle.ms`; the broker pool gives it each that it opens. */
import type { Clock, Timer } from '../core/clock.ts'
import type { BrokerConnection } from '../network/broker-connection.ts'

export class IdleConnections {
  readonly #clock: Clock
  readonly #idleMsMax: number

  /** Below 0: none is ever idle for too long. */
  constructor(options: { clock: Clock; idleMsMax: number }) {
    this.#clock = options.clock
    this.#idleMsMax = options.idleMsMax
  }

  watch(connection: BrokerConnection): void {
    if (this.#idleMsMax < 0) return
    let timer: Timer | undefined
    const look = () => {
      const leftMs = this.#idleMsMax - connection.idleMs
      if (leftMs <= 0) connection.close()
      else timer = this.#clock.after(leftMs, look)
    }
    timer = this.#clock.after(this.#idleMsMax, look)
    void connection.closed.then(() => timer?.cancel())
  }
}
