/** Why a client's records are refused; thrown by the validation of appends and turned into a Produce answer by its caller. */

/** One record that caused the whole batch to be refused (KIP-467). */
export interface RecordError {
  /** Position of the record in its batch, from 0. */
  readonly batchIndex: number
  readonly message: string
}

/** An append that a client must not do, or that cannot be done now. Nothing has been written. */
export class ClientAppendError extends Error {
  /** Kafka error code to answer. */
  readonly errorCode: number
  readonly recordErrors: readonly RecordError[]

  constructor(errorCode: number, message: string, recordErrors: readonly RecordError[] = []) {
    super(message)
    this.name = 'ClientAppendError'
    this.errorCode = errorCode
    this.recordErrors = recordErrors
  }
}

/** Refused by the form of the request, before any partition was looked at. */
export class MalformedAppend extends ClientAppendError {}
