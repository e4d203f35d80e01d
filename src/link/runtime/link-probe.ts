/** Asks the remote cluster of one link again and again who it is; its answers make link state and link error. Used by LinkRuntime. */
import { Backoff } from '../../core/backoff.ts'
import type { Clock, Timer } from '../../core/clock.ts'
import { messageOf } from '../../core/errors.ts'
import type { Logger } from '../../core/logger.ts'
import type { Random } from '../../core/random.ts'
import { type SourceCluster, SourceError, type SourceFailure } from '../ports.ts'
import { afterFailedProbe, healthyLink, type LinkHealth, partlyReached } from '../states/link-health.ts'

export interface LinkProbeOptions {
  readonly source: () => SourceCluster
  /** Source topics that are to be mirrored now. */
  readonly topics: () => readonly string[]
  /** Refuses the id that answered, or pins it; rejects with SourceError 'cluster-id'. */
  readonly checkClusterId: (clusterId: string) => Promise<void>
  readonly onChange: (health: LinkHealth) => void
  /** Of the moment: they may change while the probe runs. */
  readonly settings: () => { readonly periodMs: number; readonly threshold: number }
  readonly clock: Clock
  readonly random: Random
  readonly logger: Logger
}

/** After something went wrong the next probe comes at once, but not sooner than this after the last one. */
const SOONEST_MS = 1000

export class LinkProbe {
  readonly #o: LinkProbeOptions
  readonly #backoff: Backoff
  readonly #abort = new AbortController()
  #health: LinkHealth = healthyLink
  #timer: Timer | undefined
  #periodMs: number
  #running: Promise<void> | undefined
  #endedMs = Number.NEGATIVE_INFINITY
  /** Something went wrong while a probe was under way, which may have asked before. */
  #again = false

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

  /** Something about the connections went wrong: is it the source? While probes fail they come soon anyway. */
  soon(): void {
    if (this.#abort.signal.aborted || this.#health.failure !== undefined) return
    if (this.#running) this.#again = true
    else this.#startIn(this.#soonestMs())
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
    const { source, topics, checkClusterId, clock } = this.#o
    let backoffMs = Number.POSITIVE_INFINITY
    this.#again = false
    try {
      const { clusterId, unreachable } = await source().probe(topics(), this.#abort.signal)
      await checkClusterId(clusterId)
      if (unreachable) backoffMs = this.#backoff.nextMs()
      else this.#backoff.reset()
      this.#set(unreachable ? this.#partly(unreachable) : healthyLink)
    } catch (error) {
      if (!this.#abort.signal.aborted) this.#failed(error)
      backoffMs = this.#backoff.nextMs()
    }
    this.#running = undefined
    this.#endedMs = clock.monotonicMs()
    const isDoubtful = this.#again && this.#health.failure === undefined
    this.#startIn(Math.min(this.#periodMs, backoffMs, isDoubtful ? this.#soonestMs() : Number.POSITIVE_INFINITY))
  }

  #startIn(delayMs: number): void {
    this.#timer?.cancel()
    if (!this.#abort.signal.aborted) this.#timer = this.#o.clock.after(delayMs, () => this.start())
  }

  #soonestMs(): number {
    return Math.max(0, SOONEST_MS - (this.#o.clock.monotonicMs() - this.#endedMs))
  }

  #partly({ failure, message }: SourceError): LinkHealth {
    return partlyReached(this.#health, { failure, message, nowMs: this.#o.clock.nowMs() })
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
