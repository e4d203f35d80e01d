/** A number that changes when the topics that a group subscribes to change: whether they exist, their ids and partitions; GroupDraft keeps it in the group's record. */
import { createHash } from 'node:crypto'
import { type MetadataImage, topicByName } from '../../metadata/metadata-image.ts'

/** 0 without topics that exist. Kafka computes another number: where a group changes hands it is assigned anew once. */
export function metadataHashOf(image: MetadataImage, topics: Iterable<string>): bigint {
  const hash = createHash('sha256')
  let isEmpty = true
  for (const name of [...topics].sort()) {
    const topic = topicByName(image, name)
    if (!topic) continue
    isEmpty = false
    hash.update(`${name} ${topic.id} ${topic.partitions.length}\n`)
  }
  return isEmpty ? 0n : hash.digest().readBigInt64BE(0)
}
