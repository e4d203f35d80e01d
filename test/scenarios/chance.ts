// Choices of the randomised suites: every one follows from the seed that is printed.
import { randomInt } from 'node:crypto'
import type { Random } from '../../src/core/random.ts'

/** `LOCKSTEP_SEED`, or a new one; print it. */
export const chosenSeed = (): number => Number(process.env['LOCKSTEP_SEED'] ?? randomInt(2 ** 31))

/** `LOCKSTEP_ROUNDS`, or the number that CI has time for. */
export const chosenRounds = (inCi: number): number => Number(process.env['LOCKSTEP_ROUNDS'] ?? inCi)

/** 0 to `limit` - 1. */
export const integerBelow = (limit: number, random: Random): number => Math.floor(random() * limit)

/** One of several. */
export function pick<T>(choices: readonly T[], random: Random): T {
  const chosen = choices[integerBelow(choices.length, random)]
  if (chosen === undefined) throw new Error('nothing to choose from')
  return chosen
}
