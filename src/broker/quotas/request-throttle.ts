/**
 * What one request costs its client's quotas, and the pause that comes of it: the longest that any quota asks for. The dispatch
 * of requests makes one per request; handlers that move bytes or change topics tell it.
 *
 * Time is counted as the node's main thread spends it on decoding, deciding and encoding; waits for the disk, for replicas or
 * for other members are nobody's. 100 % is that one thread.
 */
import type { Clock } from '../../core/clock.ts'
import type { ClientQuotaKey, QuotaClient } from '../../metadata/client-quotas.ts'
import type { MutationGate } from '../../metadata/controller-port.ts'
import type { ClientContext, IncomingRequest } from '../../network/request-handler.ts'
import type { ClientQuotas } from './client-quotas.ts'

export interface RequestThrottleOptions {
  readonly quotas: ClientQuotas
  readonly client: QuotaClient
  /** Size of the request. */
  readonly bytes: number
  readonly clock: Clock
}

export class RequestThrottle {
  readonly #options: RequestThrottleOptions
  readonly #pauses = new Map<ClientQuotaKey, number>()
  #spentMs = 0
  #isExempt = false
  #isSettled = false

  constructor(options: RequestThrottleOptions) {
    this.#options = options
  }

  /** Runs work of the main thread and counts its time. */
  timed<T>(work: () => T): T {
    const { clock } = this.#options
    const startMs = clock.monotonicMs()
    try {
      return work()
    } finally {
      this.#spentMs += clock.monotonicMs() - startMs
    }
  }

  /** The request's time is not the client's: it is a broker's, or it gets no answer. */
  exempt(): void {
    this.#isExempt = true
  }

  /** The request brings records. */
  produced(): void {
    const { quotas, client, bytes } = this.#options
    this.#pause('producer_byte_rate', quotas.record('producer_byte_rate', client, bytes))
  }

  /** Most bytes that an answer with records may have. */
  get fetchBytesMax(): number {
    return this.#options.quotas.mostAtOnce('consumer_byte_rate', this.#options.client)
  }

  /** An answer takes that many bytes of records, whatever the quota says: they are locked for the client and must reach it. */
  shared(bytes: number): void {
    const { quotas, client } = this.#options
    this.#pause('consumer_byte_rate', quotas.record('consumer_byte_rate', client, bytes))
  }

  /** May an answer with that many bytes of records be sent? If not, an empty one goes in its place, and the client pauses. */
  mayFetch(bytes: number): boolean {
    const { quotas, client } = this.#options
    this.#pause('consumer_byte_rate', quotas.record('consumer_byte_rate', client, bytes))
    if (this.settle() === 0) return true
    quotas.takeBack('consumer_byte_rate', client, bytes)
    return false
  }

  /**
   * Asked for each topic whose partitions are to be created or deleted. Strict: refuses while the client is in debt. Otherwise it
   * refuses nothing, and the client pays by its pause.
   */
  mutationGate({ strict }: { readonly strict: boolean }): MutationGate {
    const { quotas, client } = this.#options
    const key = 'controller_mutation_rate'
    return partitions => {
      if (strict && this.#pauses.has(key)) return false
      const ms = quotas.mutate(client, partitions, { strict })
      this.#pause(key, ms)
      return !strict || ms === 0
    }
  }

  /** The client's pause in milliseconds. The first call counts the time of the request until now. */
  settle(): number {
    if (!this.#isSettled) this.#pause('request_percentage', this.#countTime())
    this.#isSettled = true
    return Math.max(0, ...this.#pauses.values())
  }

  /** The answer is made: time since `settle` is counted, for the next request to pay. */
  told(): void {
    const ms = this.settle()
    this.#countTime()
    const [key] = [...this.#pauses].find(([, pause]) => pause === ms) ?? []
    if (ms > 0 && key !== undefined) this.#options.quotas.throttled(key, ms)
  }

  #countTime(): number {
    const { quotas, client } = this.#options
    const percent = this.#spentMs / 10
    this.#spentMs = 0
    return this.#isExempt ? 0 : quotas.record('request_percentage', client, percent)
  }

  #pause(key: ClientQuotaKey, ms: number): void {
    if (ms > 0) this.#pauses.set(key, Math.max(ms, this.#pauses.get(key) ?? 0))
  }
}

/** Key, version, correlation id and the length of the client id. */
const HEADER_BYTES = 10

/** While there are no quotas, requests cost nothing. */
export function throttleOf(
  { quotas, clock }: { readonly quotas: ClientQuotas; readonly clock: Clock },
  { clientId, body }: IncomingRequest,
  { principal }: ClientContext,
): RequestThrottle | undefined {
  if (!quotas.isEnabled) return undefined
  return new RequestThrottle({
    quotas,
    client: { user: principal.name, clientId: clientId ?? '' },
    bytes: body.length + HEADER_BYTES + (clientId?.length ?? 0),
    clock,
  })
}

/** Runs work of the main thread; its time counts where there are quotas. */
export const measured = <T>(throttle: RequestThrottle | undefined, work: () => T): T =>
  throttle ? throttle.timed(work) : work()
