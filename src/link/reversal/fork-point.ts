/** A source that becomes writable again although its mirror may go on without it: where the two part is kept, for the restore that is needed later. Called by the source's walk and by failover. */
import type { EngineParts } from '../runtime/engine-parts.ts'
import type { MirrorRecord, StopPointRecord } from '../state-records/mirror-record.ts'
import { openLogs, topicOf } from './reversal-parts.ts'

/** STOPPED and writable when it resolves; stop points say up to where both have the same. The mirror learns of it when it looks. */
export async function keepAsStopped(
  parts: Pick<EngineParts, 'changes' | 'destination' | 'clock'>,
  record: MirrorRecord,
  reason: string,
): Promise<void> {
  const { changes, clock } = parts
  const id = topicOf(record)
  const logs = await openLogs(parts, record)
  const timeMs = clock.nowMs()
  const stopPoints = logs.map((log, partition): StopPointRecord => {
    const stopOffset = record.reversal?.sealedOffsets[partition] ?? log.state().logEndOffset
    const unknown = { lastSourceEpoch: undefined, lastSourceFetchOffset: -1, lag: undefined }
    const ofSource = { openTransactions: 0, overlappingProducerIds: [], ofSource: true }
    return { partition, stopOffset, timeMs, ...unknown, ...ofSource }
  })
  await changes.update(id, current => {
    const { reversal } = current
    return reversal ? { ...current, stopPoints, reversal: { ...reversal, withdrawn: true } } : current
  })
  await changes.transition(id, { event: 'failover', reason })
}
