/** How a fenced producer is told; the handlers of transactions share it. */
import { ErrorCode } from '../protocol/errors.ts'

/** Clients that do not know PRODUCER_FENCED yet are told INVALID_PRODUCER_EPOCH, which they handle alike. */
export const knownFencing = (errorCode: number, knowsFenced: boolean): number =>
  errorCode === ErrorCode.PRODUCER_FENCED && !knowsFenced ? ErrorCode.INVALID_PRODUCER_EPOCH : errorCode
