/** The alterPartitionReassignments command (KIP-455) where partitions have nowhere to go: what is asked for is where they are, or refused. Called by the local controller. */
import type { NamedPartition, Reassignment } from '../../metadata/cluster-commands.ts'
import type { ApiError } from '../../metadata/controller-port.ts'
import { type MetadataImage, type PartitionImage, topicByName } from '../../metadata/metadata-image.ts'
import { accepted, refused } from './decision.ts'

export const reassignPartitions = (
  image: MetadataImage,
  asked: readonly Reassignment[],
): (ApiError & NamedPartition)[] =>
  asked.map(({ topic: name, partition, replicas }) => {
    const topic = topicByName(image, name)
    const state = topic?.partitions[partition]
    if (topic === undefined) return { topic: name, partition, ...unknown(`Unable to find a topic named ${name}.`) }
    if (state === undefined)
      return { topic: name, partition, ...unknown(`Unable to find partition ${name}:${partition}.`) }
    return { topic: name, partition, ...(replicas === null ? nothingToCancel : verdict(image, state, replicas)) }
  })

const unknown = (message: string): ApiError => refused('UNKNOWN_TOPIC_OR_PARTITION', message)

const nothingToCancel: ApiError = refused('NO_REASSIGNMENT_IN_PROGRESS', null)

function verdict(image: MetadataImage, { replicas: current }: PartitionImage, wanted: readonly number[]): ApiError {
  const invalid = (message: string) => refused('INVALID_REPLICA_ASSIGNMENT', message)
  if (wanted.length === 0) return invalid('The manual partition assignment includes an empty replica list.')
  const sorted = wanted.toSorted((a, b) => a - b)
  for (const [index, id] of sorted.entries()) {
    if (id === sorted[index - 1])
      return invalid(`The manual partition assignment includes the broker ${id} more than once.`)
    if (!image.brokers.has(id))
      return invalid(`The manual partition assignment includes broker ${id}, but no such broker is registered.`)
  }
  if (wanted.length === current.length && wanted.every((id, index) => id === current[index])) return accepted
  return invalid('A standalone node cannot move replicas to or from other brokers.')
}
