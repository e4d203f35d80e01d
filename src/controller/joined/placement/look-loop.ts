/** Looks at the cluster again and again: at once when something changed, and every second otherwise. The evictor and the watch over mirrors each run one. */
import { type Clock, sleep } from '../../../core/clock.ts'

export interface LookLoopOptions {
  readonly clock: Clock
  /** One look, with what follows from it; resolves to whether there is more to do at once. */
  readonly look: () => Promise<boolean>
  /** The look failed; the next one comes after a while. */
  readonly failed: (error: unknown) => void
}

const EVERY_MS = 1000

export class LookLoop {
  readonly #o: LookLoopOptions
  readonly #closing = new AbortController()
  #wait = new AbortController()
  #woken = false
  #running: Promise<void> | undefined

  constructor(options: LookLoopOptions) {
    this.#o = options
  }

  /** Idempotent. */
  start(): void {
    this.#running ??= this.#run()
  }

  wake(): void {
    this.#woken = true
    this.#wait.abort()
  }

  async close(): Promise<void> {
    this.#closing.abort()
    this.#wait.abort()
    await this.#running
  }

  async #run(): Promise<void> {
    const { clock, look, failed } = this.#o
    const { signal } = this.#closing
    while (!signal.aborted) {
      this.#woken = false
      this.#wait = new AbortController()
      let more = false
      try {
        more = await look()
      } catch (error) {
        // What is said when everything is being closed is of no interest.
        if (signal.aborted) return
        failed(error)
        await sleep(clock, EVERY_MS, signal)
      }
      if (!more && !this.#woken && !signal.aborted) await sleep(clock, EVERY_MS, this.#wait.signal)
    }
  }
}
