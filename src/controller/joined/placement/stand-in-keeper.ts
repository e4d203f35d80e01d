/** Gives the mirrors that this node leads alone a stand-in as soon as there is another Lockstep node. A joined node runs one. */
import type { Clock } from '../../../core/clock.ts'
import { messageOf } from '../../../core/errors.ts'
import type { Logger } from '../../../core/logger.ts'
import type { ClusterCommands } from '../../../metadata/cluster-commands.ts'
import type { Controller } from '../../../metadata/controller-port.ts'
import type { MetadataImage, TopicImage } from '../../../metadata/metadata-image.ts'
import { ErrorCode, errorName } from '../../../protocol/errors.ts'
import { LookLoop } from './look-loop.ts'
import { planStandIns } from './stand-in-plan.ts'

export interface StandInKeeperOptions {
  readonly brokerId: number
  readonly controller: Pick<Controller, 'image'> & {
    readonly cluster: Pick<ClusterCommands, 'alterPartitionReassignments'>
  }
  /** Does it follow its source, and is not on its way to become an ordinary topic, or a mirror? */
  readonly isMirroring: (topic: TopicImage) => boolean
  readonly clock: Clock
  readonly logger: Logger
}

/** Another node is there for good: one that starts, or comes and goes, is waited for. */
const PATIENCE_MS = 5000
/** Between two looks that may ask for something. */
const AGAIN_MS = 2000
const UNDER_WAY_MAX = 20

export class StandInKeeper {
  readonly #o: StandInKeeperOptions
  readonly #loop: LookLoop
  #sinceMs: number | undefined
  #nextMs = 0

  constructor(options: StandInKeeperOptions) {
    this.#o = options
    const { clock, logger } = options
    const failed = (error: unknown) =>
      logger.warn('mirrors could not be given a stand-in', { reason: messageOf(error) })
    this.#loop = new LookLoop({ clock, look: () => this.#look(), failed })
  }

  /** Begins to act. Idempotent. */
  start(): void {
    this.#loop.start()
  }

  close(): Promise<void> {
    return this.#loop.close()
  }

  async #look(): Promise<boolean> {
    const { controller, clock, logger } = this.#o
    const nowMs = clock.monotonicMs()
    if (nowMs < this.#nextMs) return false
    const planned = this.#plan(controller.image)
    this.#sinceMs = planned.length > 0 ? (this.#sinceMs ?? nowMs) : undefined
    if (this.#sinceMs === undefined || nowMs - this.#sinceMs < PATIENCE_MS) return false
    this.#nextMs = nowMs + AGAIN_MS
    for (const answer of await controller.cluster.alterPartitionReassignments(planned)) {
      const { topic, partition, errorCode, errorMessage } = answer
      const error = errorMessage ?? errorName(errorCode)
      if (errorCode === ErrorCode.NONE) logger.info('a mirror gets a stand-in', { topic, partition })
      else logger.warn('a mirror could not be given a stand-in', { topic, partition, error })
    }
    return false
  }

  #plan(image: MetadataImage) {
    const { brokerId, isMirroring } = this.#o
    const topics = image.topics.values().filter(isMirroring)
    return planStandIns(image, { node: brokerId, topics, underWayMax: UNDER_WAY_MAX })
  }
}
