/** What the transaction coordinator does from time to time: aborts transactions that are open for too long, forgets ids that are idle. It owns one. */
import { forEachBounded } from '../../core/bounded-work.ts'
import type { Clock, Timer } from '../../core/clock.ts'
import { messageOf } from '../../core/errors.ts'
import type { Logger } from '../../core/logger.ts'
import type { TransactionEntry } from './transaction-entry.ts'
import type { TransactionLog } from './transaction-log.ts'
import { isTimedOut } from './transaction-metadata.ts'
import type { TransactionSettings } from './transaction-settings.ts'
import { transactionStates } from './transaction-state.ts'

export interface ScheduleContext {
  readonly log: TransactionLog
  readonly settings: Pick<TransactionSettings, 'timeoutCheckMs' | 'idExpirationMs' | 'expiryCheckMs'>
  /** Must not reject. */
  abort(entry: TransactionEntry): Promise<void>
  readonly clock: Clock
  readonly logger: Logger
}

/** Transactions that are aborted at the same time. */
const PARALLEL_ABORTS = 16
/** Ids forgotten by one write: well below what a batch may hold, whatever they are called. */
const TOMBSTONES_PER_WRITE = 100

export class TransactionSchedule {
  readonly #context: ScheduleContext
  readonly #timers = new Map<string, Timer>()
  #closed = false

  constructor(context: ScheduleContext) {
    this.#context = context
    const { timeoutCheckMs, expiryCheckMs } = context.settings
    this.#repeat('timeouts', timeoutCheckMs, () => this.#abortTimedOut())
    this.#repeat('expiry', expiryCheckMs, () => this.#forgetIdle())
  }

  close(): void {
    this.#closed = true
    for (const timer of this.#timers.values()) timer.cancel()
  }

  /** The next time is counted from the end of the work. */
  #repeat(name: string, everyMs: number, work: () => Promise<void>): void {
    if (this.#closed) return
    const { clock, logger } = this.#context
    const run = () =>
      work()
        .catch((error: unknown) => logger.warn('a check of transactions failed', { name, error: messageOf(error) }))
        .then(() => this.#repeat(name, everyMs, work))
    this.#timers.set(
      name,
      clock.after(everyMs, () => void run()),
    )
  }

  async #abortTimedOut(): Promise<void> {
    const { log, clock, abort } = this.#context
    const nowMs = clock.nowMs()
    const timedOut = [...log.all()].filter(({ entry }) => !entry.isPending && isTimedOut(entry.current, nowMs))
    await forEachBounded(timedOut, PARALLEL_ABORTS, ({ entry }) => abort(entry))
  }

  async #forgetIdle(): Promise<void> {
    const { log, clock, settings } = this.#context
    const oldest = clock.nowMs() - settings.idExpirationMs
    for (const loaded of log.partitions.served) {
      const idle = [...loaded.state.values()].filter(entry => isIdle(entry, oldest))
      for (let at = 0; at < idle.length && loaded.current; at += TOMBSTONES_PER_WRITE) {
        // They may have woken up while others were being forgotten.
        const still = idle.slice(at, at + TOMBSTONES_PER_WRITE).filter(entry => isIdle(entry, oldest))
        if (still.length > 0) await log.forget(loaded, still)
      }
    }
  }
}

const isIdle = ({ isPending, current }: TransactionEntry, oldest: number): boolean =>
  !isPending && transactionStates[current.state].expires && current.updatedMs <= oldest
