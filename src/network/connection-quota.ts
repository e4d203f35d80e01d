/** How many connections a node takes, in all, per listener and per address of clients; shared by its listeners, changed while they run. */

import { ConnectionRates } from './connection-rates.ts'

/** Infinity = no limit. */
export interface ConnectionLimits {
  /** `max.connections` */
  readonly total: number
  /** `listener.name.X.max.connections` by the listener's name. */
  readonly listeners: ReadonlyMap<string, number>
  /** `max.connections.per.ip` */
  readonly perAddress: number
  /** `max.connections.per.ip.overrides` */
  readonly addresses: ReadonlyMap<string, number>
}

export const noConnectionLimits: ConnectionLimits = {
  total: Number.POSITIVE_INFINITY,
  listeners: new Map(),
  perAddress: Number.POSITIVE_INFINITY,
  addresses: new Map(),
}

interface Waiting {
  readonly listener: string
  readonly start: () => void
}

/** Clients that wait for others to leave; more are turned away. */
const WAITING_MAX = 1000

/**
 * As in Kafka: a client too many of one address is turned away, while one too many in all, or for its listener, waits until another
 * one leaves. It is connected meanwhile, but nothing that it sends is read.
 */
export class ConnectionQuota {
  #limits: ConnectionLimits
  readonly #byAddress = new Map<string, number>()
  readonly #byListener = new Map<string, number>()
  /** How quickly they may come. */
  readonly rates: ConnectionRates
  #open = 0
  readonly #waiting = new Set<Waiting>()

  constructor(limits: ConnectionLimits = noConnectionLimits, rates = new ConnectionRates()) {
    this.#limits = limits
    this.rates = rates
  }

  /** Limits may fall below what is open: nobody is sent away, and nobody comes in until enough have left. */
  change(limits: ConnectionLimits): void {
    this.#limits = limits
    this.#admitWaiting()
  }

  get waitingCount(): number {
    return this.#waiting.size
  }

  /** Counts a connection of that address; returns what to call when it is closed, undefined if there are too many. */
  enter(address: string): (() => void) | undefined {
    const present = this.#byAddress.get(address) ?? 0
    if (present >= (this.#limits.addresses.get(address) ?? this.#limits.perAddress)) return undefined
    this.#byAddress.set(address, present + 1)
    return once(() => {
      const left = (this.#byAddress.get(address) ?? 1) - 1
      if (left > 0) this.#byAddress.set(address, left)
      else this.#byAddress.delete(address)
    })
  }

  /**
   * Calls `start` when there is room for one more connection on the listener: at once, or later. Returns what to call when it is
   * closed, started or not; undefined if too many wait.
   */
  admit(listener: string, start: () => void): (() => void) | undefined {
    if (this.#waiting.size === 0 && this.#hasRoom(listener)) return this.#begin({ listener, start })
    if (this.#waiting.size >= WAITING_MAX) return undefined
    let release: (() => void) | undefined
    const waiting: Waiting = {
      listener,
      start: () => {
        release = this.#begin({ listener, start })
      },
    }
    this.#waiting.add(waiting)
    // With a limit of another listener nobody may be in the way of this one.
    this.#admitWaiting()
    return once(() => {
      if (!this.#waiting.delete(waiting)) release?.()
    })
  }

  #begin({ listener, start }: Waiting): () => void {
    this.#open++
    this.#byListener.set(listener, (this.#byListener.get(listener) ?? 0) + 1)
    start()
    return once(() => {
      this.#open--
      this.#byListener.set(listener, (this.#byListener.get(listener) ?? 1) - 1)
      this.#admitWaiting()
    })
  }

  #hasRoom(listener: string): boolean {
    const { total, listeners } = this.#limits
    const most = listeners.get(listener) ?? Number.POSITIVE_INFINITY
    return this.#open < total && (this.#byListener.get(listener) ?? 0) < most
  }

  /** The first come first, but for those whose listener is full. */
  #admitWaiting(): void {
    for (const waiting of this.#waiting) {
      if (!this.#hasRoom(waiting.listener)) continue
      this.#waiting.delete(waiting)
      waiting.start()
    }
  }
}

function once(work: () => void): () => void {
  let done = false
  return () => {
    if (done) return
    done = true
    work()
  }
}
