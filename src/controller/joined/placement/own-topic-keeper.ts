/** Keeps Lockstep's own topics on the Lockstep nodes that there are: nodes that come get a replica, nodes that leave lose theirs. A joined node runs one. */
import type { Clock } from '../../../core/clock.ts'
import { messageOf } from '../../../core/errors.ts'
import type { Logger } from '../../../core/logger.ts'
import type { ClusterCommands, Reassignment } from '../../../metadata/cluster-commands.ts'
import type { Controller, ImageSubscriber } from '../../../metadata/controller-port.ts'
import { topicByName } from '../../../metadata/metadata-image.ts'
import { OWN_TOPICS, ownTopicMove } from '../../../metadata/placement/own-topics.ts'
import { usableLockstepNodes } from '../../../metadata/placement/usable-brokers.ts'
import { ErrorCode, errorName } from '../../../protocol/errors.ts'
import { LookLoop } from './look-loop.ts'

export interface OwnTopicKeeperOptions {
  readonly brokerId: number
  readonly controller: Pick<Controller, 'image'> & {
    readonly cluster: Pick<ClusterCommands, 'alterPartitionReassignments'>
  }
  readonly clock: Clock
  readonly logger: Logger
}

const RETRY_MS = 5000

/** To be subscribed to the controller. */
export class OwnTopicKeeper implements ImageSubscriber {
  readonly name = 'own topics'
  readonly #o: OwnTopicKeeperOptions
  readonly #loop: LookLoop
  #nextMs = 0

  constructor(options: OwnTopicKeeperOptions) {
    this.#o = options
    const { clock, logger } = options
    const failed = (error: unknown) =>
      logger.warn("Lockstep's own topics could not be moved", { reason: messageOf(error) })
    this.#loop = new LookLoop({ clock, look: () => this.#look(), failed })
  }

  onImage(): void {
    this.#loop.wake()
  }

  /** Begins to act. Idempotent. */
  start(): void {
    this.#loop.start()
  }

  close(): Promise<void> {
    return this.#loop.close()
  }

  async #look(): Promise<boolean> {
    const { controller, brokerId, clock, logger } = this.#o
    const { image } = controller
    // One node acts.
    if (usableLockstepNodes(image)[0]?.brokerId !== brokerId || clock.monotonicMs() < this.#nextMs) return false
    const asked = OWN_TOPICS.flatMap((topic): Reassignment[] => {
      const placed = topicByName(image, topic)?.partitions[0]
      // A reassignment that is under way, ours or another tool's, ends first.
      if (!placed || placed.addingReplicas.length > 0 || placed.removingReplicas.length > 0) return []
      const replicas = ownTopicMove(image, placed.replicas)
      return replicas ? [{ topic, partition: 0, replicas }] : []
    })
    if (asked.length === 0) return false
    this.#nextMs = clock.monotonicMs() + RETRY_MS
    for (const { topic, errorCode, errorMessage } of await controller.cluster.alterPartitionReassignments(asked))
      if (errorCode !== ErrorCode.NONE)
        logger.warn("one of Lockstep's own topics could not be moved", {
          topic,
          error: errorMessage ?? errorName(errorCode),
        })
    return false
  }
}
