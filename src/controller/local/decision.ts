/** The shape of every command of the local controller: a pure function from the image to records and an answer. */
import type { ApiError } from '../../metadata/controller-port.ts'
import { ErrorCode, type KafkaErrorName } from '../../protocol/errors.ts'
import type { MetadataRecordInput } from '../../protocol/metadata-records/registry.ts'

export interface Decision<A> {
  /** To be appended as one atomic unit; empty = nothing changes. */
  readonly records: readonly MetadataRecordInput[]
  /** Given once the records are durable and published. */
  readonly answer: A
}

export const accepted: ApiError = { errorCode: ErrorCode.NONE, errorMessage: null }

/** `message` null = the client shows its own text for the code. */
export const refused = (error: KafkaErrorName, message: string | null): ApiError => ({
  errorCode: ErrorCode[error],
  errorMessage: message,
})

/** Keys that occur more than once; a request may name each thing once only. */
export function repeated(keys: readonly string[]): ReadonlySet<string> {
  const seen = new Set<string>()
  return new Set(keys.filter(key => seen.size === seen.add(key).size))
}

/** A topic whose client may not change as many partitions now. */
export const quotaExceeded = refused('THROTTLING_QUOTA_EXCEEDED', 'The throttling quota has been exceeded.')
