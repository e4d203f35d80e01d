/** The Kafka error code for what a partition's log refused; appends and fetches answer with it. */
import { LogError } from '../log/log-error.ts'
import { ErrorCode } from '../protocol/errors.ts'
import { PartitionUnavailable } from './partition-unavailable.ts'

/** KAFKA_STORAGE_ERROR for anything that is not an answer about the request itself. */
export function errorCodeOf(error: unknown): number {
  if (!(error instanceof LogError)) return ErrorCode.KAFKA_STORAGE_ERROR
  switch (error.kind) {
    case 'too-large':
      return ErrorCode.RECORD_LIST_TOO_LARGE
    case 'out-of-range':
      return ErrorCode.OFFSET_OUT_OF_RANGE
    case 'closed':
    case 'stale-epoch':
      return ErrorCode.NOT_LEADER_OR_FOLLOWER
    default:
      return ErrorCode.KAFKA_STORAGE_ERROR
  }
}

/** Did a compare-and-set append meet another log end or a newer leader epoch? Then somebody else writes this log. */
export const isAppendConflict = (error: unknown): error is LogError =>
  error instanceof LogError && (error.kind === 'conflict' || error.kind === 'stale-epoch')

/** The disk, not the request, is to blame. */
export const isStorageFailure = (error: unknown): boolean =>
  error instanceof LogError ? error.kind === 'storage' : !(error instanceof PartitionUnavailable)
