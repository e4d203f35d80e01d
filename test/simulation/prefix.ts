/** Is what a mirror holds a prefix of a history of its source, holes kept and losses declared? Pure; the checks use it. */
import type { BatchHeader } from '../../src/protocol/batches/batch-header.ts'
import type { History, SourceBatch } from './source-log.ts'

/** Offsets that the mirror's history says were deleted at the source before they came; inclusive. */
export interface LostRange {
  readonly from: number
  readonly to: number
}

export interface MirroredLog {
  readonly logStartOffset: number
  readonly logEndOffset: number
  /** What came from the source. */
  readonly batches: readonly { readonly header: BatchHeader }[]
  readonly startOffset: number
}

/** undefined = it is; else what is wrong. */
export function prefixProblem(
  mirror: MirroredLog,
  pasts: readonly History[],
  lost: readonly LostRange[],
): string | undefined {
  const histories = pasts.map(({ batches }) => batches)
  // Positions at which each history can still be the one that the mirror follows.
  let at = histories.map(history => firstAtOrAbove(history, Math.max(mirror.logStartOffset, mirror.startOffset)))
  let next = Math.max(mirror.logStartOffset, mirror.startOffset)
  for (const { header } of mirror.batches) {
    const continued = (from: readonly number[]) =>
      from.map((position, index) => {
        const batch = position < 0 ? undefined : histories[index]?.[position]
        return batch && isSame(batch.header, header) ? position + 1 : -1
      })
    at = continued(at)
    const resumed = endOfLoss(lost, next)
    if (at.every(position => position < 0))
      // Where the source has deleted what the mirror ends with, nobody can know whether the history is the one of before.
      at = continued(
        histories.map((history, index) => {
          const isUnknowable = resumed > next || pasts.slice(index).some(({ deletedBelow }) => deletedBelow >= next)
          return isUnknowable ? firstAtOrAbove(history, resumed) : -1
        }),
      )
    if (at.every(position => position < 0))
      return `the batch at ${header.baseOffset} (epoch ${header.leaderEpoch}) does not continue any history of the source`
    next = header.lastOffset + 1
  }
  const reaches = (from: readonly number[]) =>
    from.some((position, index) => {
      const following = position < 0 ? undefined : histories[index]?.[position]
      return position >= 0 && (following === undefined || following.header.lastOffset >= mirror.logEndOffset)
    })
  const resumed = endOfLoss(lost, next)
  const isWhole = reaches(at) || (resumed > next && reaches(histories.map(history => firstAtOrAbove(history, resumed))))
  if (isWhole || mirror.logEndOffset <= resumed) return undefined
  return `the log ends at ${mirror.logEndOffset}, behind batches that are missing from ${next} on`
}

const isSame = (a: BatchHeader, b: BatchHeader): boolean =>
  a.baseOffset === b.baseOffset && a.crc === b.crc && a.lastOffset === b.lastOffset && a.leaderEpoch === b.leaderEpoch

/** Index of the first batch that reaches `offset` or begins above it. */
function firstAtOrAbove(history: readonly SourceBatch[], offset: number): number {
  const index = history.findIndex(batch => batch.header.lastOffset >= offset)
  return index === -1 ? history.length : index
}

/** The first offset from `from` on that was not declared as lost. */
function endOfLoss(lost: readonly LostRange[], from: number): number {
  let next = from
  for (const range of lost.toSorted((a, b) => a.from - b.from)) {
    if (range.from > next) break
    next = Math.max(next, range.to + 1)
  }
  return next
}
