/** Where the partitions of a mirror stand: the rows that verbs answer with which move no data. */
import type { MirrorId } from '../coordination/mirror-changes.ts'
import type { AlterMirrorRow } from '../engine-api.ts'
import type { OperationContext } from './operation-context.ts'

/** What a verb did to one topic, or would do. */
export type VerbResult = Omit<AlterMirrorRow, 'mirrorTopicName' | 'errorCode' | 'errorMessage' | 'lags'>

export function mirrorPositions(context: OperationContext, id: MirrorId): VerbResult {
  const { startOffsets } = context.changes.current(id)
  const figures = context.runtime(id.linkId)?.mirror(id.mirrorTopic)?.figures
  const partitions = startOffsets.map((_, partition) => {
    const endOffset = figures?.[partition]?.logState()?.logEndOffset ?? null
    const lastKnownLag = endOffset === null ? null : (figures?.[partition]?.lag.lag(endOffset) ?? null)
    return { partition, endOffset, stopOffset: null, lastKnownLag, waitingFor: null }
  })
  return { partitions, openTransactions: 0 }
}
