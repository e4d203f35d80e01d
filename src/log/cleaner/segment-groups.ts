/** Which neighbouring segments are cleaned into one, so that segments do not get ever smaller; the cleaning of a log asks. */
import { RELATIVE_OFFSET_MAX } from '../segment.ts'

/** A segment as cleaning sees it; sizes in bytes. */
export interface SegmentSizes {
  readonly baseOffset: number
  readonly sizeBytes: number
  readonly offsetIndexBytes: number
  readonly timeIndexBytes: number
}

export interface GroupLimits {
  /** `segment.bytes` */
  readonly segmentBytes: number
  /** `segment.index.bytes` */
  readonly segmentIndexBytes: number
  /** What lies there, or above, is not cleaned: it bounds the offsets of the last segment. */
  readonly firstUncleanableOffset: number
}

/** Groups of neighbours whose sums stay within the limits; a segment that is too large by itself is alone. */
export function groupSegments<S extends SegmentSizes>(segments: readonly S[], limits: GroupLimits): S[][] {
  const groups: S[][] = []
  for (const [index, segment] of segments.entries()) {
    const group = groups.at(-1)
    const endOffset = segments[index + 1]?.baseOffset ?? limits.firstUncleanableOffset
    if (group && fits(group, segment, { ...limits, endOffset })) group.push(segment)
    else groups.push([segment])
  }
  return groups
}

function fits(
  group: readonly SegmentSizes[],
  next: SegmentSizes,
  limits: GroupLimits & { readonly endOffset: number },
): boolean {
  const sum = (of: (segment: SegmentSizes) => number) => group.reduce((total, segment) => total + of(segment), of(next))
  const base = group[0]?.baseOffset ?? next.baseOffset
  return (
    sum(({ sizeBytes }) => sizeBytes) <= limits.segmentBytes &&
    sum(({ offsetIndexBytes }) => offsetIndexBytes) <= limits.segmentIndexBytes &&
    sum(({ timeIndexBytes }) => timeIndexBytes) <= limits.segmentIndexBytes &&
    // Index entries hold offsets relative to the base; an empty segment has none.
    (next.sizeBytes === 0 || limits.endOffset - 1 - base <= RELATIVE_OFFSET_MAX)
  )
}
