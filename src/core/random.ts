/** Randomness as an argument: seeded in tests and simulations, seeded from the system in production. */

/** A stream of numbers in [0, 1). */
export type Random = () => number

/** Deterministic generator (mulberry32) for one 32-bit seed; not for secrets. */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = state
    t = Math.imul(t ^ (t >>> 15), t | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }
}

export const systemRandom: Random = Math.random
