/** What consumers of the classic protocol tell each other through their leader, read and written for the groups that members of both protocols share. */
import type { Uuid } from '../../core/uuid.ts'
import { type MetadataImage, topicByName } from '../../metadata/metadata-image.ts'
import { ConsumerProtocolAssignment } from '../../protocol/messages/consumer-protocol-assignment.ts'
import { ConsumerProtocolSubscription } from '../../protocol/messages/consumer-protocol-subscription.ts'
import { DecodeError } from '../../protocol/schema/codec-errors.ts'
import { addPartition, type Partitions } from './partition-sets.ts'

export interface ClassicSubscription {
  readonly topics: readonly string[]
  readonly owned: readonly { readonly topic: string; readonly partitions: readonly number[] }[]
  readonly rackId: string | null
}

/** undefined if it is something else: what members tell their leader is theirs. */
export function readSubscription(metadata: Buffer): ClassicSubscription | undefined {
  const version = versionOf(metadata)
  if (version === undefined) return undefined
  try {
    // Later versions may add to the end.
    const { topics, ownedPartitions, rackId } = ConsumerProtocolSubscription.decode(metadata.subarray(2), version)
    return { topics, owned: ownedPartitions, rackId }
  } catch (error) {
    if (error instanceof DecodeError) return undefined
    throw error
  }
}

/** Topics that do not exist any more are left out. undefined as above. */
export function readAssignment(bytes: Buffer, image: MetadataImage): Partitions | undefined {
  if (bytes.length === 0) return new Map()
  const version = versionOf(bytes)
  if (version === undefined) return undefined
  try {
    const { assignedPartitions } = ConsumerProtocolAssignment.decode(bytes.subarray(2), version)
    return byTopicId(assignedPartitions, image)
  } catch (error) {
    if (error instanceof DecodeError) return undefined
    throw error
  }
}

export function byTopicId(topics: ClassicSubscription['owned'], image: MetadataImage): Partitions {
  const read = new Map<Uuid, Set<number>>()
  for (const { topic, partitions } of topics) {
    const id = topicByName(image, topic)?.id
    if (id !== undefined) for (const partition of partitions) addPartition(read, id, partition)
  }
  return read
}

/** In the version that the member spoke in its subscription. */
export function writeAssignment(partitions: Partitions, image: MetadataImage, subscription: Buffer): Buffer {
  const version = versionOf(subscription) ?? 0
  const assignedPartitions = [...partitions].flatMap(([topicId, keys]) => {
    const topic = image.topics.get(topicId)?.name
    return topic === undefined ? [] : [{ topic, partitions: [...keys.keys()].sort((a, b) => a - b) }]
  })
  const head = Buffer.alloc(2)
  head.writeInt16BE(version)
  return Buffer.concat([head, ConsumerProtocolAssignment.encode({ assignedPartitions }, version)])
}

/** Of both messages, as far as they are known here. */
function versionOf(bytes: Buffer): number | undefined {
  if (bytes.length < 2) return undefined
  const version = bytes.readInt16BE(0)
  return version < 0 ? undefined : Math.min(version, ConsumerProtocolSubscription.versions.max)
}
