/** The createPartitions command. Called by the local controller. */
import type { ApiError, CreationOptions, PartitionGrowth } from '../../metadata/controller-port.ts'
import { type MetadataImage, type TopicImage, topicByName } from '../../metadata/metadata-image.ts'
import type { MetadataRecordInput } from '../../protocol/metadata-records/registry.ts'
import { accepted, type Decision, quotaExceeded, refused, repeated } from './decision.ts'
import {
  type Assignments,
  assignmentProblem,
  NEW_PARTITIONS_MAX,
  partitionRecords,
  placePartitions,
} from './partition-placement.ts'

export function createPartitions(
  image: MetadataImage,
  topics: readonly PartitionGrowth[],
  { mayMutate }: Pick<CreationOptions, 'mayMutate'>,
): Decision<(ApiError & { readonly name: string })[]> {
  const records: MetadataRecordInput[] = []
  const twice = repeated(topics.map(growth => growth.name))
  const answer = topics.map(growth => {
    const { name } = growth
    if (twice.has(name)) return { name, ...refused('INVALID_REQUEST', 'Duplicate topic name.') }
    const topic = topicByName(image, name)
    if (topic === undefined) return { name, ...refused('UNKNOWN_TOPIC_OR_PARTITION', null) }
    const assignments = plan(image, topic, growth)
    if ('errorCode' in assignments) return { name, ...assignments }
    if (records.length + assignments.length > NEW_PARTITIONS_MAX)
      return { name, ...refused('POLICY_VIOLATION', 'Excessively large number of partitions per request.') }
    if (mayMutate?.(assignments.length) === false) return { name, ...quotaExceeded }
    records.push(...partitionRecords(image, { id: topic.id, first: topic.partitions.length }, assignments))
    return { name, ...accepted }
  })
  return { records, answer }
}

function plan(image: MetadataImage, topic: TopicImage, growth: PartitionGrowth): Assignments | ApiError {
  const current = topic.partitions.length
  const { newCount } = growth
  if (newCount === current) return refused('INVALID_PARTITIONS', `Topic already has ${current} partition(s).`)
  if (newCount < current)
    return refused(
      'INVALID_PARTITIONS',
      `The topic ${topic.name} currently has ${current} partition(s); ${newCount} would not be an increase.`,
    )
  const count = newCount - current
  if (count > NEW_PARTITIONS_MAX)
    return refused('POLICY_VIOLATION', 'Excessively large number of partitions per request.')
  const manual = growth.assignments ?? null
  if (manual === null)
    return placePartitions(image, {
      first: current,
      count,
      replicationFactor: topic.partitions[0]?.replicas.length ?? 1,
    })
  if (manual.length !== count)
    return refused(
      'INVALID_REPLICA_ASSIGNMENT',
      `Attempted to add ${count} additional partition(s), but ${manual.length} assignment(s) were specified.`,
    )
  return assignmentProblem(image, manual, current) ?? manual
}
