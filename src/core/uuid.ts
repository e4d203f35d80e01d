import { randomBytes } from 'node:crypto'

/** Kafka's Uuid in its text form: 16 bytes as 22 characters of unpadded base64url. */
declare const uuidBrand: unique symbol
export type Uuid = string & { readonly [uuidBrand]: true }

export const ZERO_UUID = 'AAAAAAAAAAAAAAAAAAAAAA' as Uuid

/** Bytes (exactly 16) → text. */
export const uuidFromBytes = (bytes: Uint8Array): Uuid =>
  Buffer.from(bytes.buffer, bytes.byteOffset, 16).toString('base64url') as Uuid

/** Text → 16 bytes. Throws RangeError if it is not a uuid. */
export function uuidToBytes(uuid: string): Buffer {
  const bytes = Buffer.from(uuid, 'base64url')
  if (bytes.length !== 16) throw new RangeError(`"${uuid}" is not a Kafka uuid (22 characters of base64url)`)
  return bytes
}

/** Checks text from outside. */
export const isUuid = (text: string): text is Uuid =>
  /^[A-Za-z0-9_-]{22}$/.test(text) && Buffer.from(text, 'base64url').length === 16

/** A new random id; like Kafka's, never reserved (zero and one) and never starting with "-". */
export function randomUuid(): Uuid {
  for (;;) {
    const bytes = randomBytes(16)
    bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40
    bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80
    const text = uuidFromBytes(bytes)
    if (!text.startsWith('-')) return text
  }
}

/** The hexadecimal form 8-4-4-4-12 of the same 128 bits. */
export function uuidToHex(uuid: Uuid): string {
  const hex = uuidToBytes(uuid).toString('hex')
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')
}
