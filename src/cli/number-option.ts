/** Options that are numbers or lengths of time. Called by the commands. */
import { UsageError } from './usage-error.ts'

/** A whole number from `least` on; undefined where the option is not given. */
export function wholeNumber(option: string, text: string | undefined, least = 0): number | undefined {
  if (text === undefined) return undefined
  const value = Number(text)
  if (text.trim() === '' || !Number.isSafeInteger(value) || value < least)
    throw new UsageError(`${option} must be a whole number from ${least} on, not "${text}"`)
  return value
}

const UNIT_MS: Readonly<Record<string, number>> = { '': 1000, ms: 1, s: 1000, m: 60_000, h: 3_600_000 }

/** A length of time in milliseconds: `500ms`, `30s`, `5m`, `1h`, or seconds without a unit. */
export function lengthOfTime(option: string, text: string): number {
  const [, amount = '', unit = ''] = /^(\d+(?:\.\d+)?)(ms|s|m|h)?$/.exec(text.trim()) ?? []
  const ms = Number(amount || Number.NaN) * (UNIT_MS[unit] ?? Number.NaN)
  // A timer cannot be set for longer.
  if (!(ms > 0 && ms < 2 ** 31))
    throw new UsageError(`${option} must be a length of time like 500ms, 30s or 5m, not "${text}"`)
  return ms
}
