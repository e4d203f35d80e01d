/** Why a coordinator cannot serve a key now, or refuses a request; the runtime and the coordinators throw it, handlers answer its code. */
import { ErrorCode, errorName } from '../../protocol/errors.ts'

export class CoordinatorError extends Error {
  /** Kafka error code to answer. */
  readonly errorCode: number

  constructor(errorCode: number, message: string = errorName(errorCode)) {
    super(message)
    this.name = 'CoordinatorError'
    this.errorCode = errorCode
  }
}

/** The code to answer for anything that was thrown: its own; UNKNOWN_SERVER_ERROR for what is too large to be stored, and for the rest. */
export function coordinatorErrorCode(error: unknown): number {
  if (!(error instanceof CoordinatorError) || error.errorCode === ErrorCode.RECORD_LIST_TOO_LARGE)
    return ErrorCode.UNKNOWN_SERVER_ERROR
  return error.errorCode
}
