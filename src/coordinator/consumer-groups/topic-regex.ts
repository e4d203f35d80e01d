/** Regular expressions of subscriptions (RE2, KIP-848): what is valid, and which topics match; heartbeats of consumer groups call it. */
import { RE2JS } from 're2js'
import type { MetadataImage } from '../../metadata/metadata-image.ts'
import { ErrorCode } from '../../protocol/errors.ts'
import { CoordinatorError } from '../runtime/coordinator-error.ts'
import type { ResolvedRegex } from './consumer-group.ts'

/** Steps that an expression may have when it is compiled, about; each takes a kilobyte, and this node has one thread. */
const STEPS_MAX = 250_000
/** What RE2 lets a part be repeated, all counts around it together. */
const REPETITIONS_MAX = 1000

/** At most as many steps as this: its length, times all its repetitions. */
function stepsOf(regex: string): number {
  let repetitions = 1
  for (const [, least, most] of regex.matchAll(/\{(\d+)(?:,(\d*))?\}/g))
    repetitions = Math.min(REPETITIONS_MAX, repetitions * Math.max(1, Number(least), Number(most ?? 0)))
  return regex.length * repetitions
}

/** Throws CoordinatorError INVALID_REGULAR_EXPRESSION. */
export function compileTopicRegex(regex: string): RE2JS {
  try {
    if (stepsOf(regex) > STEPS_MAX) throw new Error('it is too large')
    return RE2JS.compile(regex)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new CoordinatorError(
      ErrorCode.INVALID_REGULAR_EXPRESSION,
      `SubscribedTopicRegex \`${regex}\` is not a valid regular expression: ${reason}.`,
    )
  }
}

/** Topics whose whole name matches and that the client may describe. Linear in their names. Throws CoordinatorError. */
export function resolveTopicRegex(
  regex: string,
  image: MetadataImage,
  { describable, nowMs }: { describable: (names: readonly string[]) => ReadonlySet<string>; nowMs: number },
): ResolvedRegex {
  const pattern = compileTopicRegex(regex)
  const matching = [...image.topicIds.keys()].filter(name => pattern.matches(name))
  const allowed = describable(matching)
  return {
    topics: matching.filter(name => allowed.has(name)).sort(),
    version: BigInt(image.offset),
    timestampMs: nowMs,
  }
}
