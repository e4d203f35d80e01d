/** Is this node the link coordinator? Replays the state, takes over where this node leads it, and notices when that is over. Run by the engine. */
import { Backoff } from '../../core/backoff.ts'
import { type Clock, sleep } from '../../core/clock.ts'
import { messageOf } from '../../core/errors.ts'
import type { Logger } from '../../core/logger.ts'
import type { Random } from '../../core/random.ts'
import type { StateLog, StateRecord } from '../ports.ts'
import type { StateJournal } from './state-journal.ts'

export interface CoordinatorshipOptions {
  readonly stateLog: StateLog
  readonly journal: StateJournal
  readonly onRecords: (records: readonly StateRecord[]) => void
  /** Why this node must not coordinate, by the state that it knows; undefined = it may. */
  readonly obstacle: () => string | undefined
  /** The state is known from now on, whoever coordinates. */
  readonly replayed: () => void
  /** This node decides from now on: everything that others wrote is known, and nothing of them can follow. */
  readonly began: () => void
  /** It does not any more. */
  readonly ended: () => void
  readonly clock: Clock
  readonly random: Random
  readonly logger: Logger
}

export class Coordinatorship {
  readonly #o: CoordinatorshipOptions
  readonly #stopping = new AbortController()
  readonly #backoff: Backoff
  #isReplayed = false
  /** Under which this node decides; undefined = it does not. Without a leadership there is one term for ever. */
  #term: number | undefined
  #sinceMs = 0
  #obstacle: string | undefined
  #running: Promise<void> | undefined
  #again = false
  #unsubscribe: (() => void) | undefined

  constructor(options: CoordinatorshipOptions) {
    this.#o = options
    this.#backoff = new Backoff({ initialMs: 200, maxMs: 10_000, random: options.random })
  }

  get isReplayed(): boolean {
    return this.#isReplayed
  }

  /** Does this node decide, as far as it knows at this moment? */
  get isHeld(): boolean {
    return this.#term !== undefined && this.#term === this.#offered
  }

  /** Why it does not, although it could. */
  get obstacle(): string | undefined {
    return this.#obstacle
  }

  /** Where it is not held. */
  get whyNotHeld(): string {
    const reason = this.#isReplayed
      ? 'this node has not taken over the state topic yet'
      : 'the link state is being replayed'
    return this.#obstacle ?? reason
  }

  /** Resolves after the first attempt; what it did not reach is tried again in the background. */
  async start(): Promise<void> {
    this.#unsubscribe = this.#o.stateLog.leadership?.onChanged(() => this.#changed())
    if (!(await this.#attempt())) this.#tryInBackground()
  }

  /** Resolves when requests of a coordinator that was deposed cannot be on their way any more. Rejects when stopped. */
  async undisturbed(): Promise<void> {
    const { stateLog, clock } = this.#o
    const lateMs = stateLog.leadership?.lateRequestsMs ?? 0
    const waitMs = this.#sinceMs + lateMs - clock.monotonicMs()
    if (waitMs <= 0) return
    await sleep(clock, waitMs, this.#stopping.signal)
    this.#stopping.signal.throwIfAborted()
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    this.#unsubscribe?.()
    this.#term = undefined
    await this.#running
  }

  /** The term that this node is offered; 0 where nobody else could have it. */
  get #offered(): number | undefined {
    const { leadership } = this.#o.stateLog
    return leadership ? leadership.term : 0
  }

  #changed(): void {
    if (this.#term !== undefined && !this.isHeld) {
      this.#term = undefined
      this.#o.logger.warn('this node is not the link coordinator any more')
      this.#o.ended()
    }
    this.#tryInBackground()
  }

  #tryInBackground(): void {
    this.#again = true
    this.#running ??= this.#tryUntilSettled().finally(() => {
      this.#running = undefined
    })
  }

  async #tryUntilSettled(): Promise<void> {
    const { signal } = this.#stopping
    while (this.#again && !signal.aborted) {
      this.#again = false
      if (await this.#attempt()) continue
      this.#again = true
      await sleep(this.#o.clock, this.#backoff.nextMs(), signal)
    }
  }

  /** Another node is asked to take over, if there is one. */
  async #isKeptOut(): Promise<boolean> {
    const { stateLog, obstacle, logger } = this.#o
    const reason = obstacle()
    if (reason !== undefined && reason !== this.#obstacle)
      logger.error('this node must not be the link coordinator', { reason })
    this.#obstacle = reason
    if (reason === undefined) return false
    if (await stateLog.leadership?.handOver?.())
      logger.warn('another node was asked to be the link coordinator', { reason })
    return true
  }

  /** A no-op of its own comes first: what is decided later is decided on top of everything that others wrote. */
  async #attempt(): Promise<boolean> {
    const { stateLog, journal, onRecords, replayed, began, clock, logger } = this.#o
    try {
      if (!this.#isReplayed) {
        await stateLog.open(onRecords)
        this.#isReplayed = true
        if (!this.#stopping.signal.aborted) replayed()
      }
      const term = this.#offered
      if (term === undefined || term === this.#term) return true
      if (await this.#isKeptOut()) return false
      await journal.appendNoOp()
      if (this.#offered !== term) return false
      this.#term = term
      this.#sinceMs = clock.monotonicMs()
    } catch (error) {
      if (!this.#stopping.signal.aborted)
        logger.warn('the state topic cannot be taken over yet', { error: messageOf(error) })
      return false
    }
    this.#backoff.reset()
    if (!this.#stopping.signal.aborted) began()
    return true
  }
}
