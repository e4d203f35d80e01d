/** What members are told when the state of a share partition cannot be read or written, as in Kafka. */
import { ErrorCode } from '../../protocol/errors.ts'
import { PartitionUnavailable } from '../../replica/partition-unavailable.ts'
import { CoordinatorError } from '../runtime/coordinator-error.ts'

const { NOT_LEADER_OR_FOLLOWER, COORDINATOR_NOT_AVAILABLE, UNKNOWN_SERVER_ERROR } = ErrorCode

const answers: ReadonlyMap<number, number> = new Map([
  [ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, COORDINATOR_NOT_AVAILABLE],
  [ErrorCode.NOT_COORDINATOR, COORDINATOR_NOT_AVAILABLE],
  [COORDINATOR_NOT_AVAILABLE, COORDINATOR_NOT_AVAILABLE],
  [ErrorCode.FENCED_LEADER_EPOCH, NOT_LEADER_OR_FOLLOWER],
  [ErrorCode.FENCED_STATE_EPOCH, NOT_LEADER_OR_FOLLOWER],
  [NOT_LEADER_OR_FOLLOWER, NOT_LEADER_OR_FOLLOWER],
  [ErrorCode.GROUP_ID_NOT_FOUND, ErrorCode.GROUP_ID_NOT_FOUND],
  [ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION],
])

/** The error for a member; UNKNOWN_SERVER_ERROR for everything that it cannot do anything about. */
export function answerOfPersister(error: unknown): CoordinatorError {
  if (error instanceof PartitionUnavailable) return new CoordinatorError(error.errorCode, error.message)
  const code = error instanceof CoordinatorError ? answers.get(error.errorCode) : undefined
  const message = error instanceof Error ? error.message : String(error)
  return new CoordinatorError(code ?? UNKNOWN_SERVER_ERROR, message)
}

const fencing: readonly number[] = [
  ErrorCode.FENCED_LEADER_EPOCH,
  ErrorCode.FENCED_STATE_EPOCH,
  ErrorCode.GROUP_ID_NOT_FOUND,
  ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
  // It was initialised once, and is not any more: the group's offsets were deleted.
  ErrorCode.INVALID_REQUEST,
]

/** Does the state belong to somebody else now? */
export const isFencing = (error: unknown): boolean =>
  error instanceof CoordinatorError && fencing.includes(error.errorCode)
