/** DeleteRecords of one partition: raises the log start as a client asks; the handler calls it. */
import { ErrorCode } from '../protocol/errors.ts'
import type { Partition } from './partition.ts'
import { PartitionUnavailable } from './partition-unavailable.ts'
import type { WriteRefusal } from './write-gate.ts'

/** "Everything up to the high watermark." */
const HIGH_WATERMARK = -1

/**
 * Deletes everything below `offset` (-1 = the high watermark); resolves to the log start, which is above `offset` if that was
 * reached before. Throws PartitionUnavailable with the code to answer.
 */
export function deleteRecordsBefore(
  partition: Partition,
  offset: number,
  refusal: () => WriteRefusal | undefined,
): Promise<number> {
  return partition.writes.run(async () => {
    partition.assertAvailable()
    const refused = refusal()
    if (refused) throw new PartitionUnavailable(refused.errorCode, refused.message)
    if (!partition.settings.deletes)
      throw new PartitionUnavailable(
        ErrorCode.POLICY_VIOLATION,
        `the cleanup policy of ${partition.topic} keeps records`,
      )
    const target = offset === HIGH_WATERMARK ? partition.highWatermark : offset
    if (target < 0 || target > partition.highWatermark)
      throw new PartitionUnavailable(
        ErrorCode.OFFSET_OUT_OF_RANGE,
        `${partition.name}: ${target} is not between 0 and the high watermark ${partition.highWatermark}`,
      )
    if (target > partition.log.logStartOffset) {
      await partition.log.raiseLogStartOffset(target)
      partition.logStartMoved()
    }
    return partition.log.logStartOffset
  })
}
