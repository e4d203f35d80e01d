/** Names of the files and directories of a log, as Kafka gives them; used by segments, recovery and the log store. */
import { randomUUID } from 'node:crypto'

/** Kinds of files that belong to one segment or offset. */
export type SegmentFileKind = 'log' | 'index' | 'timeindex' | 'txnindex' | 'snapshot'

/** `00000000000000000042.log` */
export const segmentFileName = (offset: number, kind: SegmentFileKind): string =>
  `${String(offset).padStart(20, '0')}.${kind}`

const SEGMENT_FILE = /^(\d{20})\.(log|index|timeindex|txnindex|snapshot)$/

/** The inverse of `segmentFileName`; undefined for other files. */
export function parseSegmentFileName(name: string): { offset: number; kind: SegmentFileKind } | undefined {
  const match = SEGMENT_FILE.exec(name)
  return match ? { offset: Number(match[1]), kind: match[2] as SegmentFileKind } : undefined
}

export const LEADER_EPOCH_CHECKPOINT = 'leader-epoch-checkpoint'
export const PARTITION_METADATA = 'partition.metadata'

/** `orders-3` */
export const partitionDirectoryName = (topic: string, partition: number): string => `${topic}-${partition}`

/** A partition directory that waits for its removal; the topic is cut so that file systems accept the name. */
export const deletedDirectoryName = (topic: string, partition: number): string =>
  directoryNameWith('delete', topic, partition)

/** A partition directory without a topic, set aside. */
export const strayDirectoryName = (topic: string, partition: number): string =>
  directoryNameWith('stray', topic, partition)

function directoryNameWith(mark: 'delete' | 'stray', topic: string, partition: number): string {
  const suffix = `-${partition}.${randomUUID().replaceAll('-', '')}-${mark}`
  return topic.slice(0, 255 - suffix.length) + suffix
}

const DELETED_DIRECTORY = /-\d+\.[0-9a-f]{32}-delete$/
const STRAY_DIRECTORY = /-\d+\.[0-9a-f]{32}-stray$/

export const isDeletedDirectory = (name: string): boolean => DELETED_DIRECTORY.test(name)

/** The inverse of `partitionDirectoryName`; undefined for anything else, directories marked for deletion or as strays included. */
export function parsePartitionDirectory(name: string): { topic: string; partition: number } | undefined {
  const match = /^([a-zA-Z0-9._-]{1,249})-(0|[1-9]\d{0,9})$/.exec(name)
  const marked = isDeletedDirectory(name) || STRAY_DIRECTORY.test(name)
  return match && !marked ? { topic: match[1] ?? '', partition: Number(match[2]) } : undefined
}
