/** Which segments age and size condemn, by Kafka's rules; LogWriter removes them when the node's timer says so. */
import type { RetentionLimits } from '../core/retention-limits.ts'
import type { LogContents } from './log-contents.ts'
import type { Segment } from './segment.ts'

export interface RetentionRules {
  /** The time by which segments are judged; undefined: only size condemns. */
  readonly nowMs: number | undefined
  /** In place of those of the log. */
  readonly limits?: RetentionLimits | undefined
}

/**
 * Where the log would start without the segments at its front that are too old or too much; undefined if none is. None goes that
 * reaches above the high watermark; if the last one goes too, a new one takes its place now. Only if the policy contains delete.
 */
export async function retentionStart(
  contents: LogContents,
  highWatermark: number,
  rules: RetentionRules,
): Promise<number | undefined> {
  const { segments } = contents
  const { length: count } = await condemned(contents, highWatermark, rules)
  if (count === 0) return undefined
  if (count === segments.all.length) await contents.roll()
  return segments.all[count]?.baseOffset
}

/** How many bytes that would take away. Changes nothing. */
export async function condemnedBytes(
  contents: LogContents,
  highWatermark: number,
  rules: RetentionRules,
): Promise<number> {
  const segments = await condemned(contents, highWatermark, rules)
  return segments.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)
}

async function condemned(
  contents: LogContents,
  highWatermark: number,
  { nowMs, limits }: RetentionRules,
): Promise<readonly Segment[]> {
  const { config } = contents
  if (!config.deletes) return []
  const { retentionMs, retentionBytes } = limits ?? config
  const candidates = deletable(contents, highWatermark)
  const excessBytes = retentionBytes < 0 ? 0 : contents.segments.sizeBytes - retentionBytes
  return candidates.slice(
    0,
    Math.max(await tooOld(candidates, { retentionMs, nowMs }), tooMuch(candidates, excessBytes)),
  )
}

/** The segments at the front that end at or below the high watermark; an empty last one stays. */
function deletable({ segments, logEndOffset }: LogContents, highWatermark: number): readonly Segment[] {
  const end = segments.all.findIndex((segment, index) => {
    const next = segments.all[index + 1]
    return (next?.baseOffset ?? logEndOffset) > highWatermark || (!next && segment.sizeBytes === 0)
  })
  return end < 0 ? segments.all : segments.all.slice(0, end)
}

/** How many of them `retention.ms` condemns: each is judged by its largest timestamp, up to the first that stays. */
async function tooOld(
  candidates: readonly Segment[],
  { retentionMs, nowMs }: { readonly retentionMs: number; readonly nowMs: number | undefined },
): Promise<number> {
  if (retentionMs < 0 || nowMs === undefined) return 0
  for (const [index, segment] of candidates.entries()) {
    const { timestamp } = await segment.largestTimestamp()
    const ageMs = nowMs - (timestamp < 0n ? segment.createdMs : Number(timestamp))
    if (ageMs <= retentionMs) return index
  }
  return candidates.length
}

/** How many of them can go so that at least `retention.bytes` stay, of which the log has so many more. */
function tooMuch(candidates: readonly Segment[], excessBytes: number): number {
  if (excessBytes <= 0) return 0
  let excess = excessBytes
  for (const [index, { sizeBytes }] of candidates.entries()) {
    excess -= sizeBytes
    if (excess < 0) return index
  }
  return candidates.length
}
