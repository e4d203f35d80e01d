/** Where the partitions of a mirror stand: the rows that verbs answer with which move no data. */
import type { MirrorId } from '../coordination/mirror-changes.ts'
import type { AlterMirrorRow } from '../engine-api.ts'
import { partitionReportOf } from '../views/lag-view.ts'
import type { OperationContext } from './operation-context.ts'

/** What a verb did to one topic, or would do. */
export type VerbResult = Omit<AlterMirrorRow, 'mirrorTopicName' | 'errorCode' | 'errorMessage' | 'lags'>

export function mirrorPositions(context: OperationContext, id: MirrorId): VerbResult {
  const record = context.changes.current(id)
  const partitions = record.startOffsets.map((_, partition) => {
    const report = partitionReportOf(context, record, partition)
    const { logEndOffset: endOffset = null, lag = null } = report ?? {}
    return { partition, endOffset, stopOffset: null, lastKnownLag: lag, waitingFor: null }
  })
  return { partitions, openTransactions: 0 }
}
