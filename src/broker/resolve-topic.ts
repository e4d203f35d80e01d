/** Finds the topic that a request names, by name or by id, with the error that Kafka answers if there is none. */

import type { Uuid } from '../core/uuid.ts'
import { ZERO_UUID } from '../core/uuid.ts'
import { type MetadataImage, type TopicImage, topicByName } from '../metadata/metadata-image.ts'
import { ErrorCode } from '../protocol/errors.ts'

/** `image` is undefined exactly if `errorCode` is not NONE: UNKNOWN_TOPIC_ID, UNKNOWN_TOPIC_OR_PARTITION, or a refusal. */
export interface ResolvedTopic {
  readonly errorCode: number
  readonly image: TopicImage | undefined
}

/** Requests that carry ids leave the name empty, and the reverse. */
export function resolveTopic(
  image: MetadataImage,
  named: { readonly name: string; readonly topicId: Uuid },
): ResolvedTopic {
  const byId = named.topicId !== ZERO_UUID
  const found = byId ? image.topics.get(named.topicId) : topicByName(image, named.name)
  if (found) return { errorCode: ErrorCode.NONE, image: found }
  return { errorCode: byId ? ErrorCode.UNKNOWN_TOPIC_ID : ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, image: undefined }
}

/**
 * The topic of a partition in a Fetch request, or in a session that learned `knownName` when the topic's id was found before.
 * Without a topic the code is what Kafka answers for the partition: INCONSISTENT_TOPIC_ID if the name belongs to another
 * topic now.
 */
export function resolveFetched(
  image: MetadataImage,
  named: { readonly topic: string; readonly topicId: Uuid; readonly partition: number },
  knownName: string | undefined,
): { readonly errorCode: number; readonly topic: TopicImage | undefined } {
  const { topic: name, topicId, partition } = named
  const { errorCode, image: found } = resolveTopic(image, { name, topicId })
  if (found?.partitions[partition]) return { errorCode, topic: found }
  if (found || topicId === ZERO_UUID || knownName === undefined)
    return { errorCode: found ? ErrorCode.UNKNOWN_TOPIC_OR_PARTITION : errorCode, topic: undefined }
  const successor = topicByName(image, knownName)?.partitions[partition]
  const successorCode = successor ? ErrorCode.INCONSISTENT_TOPIC_ID : ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
  return { errorCode: successorCode, topic: undefined }
}
