/** Before a node joins a cluster that cannot cordon it: the topics of coordinators are created while only Kafka brokers are there to hold them. Called by the start. */
import { type Clock, sleep } from '../../core/clock.ts'
import type { Logger } from '../../core/logger.ts'
import type { NewTopic } from '../../metadata/controller-port.ts'
import type { MetadataImage } from '../../metadata/metadata-image.ts'
import type { CoordinatorsController } from '../coordinators.ts'

/** Level of metadata.version from which on directories can be cordoned (Kafka 4.3). */
const CORDON_LEVEL = 30

/** A broker creates it within a moment, or not at all: it must not keep the node from joining. */
const WAIT_MS = 15_000
const ASK_AGAIN_MS = 1000
const LOOK_MS = 100

/** Which of them a cluster will need and does not have; none where new replicas stay away from us anyway. */
export function missingInternalTopics(image: MetadataImage): string[] {
  if ((image.features.get('metadata.version') ?? 0) >= CORDON_LEVEL) return []
  const shares = (image.features.get('share.version') ?? 0) > 0
  const needed = ['__consumer_offsets', '__transaction_state', ...(shares ? ['__share_group_state'] : [])]
  return needed.filter(name => !image.topicIds.has(name))
}

/**
 * The coordinators' controller asks Kafka brokers to create what is missing, as they would when first needed. Never rejects: what is
 * not there in the end may later be placed on this node, and is moved away by the evictor then.
 */
export async function prepareInternalTopics(of: {
  readonly controller: Pick<CoordinatorsController, 'image' | 'createTopics'>
  readonly clock: Clock
  readonly logger: Logger
}): Promise<void> {
  const { controller, clock, logger } = of
  const deadlineMs = clock.monotonicMs() + WAIT_MS
  let askedMs = Number.NEGATIVE_INFINITY
  for (;;) {
    const missing = missingInternalTopics(controller.image)
    if (missing.length === 0) return
    const nowMs = clock.monotonicMs()
    if (nowMs >= deadlineMs)
      return logger.warn('internal topics are missing: they may be placed on this node for a moment', { missing })
    if (nowMs - askedMs >= ASK_AGAIN_MS) {
      askedMs = nowMs
      await controller.createTopics(missing.map(asked), { validateOnly: false }).catch(() => [])
    }
    await sleep(clock, LOOK_MS)
  }
}

/** Brokers take everything but the name from their own files. */
const asked = (name: string): NewTopic => ({
  name,
  partitions: -1,
  replicationFactor: -1,
  assignments: new Map(),
  configs: new Map(),
})
