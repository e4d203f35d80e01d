/** What the source's end of an epoch says about a mirror's log (semantics §4.2). Pure; used wherever histories are compared. */
import type { EpochEnd } from '../ports.ts'
import type { EpochRange } from '../state-records/source-epochs-record.ts'
import { endOfEpoch } from './epoch-ledger.ts'

export interface Divergence {
  /** Below it both may be equal; undefined = the answer says nothing about where they part. */
  readonly common: number | undefined
  readonly reason: string
}

/** undefined = the source continues the log. `ranges` describe what is in the log. */
export function divergenceOf(
  answer: EpochEnd & { readonly requestedEpoch: number },
  log: { readonly ranges: readonly EpochRange[]; readonly logStartOffset: number; readonly logEndOffset: number },
): Divergence | undefined {
  const { requestedEpoch, epoch, endOffset } = answer
  const { ranges, logStartOffset, logEndOffset } = log
  if (epoch < 0 || endOffset < 0)
    return {
      common: undefined,
      reason: `the source does not know epoch ${requestedEpoch}, with which the last batch came`,
    }
  const ours = epoch === requestedEpoch ? logEndOffset : (endOfEpoch(ranges, epoch, logEndOffset) ?? logStartOffset)
  const common = Math.min(ours, endOffset)
  if (common >= logEndOffset) return undefined
  const reason =
    `the source's epoch ${epoch} ends at offset ${endOffset}, the mirror has data up to ${logEndOffset}` +
    ` of epoch ${requestedEpoch}; common are the offsets below ${common}`
  return { common, reason }
}
