/** What changed from one metadata image to the next; subscribers of the controller act on it instead of comparing whole images. */
import type { Uuid } from '../core/uuid.ts'
import type { ConfigResource, MetadataImage, TopicImage } from './metadata-image.ts'

/** A topic that exists after the change and was created or had partitions changed by it. */
export interface TopicDelta {
  /** Undefined = created by this change. */
  readonly before: TopicImage | undefined
  readonly after: TopicImage
  /** Ids of the partitions that are new or different, ascending. */
  readonly partitions: readonly number[]
}

export interface MetadataDelta {
  /** Offset of the image before; -1 = this delta describes everything. */
  readonly fromOffset: number
  readonly changedTopics: ReadonlyMap<Uuid, TopicDelta>
  /** Topics of the image before that are gone (also when one of the same name was created anew). */
  readonly deletedTopics: ReadonlyMap<Uuid, TopicImage>
  /** Resources with a changed override (set, changed or removed). */
  readonly changedConfigs: readonly ConfigResource[]
  /** Brokers registered, changed or unregistered. */
  readonly changedBrokers: ReadonlySet<number>
  readonly featuresChanged: boolean
  readonly aclsChanged: boolean
  readonly scramCredentialsChanged: boolean
  readonly clientQuotasChanged: boolean
  readonly delegationTokensChanged: boolean
}

/** The delta from nothing to `image`, for a subscriber that starts now. */
export function wholeImageDelta(image: MetadataImage): MetadataDelta {
  const changedTopics = new Map<Uuid, TopicDelta>()
  for (const topic of image.topics.values())
    changedTopics.set(topic.id, { before: undefined, after: topic, partitions: [...topic.partitions.keys()] })
  return {
    fromOffset: -1,
    changedTopics,
    deletedTopics: new Map(),
    changedConfigs: [...image.configs.keys()].map(parseResourceKey),
    changedBrokers: new Set(image.brokers.keys()),
    featuresChanged: true,
    aclsChanged: true,
    scramCredentialsChanged: true,
    clientQuotasChanged: true,
    delegationTokensChanged: true,
  }
}

/** The delta between two images that were not made from each other: a snapshot took the place of the log. Unchanged topics, too, are told as changed. */
export function replacedImageDelta(before: MetadataImage, image: MetadataImage): MetadataDelta {
  const whole = wholeImageDelta(image)
  const changedTopics = new Map(
    [...whole.changedTopics].map(([id, change]) => [id, { ...change, before: before.topics.get(id) }]),
  )
  const deletedTopics = new Map(
    [...before.topics.values()].flatMap(topic => (image.topics.has(topic.id) ? [] : [[topic.id, topic]])),
  )
  const keys = new Set([...before.configs.keys(), ...image.configs.keys()])
  return {
    ...whole,
    fromOffset: before.offset,
    changedTopics,
    deletedTopics,
    changedConfigs: [...keys].map(parseResourceKey),
    changedBrokers: new Set([...before.brokers.keys(), ...image.brokers.keys()]),
  }
}

/** Back from `configResourceKey`. */
export function parseResourceKey(key: string): ConfigResource {
  const colon = key.indexOf(':')
  return { type: Number(key.slice(0, colon)), name: key.slice(colon + 1) }
}
