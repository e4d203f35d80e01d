/** Sets of partitions by topic id, as assignments of the consumer protocol are made of; everything in this folder works on them. */
import type { Uuid } from '../../core/uuid.ts'

/** Partitions of one topic: a set, or a map with something for each. */
export interface PartitionKeys {
  readonly size: number
  has(partition: number): boolean
  keys(): Iterable<number>
}

/** Topics without partitions are absent. */
export type Partitions = ReadonlyMap<Uuid, PartitionKeys>

/** With the member epoch at which each partition was assigned (KIP-1251). */
export type EpochedPartitions = ReadonlyMap<Uuid, ReadonlyMap<number, number>>

/** As requests, answers and records carry them. */
export interface TopicPartitions {
  readonly topicId: Uuid
  readonly partitions: readonly number[]
}

export const NO_PARTITIONS: EpochedPartitions = new Map()

export function* eachPartition(partitions: Partitions): Generator<readonly [Uuid, number]> {
  for (const [topicId, keys] of partitions) for (const partition of keys.keys()) yield [topicId, partition]
}

export const contains = (partitions: Partitions, topicId: Uuid, partition: number): boolean =>
  partitions.get(topicId)?.has(partition) === true

export function countOf(partitions: Partitions): number {
  let count = 0
  for (const { size } of partitions.values()) count += size
  return count
}

export function isSubset(part: Partitions, whole: Partitions): boolean {
  for (const [topicId, partition] of eachPartition(part)) if (!contains(whole, topicId, partition)) return false
  return true
}

export const samePartitions = (a: Partitions, b: Partitions): boolean => countOf(a) === countOf(b) && isSubset(a, b)

export function addPartition(to: Map<Uuid, Set<number>>, topicId: Uuid, partition: number): void {
  const present = to.get(topicId)
  if (present) present.add(partition)
  else to.set(topicId, new Set([partition]))
}

export function addEpoched(
  to: Map<Uuid, Map<number, number>>,
  topicId: Uuid,
  at: { partition: number; epoch: number },
) {
  const present = to.get(topicId) ?? new Map<number, number>()
  to.set(topicId, present)
  present.set(at.partition, at.epoch)
}

export function partitionsOf(topics: readonly TopicPartitions[]): Partitions {
  const read = new Map<Uuid, Set<number>>()
  for (const { topicId, partitions } of topics)
    for (const partition of partitions) addPartition(read, topicId, partition)
  return read
}

/** In ascending order of the partitions. */
export const topicPartitions = (partitions: Partitions): { topicId: Uuid; partitions: number[] }[] =>
  [...partitions].map(([topicId, keys]) => ({ topicId, partitions: [...keys.keys()].sort((a, b) => a - b) }))
