/** Zigzag varints of the record format; used by the record encoder and decoder only. */

/** Bytes that a signed 32-bit number takes. */
export function varintSize(value: number): number {
  const zigzag = ((value << 1) ^ (value >> 31)) >>> 0
  if (zigzag < 0x80) return 1
  if (zigzag < 0x4000) return 2
  if (zigzag < 0x20_0000) return 3
  return zigzag < 0x1000_0000 ? 4 : 5
}

/** Writes a signed 32-bit number; returns the position after it. */
export function writeVarint(buffer: Buffer, value: number, position: number): number {
  let rest = ((value << 1) ^ (value >> 31)) >>> 0
  let next = position
  while (rest >= 0x80) {
    buffer[next++] = (rest & 0x7f) | 0x80
    rest >>>= 7
  }
  buffer[next++] = rest
  return next
}

const zigzag64 = (value: bigint): bigint => BigInt.asUintN(64, (value << 1n) ^ (value >> 63n))

const isSmall = (value: bigint): boolean => value >= -0x8000_0000n && value <= 0x7fff_ffffn

/** Bytes that a signed 64-bit number takes. */
export function varlongSize(value: bigint): number {
  if (isSmall(value)) return varintSize(Number(value))
  let size = 1
  for (let rest = zigzag64(value) >> 7n; rest > 0n; rest >>= 7n) size++
  return size
}

/** Writes a signed 64-bit number; returns the position after it. */
export function writeVarlong(buffer: Buffer, value: bigint, position: number): number {
  if (isSmall(value)) return writeVarint(buffer, Number(value), position)
  let rest = zigzag64(value)
  let next = position
  while (rest >= 0x80n) {
    buffer[next++] = Number(rest & 0x7fn) | 0x80
    rest >>= 7n
  }
  buffer[next++] = Number(rest)
  return next
}
