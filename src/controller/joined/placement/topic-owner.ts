/** Whose a topic is, as far as placement cares; the evictor and the watch over mirrors ask. */
import type { Clock } from '../../../core/clock.ts'
import type { Uuid } from '../../../core/uuid.ts'
import {
  ConfigResourceType,
  configOverrides,
  type MetadataImage,
  type TopicImage,
} from '../../../metadata/metadata-image.ts'
import { OWN_TOPICS } from '../../../metadata/placement/own-topics.ts'

/** `unknown`: not known yet, so nothing is done with it. */
export type TopicOwner = 'mirror' | 'own' | 'foreign' | 'unknown'

export interface TopicOwnersOptions {
  readonly image: () => MetadataImage
  /**
   * The link engine's answer: `writable` = no mirror, `mirror` also for one that is being created. `isStaged`: it is to be one, and is copied
   * here meanwhile.
   */
  readonly statusOf: (
    topicId: Uuid,
    topic: string,
  ) => { readonly kind: 'writable' | 'unknown' | 'mirror'; readonly isStaged?: true }
  readonly clock: Clock
}

/** How long a topic that carries the fence is spared although no link is known to own it: its record may be on its way to this node. */
const GRACE_MS = 10_000
/** The write fence of mirrors: room for a transaction marker, and for nothing else. No application sets this. */
const FENCE = ['max.message.bytes', '78'] as const

export function topicOwners({ image, statusOf, clock }: TopicOwnersOptions): (topic: TopicImage) => TopicOwner {
  const sparedUntilMs = new Map<Uuid, number>()
  return topic => {
    if (OWN_TOPICS.some(own => own === topic.name)) return 'own'
    const { kind, isStaged } = statusOf(topic.id, topic.name)
    if (kind !== 'writable' || isStaged) {
      sparedUntilMs.delete(topic.id)
      return kind === 'writable' ? 'unknown' : kind
    }
    const configs = configOverrides(image(), { type: ConfigResourceType.TOPIC, name: topic.name })
    if (configs.get(FENCE[0]) !== FENCE[1]) {
      sparedUntilMs.delete(topic.id)
      return 'foreign'
    }
    const untilMs = sparedUntilMs.get(topic.id) ?? clock.monotonicMs() + GRACE_MS
    sparedUntilMs.set(topic.id, untilMs)
    return clock.monotonicMs() < untilMs ? 'unknown' : 'foreign'
  }
}
