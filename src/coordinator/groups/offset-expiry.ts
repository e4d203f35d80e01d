/** Looks at all groups now and then for offsets that have expired; the group coordinator owns one. */
import type { Clock, Timer } from '../../core/clock.ts'
import { messageOf } from '../../core/errors.ts'
import type { Logger } from '../../core/logger.ts'
import { expireOffsets } from './expire-offsets.ts'
import type { ServedShard } from './served-shard.ts'

export interface OffsetExpiryOptions {
  readonly intervalMs: number
  readonly shards: () => readonly ServedShard[]
  readonly clock: Clock
  readonly logger: Logger
}

export class OffsetExpiry {
  readonly #options: OffsetExpiryOptions
  #timer: Timer
  #closed = false

  constructor(options: OffsetExpiryOptions) {
    this.#options = options
    this.#timer = this.#later()
  }

  close(): void {
    this.#closed = true
    this.#timer.cancel()
  }

  #later(): Timer {
    return this.#options.clock.after(this.#options.intervalMs, () => void this.#run())
  }

  async #run(): Promise<void> {
    const { shards, logger } = this.#options
    let count = 0
    for (const shard of shards()) {
      try {
        count += await expireOffsets(shard)
      } catch (error) {
        logger.warn('expired offsets could not be removed', { error: messageOf(error) })
      }
    }
    if (count > 0) logger.info('removed expired offsets', { count })
    if (!this.#closed) this.#timer = this.#later()
  }
}
