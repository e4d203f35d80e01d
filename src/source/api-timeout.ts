/** Bounds a question with all its repetitions (`default.api.timeout.ms`) and makes every failure a SourceError; the source cluster asks through it. */
import { type Clock, sleep } from '../core/clock.ts'
import { SourceError } from '../link/ports.ts'
import { sourceErrorOf } from './source-error-of.ts'

export class ApiTimeout {
  readonly #clock: Clock
  readonly #timeoutMs: number

  constructor(options: { clock: Clock; timeoutMs: number }) {
    this.#clock = options.clock
    this.#timeoutMs = options.timeoutMs
  }

  /** `question` gets the signal that ends it. Rejects with SourceError, or with the reason of the caller's signal. */
  async run<T>(question: (signal: AbortSignal) => Promise<T>, signal?: AbortSignal): Promise<T> {
    const over = new AbortController()
    const answered = new AbortController()
    const stop = signal ? AbortSignal.any([signal, over.signal]) : over.signal
    void sleep(this.#clock, this.#timeoutMs, answered.signal).then(() => {
      const message = `no answer of the source in ${this.#timeoutMs} ms (default.api.timeout.ms)`
      if (!answered.signal.aborted) over.abort(new SourceError('timeout', message))
    })
    try {
      return await question(stop)
    } catch (error) {
      signal?.throwIfAborted()
      throw sourceErrorOf(error)
    } finally {
      answered.abort()
    }
  }
}
