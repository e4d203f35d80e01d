/** Regular expressions of subscriptions (RE2, KIP-848): what is valid, and which topics match; heartbeats of consumer groups call it. */
import { RE2JS } from 're2js'
import type { MetadataImage } from '../../metadata/metadata-image.ts'
import { ErrorCode } from '../../protocol/errors.ts'
import { CoordinatorError } from '../runtime/coordinator-error.ts'
import type { ResolvedRegex } from './consumer-group.ts'

/** Throws CoordinatorError INVALID_REGULAR_EXPRESSION. */
export function compileTopicRegex(regex: string): RE2JS {
  try {
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
