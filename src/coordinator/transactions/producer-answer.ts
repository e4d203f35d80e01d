/** Id and epoch of a producer as answers carry them, and the codes of failures; the transaction coordinator builds them. */
import { ErrorCode } from '../../protocol/errors.ts'
import { coordinatorErrorCode } from '../runtime/coordinator-error.ts'
import { NO_PRODUCER_EPOCH, NO_PRODUCER_ID, type TransactionMetadata } from './transaction-metadata.ts'

/** Id and epoch are -1 beside an error. */
export interface ProducerAnswer {
  readonly errorCode: number
  readonly producerId: bigint
  readonly producerEpoch: number
}

export const producerOf = ({ producerId, producerEpoch }: TransactionMetadata): ProducerAnswer => ({
  errorCode: ErrorCode.NONE,
  producerId,
  producerEpoch,
})

export const refusedProducer = (errorCode: number): ProducerAnswer => ({
  errorCode,
  producerId: NO_PRODUCER_ID,
  producerEpoch: NO_PRODUCER_EPOCH,
})

/** The code of what was thrown. A transaction with more partitions than a record can hold is not the client's to repeat. */
export function answeredCode(error: unknown): number {
  const errorCode = coordinatorErrorCode(error)
  return errorCode === ErrorCode.RECORD_LIST_TOO_LARGE ? ErrorCode.UNKNOWN_SERVER_ERROR : errorCode
}
