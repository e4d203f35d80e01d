/** New partitions: which brokers hold them, and their records; used by the commands that create topics and partitions. */
import type { Uuid } from '../../core/uuid.ts'
import type { ApiError } from '../../metadata/controller-port.ts'
import { type BrokerImage, DirectoryId, type MetadataImage } from '../../metadata/metadata-image.ts'
import { recordVersions } from '../../metadata/record-versions.ts'
import { type MetadataRecordInput, MetadataRecordType } from '../../protocol/metadata-records/registry.ts'
import { refused } from './decision.ts'

/** Kafka's bound on what one request may create. */
export const NEW_PARTITIONS_MAX = 10_000

export type Assignments = readonly (readonly number[])[]

/** Spreads `count` partitions over the registered brokers, those that are not fenced first; leaders take turns, counted on from `first`. */
export function placePartitions(
  image: MetadataImage,
  wanted: { readonly first: number; readonly count: number; readonly replicationFactor: number },
): Assignments | ApiError {
  const brokers = [...image.brokers.values()].sort((a, b) => Number(a.fenced) - Number(b.fenced) || a.id - b.id)
  const active = brokers.filter(broker => !broker.fenced).length
  const { replicationFactor: factor } = wanted
  if (factor > brokers.length)
    return refused(
      'INVALID_REPLICATION_FACTOR',
      `Unable to replicate the partition ${factor} time(s): The target replication factor of ${factor} cannot be reached because only ${brokers.length} broker(s) are registered.`,
    )
  if (active === 0)
    return refused(
      'INVALID_REPLICATION_FACTOR',
      `Unable to replicate the partition ${factor} time(s): All brokers are currently fenced or in controlled shutdown.`,
    )
  return Array.from({ length: wanted.count }, (_, i) => {
    const leader = (wanted.first + i) % active
    const rotated = [...brokers.slice(leader, active), ...brokers.slice(0, leader), ...brokers.slice(active)]
    return rotated.slice(0, factor).map(broker => broker.id)
  })
}

/** Why an assignment given by hand is refused; undefined if it is fine. `first` = id of the first partition in it. */
export function assignmentProblem(image: MetadataImage, assignments: Assignments, first: number): ApiError | undefined {
  const factor = assignments[0]?.length
  for (const [index, replicas] of assignments.entries()) {
    const problem = replicasProblem(image, replicas)
    if (problem !== undefined) return refused('INVALID_REPLICA_ASSIGNMENT', problem)
    if (replicas.length !== factor)
      return refused(
        'INVALID_REPLICA_ASSIGNMENT',
        `The manual partition assignment includes a partition with ${replicas.length} replica(s), but this is not consistent with previous partitions, which have ${factor} replica(s).`,
      )
    if (!replicas.some(id => isActive(image.brokers.get(id))))
      return refused(
        'INVALID_REPLICA_ASSIGNMENT',
        `All brokers specified in the manual partition assignment for partition ${first + index} are fenced or in controlled shutdown.`,
      )
  }
  return undefined
}

function replicasProblem(image: MetadataImage, replicas: readonly number[]): string | undefined {
  if (replicas.length === 0) return 'The manual partition assignment includes an empty replica list.'
  const unknown = replicas.find(id => !image.brokers.has(id))
  if (unknown !== undefined)
    return `The manual partition assignment includes broker ${unknown}, but no such broker is registered.`
  const twice = replicas.find((id, i) => replicas.indexOf(id) !== i)
  if (twice !== undefined) return `The manual partition assignment includes the broker ${twice} more than once.`
  return undefined
}

/** The records of partitions `first`, `first + 1`, ...: all active replicas in sync at once, the first of them leads. */
export function partitionRecords(
  image: MetadataImage,
  topic: { readonly id: Uuid; readonly first: number },
  assignments: Assignments,
): MetadataRecordInput[] {
  const version = recordVersions(image).partition
  return assignments.map((replicas, index) => {
    const isr = replicas.filter(id => isActive(image.brokers.get(id)))
    return {
      type: MetadataRecordType.Partition,
      version,
      value: {
        partitionId: topic.first + index,
        topicId: topic.id,
        replicas,
        isr,
        removingReplicas: [],
        addingReplicas: [],
        leader: isr[0] ?? -1,
        leaderEpoch: 0,
        partitionEpoch: 0,
        ...(version >= 1 ? { directories: replicas.map(id => directoryOn(image.brokers.get(id))) } : {}),
      },
    }
  })
}

const isActive = (broker: BrokerImage | undefined): boolean =>
  broker !== undefined && !broker.fenced && !broker.inControlledShutdown

/** A broker with one directory puts everything there; with several it chooses and tells. */
const directoryOn = (broker: BrokerImage | undefined): Uuid =>
  broker?.logDirs.length === 1 ? (broker.logDirs[0] ?? DirectoryId.UNASSIGNED) : DirectoryId.UNASSIGNED
