/**
 * AlterReplicaLogDirs (34), versions 1–2; the dispatch table calls it.
 *
 * 1: baseline. 2: flexible.
 *
 * This node has one data directory, so nothing ever moves: a partition that is here may be sent to that directory, where it
 * already is. Another directory is LOG_DIR_NOT_FOUND.
 */
import type { MetadataImage } from '../../metadata/metadata-image.ts'
import { topicByName } from '../../metadata/metadata-image.ts'
import { ErrorCode } from '../../protocol/errors.ts'
import {
  AlterReplicaLogDirsApi,
  type AlterReplicaLogDirsRequest,
} from '../../protocol/messages/34-alter-replica-log-dirs.ts'
import { requireAllowedOnCluster } from '../authorization.ts'
import { handlerOf } from '../handler.ts'

export const alterReplicaLogDirs = handlerOf(AlterReplicaLogDirsApi, {
  versions: { min: 1, max: 2 },
  handle(broker, request, origin) {
    requireAllowedOnCluster(broker, origin, 'ALTER')
    const { path: own } = broker.logDirectory
    return answer(request, place => verdict(origin.image, own, place))
  },
  failed: (request, errorCode) => answer(request, () => errorCode),
})

interface Place {
  readonly path: string
  readonly topic: string
  readonly partition: number
}

const verdict = (image: MetadataImage, own: string, { path, topic, partition }: Place): number => {
  if (path !== own) return ErrorCode.LOG_DIR_NOT_FOUND
  return topicByName(image, topic)?.partitions[partition] ? ErrorCode.NONE : ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
}

/** One answer per partition; of several directories for one the last counts, as in Kafka. */
function answer({ dirs }: AlterReplicaLogDirsRequest, errorOf: (place: Place) => number) {
  const topics = new Map<string, Map<number, number>>()
  for (const { path, topics: named } of dirs)
    for (const { name, partitions } of named)
      for (const partition of partitions) {
        const errors = topics.get(name) ?? new Map<number, number>()
        topics.set(name, errors)
        errors.set(partition, errorOf({ path, topic: name, partition }))
      }
  return {
    throttleTimeMs: 0,
    results: [...topics].map(([topicName, errors]) => ({
      topicName,
      partitions: [...errors].map(([partitionIndex, errorCode]) => ({ partitionIndex, errorCode })),
    })),
  }
}
