/** Finds the topic that a request names, by name or by id, with the error that Kafka answers if there is none. */

import type { Uuid } from '../core/uuid.ts'
import { ZERO_UUID } from '../core/uuid.ts'
import { type MetadataImage, type TopicImage, topicByName } from '../metadata/metadata-image.ts'
import { ErrorCode } from '../protocol/errors.ts'

/** `image` is undefined exactly if `errorCode` is UNKNOWN_TOPIC_ID or UNKNOWN_TOPIC_OR_PARTITION. */
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
