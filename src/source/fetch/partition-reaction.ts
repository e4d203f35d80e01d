/** What the fetcher does about each error code of a partition: a table, read by the fetch slots for Fetch and OffsetForLeaderEpoch answers. */
import { ErrorCode } from '../../protocol/errors.ts'

/**
 * leader = somebody else leads or will; topic = look whether the topic still exists and has the same id; range = the offset
 * is not in the log; authorization and corrupt = told to the sink as such; retry = told as retriable.
 */
export type PartitionReaction = 'leader' | 'topic' | 'range' | 'authorization' | 'corrupt' | 'retry'

const reactions: ReadonlyMap<number, PartitionReaction> = new Map([
  [ErrorCode.NOT_LEADER_OR_FOLLOWER, 'leader'],
  [ErrorCode.LEADER_NOT_AVAILABLE, 'leader'],
  [ErrorCode.REPLICA_NOT_AVAILABLE, 'leader'],
  [ErrorCode.FENCED_LEADER_EPOCH, 'leader'],
  [ErrorCode.UNKNOWN_LEADER_EPOCH, 'leader'],
  [ErrorCode.OFFSET_NOT_AVAILABLE, 'leader'],
  [ErrorCode.KAFKA_STORAGE_ERROR, 'leader'],
  [ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, 'topic'],
  [ErrorCode.UNKNOWN_TOPIC_ID, 'topic'],
  [ErrorCode.INCONSISTENT_TOPIC_ID, 'topic'],
  [ErrorCode.OFFSET_OUT_OF_RANGE, 'range'],
  [ErrorCode.TOPIC_AUTHORIZATION_FAILED, 'authorization'],
  [ErrorCode.CORRUPT_MESSAGE, 'corrupt'],
])

export const reactionTo = (errorCode: number): PartitionReaction => reactions.get(errorCode) ?? 'retry'
