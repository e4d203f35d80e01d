/** Where a mirror partition ends when it stops; recorded by stop-mirror and by the decision of a promote. */
import type { Clock } from '../../core/clock.ts'
import type { PartitionReport } from '../peer-ports.ts'
import type { Destination, MirrorLog } from '../ports.ts'
import type { DesiredState } from '../replay/desired-state.ts'
import type { MirrorRecord, StopPointRecord } from '../state-records/mirror-record.ts'
import { rangesBelow } from './epoch-ledger.ts'
import { resumeOffset } from './partition-pipeline.ts'

/** Producer ids that are listed per partition. */
const overlapsMax = 20

/** What a stop at this moment would record for one partition. */
export function stopPointOf(
  {
    desired,
    destination,
    clock,
  }: {
    readonly desired: DesiredState
    readonly destination: Pick<Destination, 'producerIdEnd'>
    readonly clock: Clock
  },
  record: MirrorRecord,
  of: {
    readonly partition: number
    readonly log: MirrorLog
    /** What its leader knows of the source; undefined = nobody knows. */
    readonly report: PartitionReport | undefined
  },
): StopPointRecord {
  const { partition, log, report } = of
  const end = resumeOffset(log, record.startOffsets[partition] ?? 0)
  // A restore that is given up may not have cut everywhere: what it wanted to cut did not come from the source.
  const stopOffset = Math.min(end, record.restore?.cuts[partition]?.offset ?? end)
  const ranges = desired.epochRanges(record.topicId, partition, record.sourceClusterId)
  return {
    partition,
    stopOffset,
    lastSourceEpoch: rangesBelow(ranges, stopOffset).at(-1)?.epoch,
    timeMs: clock.nowMs(),
    lastSourceFetchOffset: report?.lastSourceFetchOffset ?? -1,
    lag:
      typeof report?.sourceHighWatermark === 'number'
        ? Math.max(0, report.sourceHighWatermark - stopOffset)
        : undefined,
    openTransactions: log.openTransactions().length,
    overlappingProducerIds: log
      .producerIds()
      .filter(producerId => producerId < destination.producerIdEnd)
      .slice(0, overlapsMax),
    ofSource: false,
  }
}
