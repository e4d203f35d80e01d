/** Tries again for a while what may pass, such as a coordinator of groups that loads. Used where groups are held within a log that was cut or has stopped. */
import { type Clock, sleep } from '../../core/clock.ts'

export interface Patience {
  readonly clock: Clock
  /** Monotonic; shared by everything that is waited for, so that thousands of groups wait no longer than one. */
  readonly untilMs: number
}

/** Between two attempts. */
const againMs = 500

/** Resolves to what `work` resolves to; rejects with its last error when the time is over. */
export async function patiently<T>({ clock, untilMs }: Patience, work: () => Promise<T>): Promise<T> {
  for (;;)
    try {
      return await work()
    } catch (error) {
      if (clock.monotonicMs() >= untilMs) throw error
      await sleep(clock, againMs)
    }
}
