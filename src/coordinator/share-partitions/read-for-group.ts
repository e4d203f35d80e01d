/** Reads the log for a share group and says what there is for members; SharePartition calls it. */
import { ErrorCode } from '../../protocol/errors.ts'
import type { AnswerMemory } from '../../replica/answer-memory.ts'
import type { Partition } from '../../replica/partition.ts'
import { CoordinatorError } from '../runtime/coordinator-error.ts'
import { type FetchedRange, sortBatches } from './fetched-batches.ts'

export interface ShareRead {
  readonly fetchOffset: number
  readonly records: Buffer
  readonly range: FetchedRange
}

/**
 * Whole batches from `fetchOffset` on, at least one. Resolves to undefined if there are none, or no memory for them; the log start
 * may have passed the offset meanwhile. Rejects with CoordinatorError KAFKA_STORAGE_ERROR.
 */
export async function readForGroup(
  partition: Partition,
  query: {
    readonly fetchOffset: number
    readonly isolation: 'read_uncommitted' | 'read_committed'
    readonly bytesMax: number
    readonly memory: AnswerMemory
  },
): Promise<ShareRead | undefined> {
  const { fetchOffset, memory } = query
  const withAborted = query.isolation === 'read_committed'
  const maxOffset = withAborted ? partition.lastStableOffset : partition.highWatermark
  const maxBytes = Math.max(0, query.bytesMax)
  const settle = await memory.reserve(Math.min(maxBytes, partition.log.sizeBytes))
  if (!settle) return undefined
  let readBytes = 0
  try {
    const { allocate } = memory
    const range = { offset: fetchOffset, maxOffset, maxBytes, minOneBatch: true }
    const found = await partition.log.read({ ...range, withAborted, allocate })
    if (found.kind !== 'batches' || found.records.length === 0) return undefined
    readBytes = found.records.length
    return { fetchOffset, records: found.records, range: sortBatches(found.records, fetchOffset, found.aborted ?? []) }
  } catch (error) {
    partition.assertAvailable()
    throw new CoordinatorError(ErrorCode.KAFKA_STORAGE_ERROR, error instanceof Error ? error.message : String(error))
  } finally {
    settle(readBytes)
  }
}
