/**
 * Keeps the cluster's producer ids above those in mirrored logs while they are mirrored, so that little is left to do when a mirror
 * stops, and new ids are safe even if it is stopped without Lockstep. A joined node runs one over the partitions that it leads.
 */
import type { Clock, Timer } from '../../core/clock.ts'
import { messageOf } from '../../core/errors.ts'
import type { Logger } from '../../core/logger.ts'
import type { Controller } from '../../metadata/controller-port.ts'

export interface ProducerIdsAheadOptions {
  /** Led here. */
  readonly partitions: () => Iterable<{
    readonly topicId: string
    readonly topic: string
    readonly log: { readonly maxProducerId: bigint }
  }>
  readonly isMirror: (topicId: string, topic: string) => boolean
  readonly controller: Pick<Controller, 'image' | 'skipProducerIdsBelow'>
  /** Why they cannot be passed; undefined = they can. */
  readonly distanceProblem: (highest: bigint) => string | undefined
  readonly clock: Clock
  readonly logger: Logger
}

const PERIOD_MS = 10_000

export class ProducerIdsAhead {
  readonly #o: ProducerIdsAheadOptions
  #timer: Timer
  #running: Promise<void> | undefined
  #told: string | undefined
  #closed = false

  constructor(options: ProducerIdsAheadOptions) {
    this.#o = options
    this.#timer = this.#later()
  }

  async close(): Promise<void> {
    this.#closed = true
    this.#timer.cancel()
    await this.#running
  }

  #later(): Timer {
    return this.#o.clock.after(PERIOD_MS, () => {
      this.#running = this.#look().finally(() => {
        if (!this.#closed) this.#timer = this.#later()
      })
    })
  }

  async #look(): Promise<void> {
    const { partitions, isMirror, controller, distanceProblem, logger } = this.#o
    let highest = -1n
    for (const { topicId, topic, log } of partitions())
      if (log.maxProducerId > highest && isMirror(topicId, topic)) highest = log.maxProducerId
    if (highest < controller.image.nextProducerId) return
    const problem = distanceProblem(highest)
    if (problem !== undefined) {
      if (this.#told !== problem) logger.warn('producer ids of mirrors cannot be passed', { problem })
      this.#told = problem
      return
    }
    try {
      await controller.skipProducerIdsBelow(highest)
    } catch (error) {
      logger.warn('producer ids are not above those of mirrors', { reason: messageOf(error) })
    }
  }
}
