/**
 * From Kafka 4.4 on a controller refuses assignments by hand, too, if they contain a cordoned broker (4.3 does not): for a request of
 * our own the cordon of this node is lifted, and set again right behind it. The joined Controller's commands use it.
 */
import { type Clock, sleep } from '../../core/clock.ts'
import type { MetadataImage } from '../../metadata/metadata-image.ts'

export interface CordonLiftOptions {
  readonly brokerId: number
  readonly image: () => MetadataImage
  /** Tells the controller with a heartbeat, at once. */
  readonly cordon: (wanted: boolean) => void
  readonly clock: Clock
}

/** Level of metadata.version of the first version that may refuse. */
const REFUSING_LEVEL = 31
/** Several heartbeats go into it. */
const WAIT_MS = 5000
const LOOK_MS = 50

export class CordonLift {
  readonly #o: CordonLiftOptions
  #lifted = 0

  constructor(options: CordonLiftOptions) {
    this.#o = options
  }

  /** Asks, and once more without the cordon if that was in the way. Others' replicas may be placed here meanwhile; the evictor moves them away. */
  async around<R>(ask: () => Promise<R>, isRefused: (answer: R) => boolean): Promise<R> {
    const answer = await ask()
    const { image, cordon } = this.#o
    const level = image().features.get('metadata.version') ?? 0
    if (!isRefused(answer) || level < REFUSING_LEVEL || !this.#isCordoned()) return answer
    this.#lifted++
    try {
      cordon(false)
      if (!(await this.#uncordoned())) return answer
      return await ask()
    } finally {
      this.#lifted--
      if (this.#lifted === 0) cordon(true)
    }
  }

  #isCordoned(): boolean {
    const { image, brokerId } = this.#o
    return (image().brokers.get(brokerId)?.cordonedLogDirs ?? []).length > 0
  }

  async #uncordoned(): Promise<boolean> {
    const { clock } = this.#o
    const deadlineMs = clock.monotonicMs() + WAIT_MS
    while (this.#isCordoned()) {
      if (clock.monotonicMs() >= deadlineMs) return false
      await sleep(clock, LOOK_MS)
    }
    return true
  }
}
