/** Which version of a metadata record type a cluster's metadata.version allows; used by whatever writes records: the controller's commands and metadata snapshots. */
import type { MetadataImage } from './metadata-image.ts'

/** Feature levels of metadata.version at which record formats changed. */
const level = { '3.4-IV0': 8, '3.7-IV2': 17, '4.0-IV1': 23, '4.3-IV0': 30 } as const

/** Level that a new cluster gets: 4.3-IV0. */
export const METADATA_VERSION_LATEST = level['4.3-IV0']

/** Oldest level that this node understands: 3.3-IV3. */
export const METADATA_VERSION_MIN = 7

/** Lowest level with eligible leader replicas in the records of partitions (KIP-966). */
export const METADATA_VERSION_ELR = level['4.0-IV1']

/** Levels that brought records, or versions of them, which the level below does not know. */
const changes: readonly number[] = [7, 8, 11, 13, 14, 15, 17, 23, 30]

/** Would going down from `high` to `low` leave records that `low` does not know? */
export const metadataChangedBetween = (low: number, high: number): boolean =>
  changes.some(change => change > low && change <= high)

export interface RecordVersions {
  readonly registerBroker: number
  readonly partition: number
  readonly partitionChange: number
}

export function recordVersions(image: MetadataImage): RecordVersions {
  const current = image.features.get('metadata.version') ?? METADATA_VERSION_MIN
  const partition = current >= level['4.0-IV1'] ? 2 : current >= level['3.7-IV2'] ? 1 : 0
  return { registerBroker: registerBrokerVersion(current), partition, partitionChange: partition }
}

function registerBrokerVersion(current: number): number {
  if (current >= level['4.3-IV0']) return 4
  if (current >= level['3.7-IV2']) return 3
  return current >= level['3.4-IV0'] ? 2 : 1
}
