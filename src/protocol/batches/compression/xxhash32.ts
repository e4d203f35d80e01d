/** xxHash32, the checksum inside LZ4 frames; used by lz4-frame.ts only. */

const PRIME_1 = 0x9e3779b1
const PRIME_2 = 0x85ebca77
const PRIME_3 = 0xc2b2ae3d
const PRIME_4 = 0x27d4eb2f
const PRIME_5 = 0x165667b1

const rotate = (value: number, bits: number) => (value << bits) | (value >>> (32 - bits))
const round = (lane: number, word: number) => Math.imul(rotate((lane + Math.imul(word, PRIME_2)) | 0, 13), PRIME_1)

/** xxHash32 of the bytes with the given seed, as an unsigned 32-bit number. */
export function xxhash32(bytes: Buffer, seed = 0): number {
  let position = 0
  let hash = (seed + PRIME_5) | 0
  if (bytes.length >= 16) {
    let a = (seed + PRIME_1 + PRIME_2) | 0
    let b = (seed + PRIME_2) | 0
    let c = seed | 0
    let d = (seed - PRIME_1) | 0
    for (; position + 16 <= bytes.length; position += 16) {
      a = round(a, bytes.readInt32LE(position))
      b = round(b, bytes.readInt32LE(position + 4))
      c = round(c, bytes.readInt32LE(position + 8))
      d = round(d, bytes.readInt32LE(position + 12))
    }
    hash = (rotate(a, 1) + rotate(b, 7) + rotate(c, 12) + rotate(d, 18)) | 0
  }
  hash = (hash + bytes.length) | 0
  for (; position + 4 <= bytes.length; position += 4) {
    hash = Math.imul(rotate((hash + Math.imul(bytes.readInt32LE(position), PRIME_3)) | 0, 17), PRIME_4)
  }
  for (; position < bytes.length; position++) {
    hash = Math.imul(rotate((hash + Math.imul(bytes.readUInt8(position), PRIME_5)) | 0, 11), PRIME_1)
  }
  hash = Math.imul(hash ^ (hash >>> 15), PRIME_2)
  hash = Math.imul(hash ^ (hash >>> 13), PRIME_3)
  return (hash ^ (hash >>> 16)) >>> 0
}
