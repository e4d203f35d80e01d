/** A source that becomes writable again although its mirror may go on without it: where the two part is kept, for the restore that is needed later. Called by the source's walk and by failover. */
import { mapBounded } from '../coordination/bounded.ts'
import type { EngineParts } from '../runtime/engine-parts.ts'
import type { MirrorRecord, StopPointRecord } from '../state-records/mirror-record.ts'
import { decideToGiveBack } from './return-source.ts'
import { parallel, topicOf } from './reversal-parts.ts'

/**
 * STOPPED and writable when it resolves, or, where others lead it, on its way to that: `finishGivingBack` goes on. Stop points say up to
 * where both have the same. The mirror learns of it when it looks.
 */
export async function keepAsStopped(
  parts: Pick<EngineParts, 'changes' | 'destination' | 'clock'>,
  record: MirrorRecord,
  reason: string,
): Promise<void> {
  const { changes, clock, destination } = parts
  const id = topicOf(record)
  const logs = await mapBounded([...record.startOffsets.keys()], parallel, partition =>
    destination.openEndingLog(record.topicId, partition),
  )
  const timeMs = clock.nowMs()
  const stopPoints = logs.map((log, partition): StopPointRecord => {
    const stopOffset = record.reversal?.sealedOffsets[partition] ?? log.state().logEndOffset
    const unknown = { lastSourceEpoch: undefined, lastSourceFetchOffset: -1, lag: undefined }
    const ofSource = { openTransactions: 0, overlappingProducerIds: [], ofSource: true }
    return { partition, stopOffset, timeMs, ...unknown, ...ofSource }
  })
  if (destination.fence.hasOtherLeaders) return void (await decideToGiveBack(parts, record, { reason, stopPoints }))
  await changes.update(id, current => {
    const { reversal } = current
    return reversal ? { ...current, stopPoints, reversal: { ...reversal, withdrawn: true } } : current
  })
  await changes.transition(id, { event: 'failover', reason })
}
