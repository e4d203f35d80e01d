/** The typed errors of encoding and decoding; thrown by everything in `schema/`, caught where bytes come from outside. */

/**
 * Why bytes could not be decoded: `truncated` = a value or an announced length goes beyond the input, `malformed` = impossible
 * length, null where none may be, over-long varint, `trailing` = bytes left over, `unsupported-version` = the table has no such version.
 */
export type DecodeFailure = 'truncated' | 'malformed' | 'trailing' | 'unsupported-version'

/** Bytes from outside are not what they should be. `position` is the byte offset in the input at which it showed. */
export class DecodeError extends Error {
  readonly kind: DecodeFailure
  readonly position: number

  constructor(kind: DecodeFailure, position: number, detail: string) {
    super(`${detail} (byte ${position})`)
    this.name = 'DecodeError'
    this.kind = kind
    this.position = position
  }
}

/** `unsupported-version` = the version, or a field in it, does not exist; `invalid-value` = missing, null or out of range. */
export type EncodeFailure = 'unsupported-version' | 'invalid-value'

/** A value cannot be written in the asked version. */
export class EncodeError extends Error {
  readonly kind: EncodeFailure

  constructor(kind: EncodeFailure, detail: string) {
    super(detail)
    this.name = 'EncodeError'
    this.kind = kind
  }
}
