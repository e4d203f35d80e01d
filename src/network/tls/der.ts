/** A reader of DER, the encoding of certificates and key stores; bounded by the bytes it is given. Used by the files beside it. */

export const DerTag = {
  INTEGER: 0x02,
  BIT_STRING: 0x03,
  OCTET_STRING: 0x04,
  OID: 0x06,
  UTF8_STRING: 0x0c,
  SEQUENCE: 0x30,
  SET: 0x31,
} as const

export interface DerValue {
  readonly tag: number
  readonly content: Buffer
  /** Tag, length and content. */
  readonly whole: Buffer
}

export class DerError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'DerError'
  }
}

/** The values that follow each other in `bytes`. Throws DerError. */
export function derValues(bytes: Buffer): DerValue[] {
  const values: DerValue[] = []
  for (let at = 0; at < bytes.length; ) {
    const value = derValue(bytes.subarray(at))
    values.push(value)
    at += value.whole.length
  }
  return values
}

/** The first value in `bytes`. */
export function derValue(bytes: Buffer): DerValue {
  const tag = byteAt(bytes, 0)
  if ((tag & 0x1f) === 0x1f) throw new DerError('a tag of several bytes')
  const { length, start } = lengthAt(bytes)
  if (length > bytes.length - start) throw new DerError('a value that is longer than what holds it')
  const end = start + length
  return { tag, content: bytes.subarray(start, end), whole: bytes.subarray(0, end) }
}

function lengthAt(bytes: Buffer): { length: number; start: number } {
  const first = byteAt(bytes, 1)
  if (first < 0x80) return { length: first, start: 2 }
  const count = first & 0x7f
  if (count === 0 || count > 4) throw new DerError('a length that is not definite, or too large')
  let length = 0
  for (let i = 0; i < count; i++) length = length * 256 + byteAt(bytes, 2 + i)
  return { length, start: 2 + count }
}

function byteAt(bytes: Buffer, at: number): number {
  const byte = bytes[at]
  if (byte === undefined) throw new DerError('the end in the middle of a value')
  return byte
}

/** The values inside, which must be of this tag. */
export function derContents(value: DerValue | undefined, tag: number): DerValue[] {
  return derValues(derContent(value, tag))
}

export function derContent(value: DerValue | undefined, tag: number): Buffer {
  if (value?.tag !== tag) throw new DerError(`tag ${value?.tag ?? 'none'} instead of ${tag}`)
  return value.content
}

/** Dotted form of an object identifier. */
export function derOid(value: DerValue | undefined): string {
  const numbers: number[] = []
  let number = 0
  for (const byte of derContent(value, DerTag.OID)) {
    number = number * 128 + (byte & 0x7f)
    if (byte & 0x80) continue
    numbers.push(number)
    number = 0
  }
  const [first = 0, ...rest] = numbers
  const root = Math.min(2, Math.floor(first / 40))
  return [root, first - root * 40, ...rest].join('.')
}
