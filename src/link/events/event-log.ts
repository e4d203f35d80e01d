/** The last events of this node, numbered, and who listens to what comes; bounded. Fed by the engine and the event sampler. */
import type { Clock } from '../../core/clock.ts'
import {
  type EventSubscription,
  type EventsApi,
  everythingKept,
  type LinkEngineEvent,
  type NumberedEvent,
} from '../event-api.ts'

/** Events that somebody who comes back can still get. */
export const keptMax = 1000

export class EventLog implements EventsApi {
  /** Ids of another run of the node, or of another node, are not ours. */
  readonly #run: string
  readonly #clock: Pick<Clock, 'nowMs'>
  readonly #listeners = new Set<(event: NumberedEvent) => void>()
  #kept: NumberedEvent[] = []
  #last = 0

  /** `run`: differs from one start of the node to the next. */
  constructor(run: string, clock: Pick<Clock, 'nowMs'>) {
    this.#run = run
    this.#clock = clock
  }

  get hasListeners(): boolean {
    return this.#listeners.size > 0
  }

  /** Told to everybody, and kept. */
  add(event: LinkEngineEvent): void {
    const numbered = { id: `${this.#run}-${++this.#last}`, event }
    this.#kept.push(numbered)
    // Not one by one: that would copy the list for every event.
    if (this.#kept.length >= 2 * keptMax) this.#kept = this.#kept.slice(-keptMax)
    for (const listener of this.#listeners) listener(numbered)
  }

  /** Told to everybody who listens now, and not kept. */
  tell(event: LinkEngineEvent): void {
    for (const listener of this.#listeners) listener({ id: undefined, event })
  }

  subscribe(listener: (event: NumberedEvent) => void, afterId?: string): EventSubscription {
    this.#listeners.add(listener)
    const timeMs = this.#clock.nowMs()
    const close = () => void this.#listeners.delete(listener)
    if (afterId === undefined) return { timeMs, missed: false, events: [], close }
    if (afterId === everythingKept) return { timeMs, missed: false, events: [...this.#kept], close }
    const [run, text] = [afterId.slice(0, afterId.lastIndexOf('-')), afterId.slice(afterId.lastIndexOf('-') + 1)]
    const after = run === this.#run && /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN
    const firstKept = this.#last - this.#kept.length + 1
    const isKnown = after <= this.#last && after >= firstKept - 1
    return { timeMs, missed: !isKnown, events: isKnown ? this.#kept.slice(after - firstKept + 1) : [], close }
  }
}
