/** The one typed error of record batches; callers (log, replica, link, broker) map its kind to a Kafka code or a mirror failure. */

/**
 * What is wrong with the bytes:
 * `truncated` fewer bytes than the batch says; `invalid-size` the length field cannot be true;
 * `unsupported-magic` message format 0 or 1, or unknown; `invalid-header` another header field cannot be true;
 * `crc-mismatch` CRC-32C differs; `invalid-records` the record section does not parse;
 * `unsupported-compression` codec number without a codec; `decompression-failed` the codec refused the bytes;
 * `too-large` decoding would pass the caller's bound.
 */
export type BatchErrorKind =
  | 'truncated'
  | 'invalid-size'
  | 'unsupported-magic'
  | 'invalid-header'
  | 'crc-mismatch'
  | 'invalid-records'
  | 'unsupported-compression'
  | 'decompression-failed'
  | 'too-large'

/** Bytes that are not a valid record batch. Never retriable by itself: the same bytes fail again. */
export class BatchError extends Error {
  readonly kind: BatchErrorKind

  constructor(kind: BatchErrorKind, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.name = 'BatchError'
    this.kind = kind
  }
}
