/** A periodic task of one link: a name, a state that operators see, the time of its last success. Run by the link runtime. */
import type { Clock, Timer } from '../../core/clock.ts'
import { messageOf } from '../../core/errors.ts'
import type { Logger } from '../../core/logger.ts'
import { SourceError, type SourceFailure } from '../ports.ts'

/** One thing that the task could not do; rest-and-cli §1.4 LinkTaskErrorCode. */
export interface TaskError {
  readonly code: string
  readonly message: string
}

export interface SyncTaskOptions {
  readonly name: string
  /** Asked before every wait: it may change. */
  readonly periodMs: () => number
  /** Resolves to what did not work; the rest was done all the same. */
  readonly work: (signal: AbortSignal) => Promise<readonly TaskError[]>
  /** Is there anything to do for it? Asked before every run; default: always. */
  readonly isConfigured?: () => boolean
  /** How soon a run with these errors, the nth in a row that has any, is repeated, if the period is longer; default 5 s. */
  readonly retryMs?: (errors: readonly TaskError[], failures: number) => number
  readonly clock: Clock
  readonly logger: Logger
}

/** After a run with errors the next one comes this soon, if the period is longer. */
export const retryAfterErrorsMs = 5000

/** Errors that are kept for display. */
const errorsMax = 100

export class SyncTask {
  readonly name: string
  readonly #o: SyncTaskOptions
  readonly #stopping = new AbortController()
  #errors: readonly TaskError[] = []
  #lastSuccessMs: number | undefined
  /** Runs with errors since the last one without. */
  #failures = 0
  #running: Promise<void> | undefined
  /** Asked for while it ran: what it read may be older than that. */
  #again = false
  #timer: Timer | undefined

  constructor(options: SyncTaskOptions) {
    this.name = options.name
    this.#o = options
  }

  /** Of the last run. */
  get errors(): readonly TaskError[] {
    return this.#errors
  }

  /** Wall clock of the end of the last run without errors. */
  get lastSuccessMs(): number | undefined {
    return this.#lastSuccessMs
  }

  /** False: the link does not ask for it. */
  get isConfigured(): boolean {
    return this.#o.isConfigured?.() ?? true
  }

  /** Runs now, or once more as soon as the run under way has ended; then once per period. */
  start(): void {
    if (this.#stopping.signal.aborted) return
    this.#again = this.#running !== undefined
    if (this.#running) return
    this.#timer?.cancel()
    this.#running = this.#run()
  }

  /** Resolves when nothing of it runs any more. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    this.#timer?.cancel()
    await this.#running
  }

  async #run(): Promise<void> {
    const { work, clock } = this.#o
    const { signal } = this.#stopping
    let errors: readonly TaskError[]
    try {
      // Never in the same turn: whoever starts it takes note of it only then.
      errors = await (this.isConfigured ? work(signal) : Promise.resolve([]))
    } catch (error) {
      errors = [taskErrorOf(error)]
    }
    this.#running = undefined
    if (signal.aborted) return
    this.#tell(bounded(errors))
    if (errors.length === 0 && this.isConfigured) this.#lastSuccessMs = clock.nowMs()
    this.#failures = errors.length === 0 ? 0 : this.#failures + 1
    if (this.#again) return this.start()
    const { periodMs, retryMs = () => retryAfterErrorsMs } = this.#o
    const waitMs = errors.length === 0 ? periodMs() : Math.min(periodMs(), retryMs(errors, this.#failures))
    this.#timer = clock.after(waitMs, () => this.start())
  }

  /** Logs changes only. */
  #tell(errors: readonly TaskError[]): void {
    const before = this.#errors.map(error => error.message).join()
    this.#errors = errors
    if (errors.map(error => error.message).join() === before) return
    if (errors.length === 0) this.#o.logger.info('a sync task works again', { task: this.name })
    else this.#o.logger.warn('a sync task has errors', { task: this.name, count: errors.length, first: errors[0] })
  }
}

/** What is left out is counted in the last one. */
function bounded(errors: readonly TaskError[]): readonly TaskError[] {
  if (errors.length <= errorsMax) return errors
  const message = `${errors.length - errorsMax + 1} more errors are not shown`
  return [...errors.slice(0, errorsMax - 1), { code: 'SUPPRESSED_ERRORS', message }]
}

const codes: Partial<Record<SourceFailure, string>> = {
  login: 'AUTHENTICATION_ERROR',
  authorization: 'AUTHORIZATION_ERROR',
  'unknown-topic': 'UNKNOWN_TOPIC_OR_PARTITION_ERROR',
}

/** Anything thrown while one thing was synced. */
export function taskErrorOf(error: unknown, subject?: string): TaskError {
  const code = (error instanceof SourceError ? codes[error.failure] : undefined) ?? 'INTERNAL_ERROR'
  return { code, message: subject === undefined ? messageOf(error) : `${subject}: ${messageOf(error)}` }
}
