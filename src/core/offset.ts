/** Offsets inside the product are safe integers; only wire messages hold bigint (docs/decisions/0002-offsets.md). */

/** Converts an int64 of the wire. Negative sentinels (-1, -2, ...) pass. Throws RangeError beyond 2^53. */
export function offsetFromWire(value: bigint): number {
  const n = Number(value)
  if (!Number.isSafeInteger(n)) throw new RangeError(`offset ${value} is beyond 2^53, which Lockstep does not handle`)
  return n
}

export const offsetToWire = (value: number): bigint => BigInt(value)
