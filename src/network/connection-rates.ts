/** How quickly connections may come, in all, per listener and per address of clients (KIP-402, KIP-612); the listeners ask it before they take one. */
import { RecentEntries } from '../core/recent-entries.ts'
import { SampledRate, type SampleWindows } from '../core/sampled-rate.ts'

/** Connections per second; Infinity = no limit. */
export interface ConnectionRateLimits {
  /** `max.connection.creation.rate` */
  readonly total: number
  /** `listener.name.X.max.connection.creation.rate` by the listener's name. */
  readonly listeners: ReadonlyMap<string, number>
  /** Quotas of addresses; null = of every other address. */
  readonly addresses: ReadonlyMap<string | null, number>
}

export const noRateLimits: ConnectionRateLimits = {
  total: Number.POSITIVE_INFINITY,
  listeners: new Map(),
  addresses: new Map(),
}

/** `wait`: taken after so many milliseconds, unread until then. `refuse`: closed after them, which slows down who tries again. */
export interface Arrival {
  readonly verdict: 'wait' | 'refuse'
  readonly ms: number
}

const ADDRESSES_MAX = 10_000
const FORGET_MS = 3_600_000
const DEFAULT_WINDOWS: SampleWindows = { count: 11, sizeMs: 1000 }

export class ConnectionRates {
  readonly #windows: SampleWindows
  #limits = noRateLimits
  readonly #total: SampledRate
  readonly #listeners = new Map<string, SampledRate>()
  readonly #addresses: RecentEntries<SampledRate>

  /** @param windows `quota.window.*` */
  constructor(windows: SampleWindows = DEFAULT_WINDOWS) {
    this.#windows = windows
    this.#total = new SampledRate(windows)
    const create = () => new SampledRate(windows)
    this.#addresses = new RecentEntries({ max: ADDRESSES_MAX, forgetMs: FORGET_MS, create })
  }

  change(limits: Partial<ConnectionRateLimits>): void {
    this.#limits = { ...this.#limits, ...limits }
  }

  /** Counts a connection that comes, unless it is refused. @param nowMs monotonic */
  arrives(from: { readonly listener: string; readonly address: string; readonly nowMs: number }): Arrival {
    const { listener, address, nowMs } = from
    const { total, listeners, addresses } = this.#limits
    const ofAddress = addresses.get(address) ?? addresses.get(null)
    if (ofAddress !== undefined) {
      const rate = this.#addresses.get(address, nowMs)
      const ms = this.#counted(rate, ofAddress, nowMs)
      if (ms > 0) {
        rate.record(-1, nowMs)
        return { verdict: 'refuse', ms }
      }
    }
    const ofListener = this.#listeners.get(listener) ?? new SampledRate(this.#windows)
    this.#listeners.set(listener, ofListener)
    const ms = Math.max(
      this.#counted(this.#total, total, nowMs),
      this.#counted(ofListener, listeners.get(listener) ?? Number.POSITIVE_INFINITY, nowMs),
    )
    return { verdict: 'wait', ms }
  }

  /** The pause is at most one sample long. */
  #counted(rate: SampledRate, limit: number, nowMs: number): number {
    if (limit === Number.POSITIVE_INFINITY) return 0
    rate.record(1, nowMs)
    return Math.min(this.#windows.sizeMs, rate.excessMs(limit, nowMs))
  }
}
