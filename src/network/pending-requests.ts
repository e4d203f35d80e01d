/** The requests of one client connection that wait for their answers; BrokerConnection owns one. */
import type { Clock, Timer } from '../core/clock.ts'

/** What happens to one request in the end: exactly one of the two is called. */
export interface PendingRequest {
  /** Name and version, for messages. */
  readonly label: string
  readonly succeed: (frame: Buffer) => void
  readonly fail: (error: Error) => void
}

/** Matches answers to requests by correlation id. An abandoned request stays until its answer comes, which is then dropped. */
export class PendingRequests {
  readonly #clock: Clock
  readonly #entries = new Map<number, { request: PendingRequest | undefined; label: string; timer: Timer }>()
  #lastId = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  get count(): number {
    return this.#entries.size
  }

  /** Registers a request and returns its correlation id; `onTimeout` is called if it is not answered in time. */
  add(request: PendingRequest, timeoutMs: number, onTimeout: () => void): number {
    this.#lastId = (this.#lastId + 1) & 0x7fffffff
    const timer = this.#clock.after(timeoutMs, onTimeout)
    this.#entries.set(this.#lastId, { request, label: request.label, timer })
    return this.#lastId
  }

  /** The caller does not want the answer any more. */
  abandon(correlationId: number): void {
    const entry = this.#entries.get(correlationId)
    if (entry) entry.request = undefined
  }

  /** Gives the answer to its request; false if no request has this id. */
  settle(correlationId: number, frame: Buffer): boolean {
    const entry = this.#entries.get(correlationId)
    if (!entry) return false
    entry.timer.cancel()
    this.#entries.delete(correlationId)
    entry.request?.succeed(frame)
    return true
  }

  /** Fails everything that waits. */
  failAll(errorFor: (label: string) => Error): void {
    const entries = [...this.#entries.values()]
    this.#entries.clear()
    for (const entry of entries) {
      entry.timer.cancel()
      entry.request?.fail(errorFor(entry.label))
    }
  }
}
