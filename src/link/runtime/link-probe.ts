/** Asks the remote cluster of one link again and again who it is; its answers make link state and link error. Used by LinkRuntime. */
import { Backoff } from '../../core/backoff.ts'
import type { Clock, Timer } from '../../core/clock.ts'
import { messageOf } from '../../core/errors.ts'
import type { Logger } from '../../core/logger.ts'
import type { Random } from '../../core/random.ts'
import { type SourceCluster, SourceError, type SourceFailure } from '../ports.ts'
import { afterFailedProbe, healthyLink, type LinkHealth } from '../states/link-health.ts'

export interface LinkProbeOptions {
  readonly source: () => SourceCluster
  /** Refuses the id that answered, or pins it; rejects with SourceError 'cluster-id'. */
  readonly checkClusterId: (clusterId: string) => Promise<void>
  readonly onChange: (health: LinkHealth) => void
  /** Of the moment: they may change while the probe runs. */
  readonly settings: () => { readonly periodMs: number; readonly threshold: number }
  readonly clock: Clock
  readonly random: Random
  readonly logger: Logger
}

export class LinkProbe {
  readonly #o: LinkProbeOptions
  readonly #backoff: Backoff
  readonly #abort = new AbortController()
  #health: LinkHealth = healthyLink
  #timer: Timer | undefined
  #periodMs: number
  #running: Promise<void> | undefined

  constructor(options: LinkProbeOptions) {
    this.#o = options
    this.#periodMs = options.settings().periodMs
    this.#backoff = new Backoff({ initialMs: 1000, maxMs: 60_000, random: options.random })
  }

  get health(): LinkHealth {
    return this.#health
  }

  start(): void {
    if (this.#abort.signal.aborted || this.#running) return
    this.#running = this.#probe()
  }

  /** Probes at once if the period is another one now. */
  settingsChanged(): void {
    const { periodMs } = this.#o.settings()
    if (periodMs === this.#periodMs) return
    this.#periodMs = periodMs
    this.#timer?.cancel()
    this.start()
  }

  async stop(): Promise<void> {
    this.#abort.abort()
    this.#timer?.cancel()
    await this.#running
  }

  async #probe(): Promise<void> {
    const { source, checkClusterId, clock } = this.#o
    let backoffMs = Number.POSITIVE_INFINITY
    try {
      const facts = await source().describeCluster(this.#abort.signal)
      await checkClusterId(facts.clusterId)
      this.#backoff.reset()
      this.#set(healthyLink)
    } catch (error) {
      if (!this.#abort.signal.aborted) this.#failed(error)
      backoffMs = this.#backoff.nextMs()
    }
    this.#running = undefined
    if (!this.#abort.signal.aborted) this.#timer = clock.after(Math.min(this.#periodMs, backoffMs), () => this.start())
  }

  #failed(error: unknown): void {
    const { clock } = this.#o
    const failure: SourceFailure = error instanceof SourceError ? error.failure : 'retriable'
    const now = { nowMs: clock.nowMs(), monotonicMs: clock.monotonicMs() }
    this.#set(afterFailedProbe(this.#health, { failure, message: messageOf(error), ...now, ...this.#o.settings() }))
  }

  #set(health: LinkHealth): void {
    const before = this.#health
    this.#health = health
    const changed = before.state !== health.state || before.failure !== health.failure
    if (!changed) return
    const { logger } = this.#o
    if (health.failure === undefined) logger.info('the remote cluster answers')
    else logger.warn('the remote cluster does not answer well', { error: health.failure, message: health.message })
    this.#o.onChange(health)
  }
}
