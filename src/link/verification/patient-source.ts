/** Questions of a verification to the source: asked again while it is away, given up after a time. Used by verify-partition. */
import { Backoff } from '../../core/backoff.ts'
import { type Clock, sleep } from '../../core/clock.ts'
import type { Random } from '../../core/random.ts'
import { type SourceCluster, SourceError, type SourceFailure } from '../ports.ts'

export interface PatientSourceOptions {
  /** The present connection; undefined while there is none. Throws where there will never be one again. */
  readonly source: () => SourceCluster | undefined
  readonly retryTimeoutMs: number
  /** Told what is waited for; undefined = the source has answered. */
  readonly waiting: (reason: string | undefined) => void
  readonly signal: AbortSignal
  readonly clock: Clock
  readonly random: Random
}

/** Asking again does not help. */
const lasting: ReadonlySet<SourceFailure> = new Set([
  'login',
  'authorization',
  'cluster-id',
  'unsupported-version',
  'protocol',
])

export class PatientSource {
  readonly #o: PatientSourceOptions

  constructor(options: PatientSourceOptions) {
    this.#o = options
  }

  /** Rejects with the SourceError that lasts, the last one after `retryTimeoutMs` of failures, or the signal's reason. */
  async ask<T>(question: (source: SourceCluster, signal: AbortSignal) => Promise<T>): Promise<T> {
    const { source, retryTimeoutMs, waiting, signal, clock, random } = this.#o
    const backoff = new Backoff({ initialMs: 200, maxMs: 5000, random })
    const sinceMs = clock.monotonicMs()
    for (;;) {
      signal.throwIfAborted()
      try {
        const present = source()
        if (!present) throw new SourceError('retriable', 'the link has no connection to its source now')
        const answer = await question(present, signal)
        waiting(undefined)
        return answer
      } catch (error) {
        signal.throwIfAborted()
        const isWorthTrying = error instanceof SourceError && !lasting.has(error.failure)
        if (!isWorthTrying || clock.monotonicMs() - sinceMs >= retryTimeoutMs) throw error
        waiting(`waiting for the source: ${error.message}`)
      }
      await sleep(clock, backoff.nextMs(), signal)
    }
  }
}
