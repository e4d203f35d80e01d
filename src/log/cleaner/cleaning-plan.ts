/** What one pass over one log is to do, as plain data: made from the open log, carried out by a CleaningRun, which touches only files. */
import type { AbortedTransaction } from '../transaction-index.ts'
import type { LastRecord } from './clean-batch.ts'
import type { SegmentSizes } from './segment-groups.ts'

export interface CleaningPlan {
  readonly directory: string
  /** All segments below `firstUncleanableOffset`, which is the base of the next one; closed and durable. */
  readonly segments: readonly SegmentSizes[]
  /** Below it the last pass has been. */
  readonly firstDirtyOffset: number
  /** Position in the segment that holds it from which the offset may be looked for. */
  readonly firstDirtyPosition: number
  readonly firstUncleanableOffset: number
  /** All with a marker below `firstUncleanableOffset`. */
  readonly aborted: readonly AbortedTransaction[]
  readonly lastRecords: ReadonlyMap<bigint, LastRecord>
  readonly segmentBytes: number
  readonly segmentIndexBytes: number
  readonly indexIntervalBytes: number
  readonly deleteRetentionMs: number
  readonly nowMs: number
}

/** The memory that one pass may take, in bytes. */
export interface CleaningMemory {
  /** Of the offset map: `log.cleaner.dedupe.buffer.size` per thread. */
  readonly mapBytes: number
  /** How full the map may get, 0 to 1: `log.cleaner.io.buffer.load.factor`. */
  readonly mapLoadFactor: number
  /** Read at a time: half of `log.cleaner.io.buffer.size` per thread. */
  readonly chunkBytes: number
}

/** What a pass counted. */
export interface CleaningCounts {
  bytesRead: number
  bytesWritten: number
  recordsRead: number
  recordsKept: number
  /** Records without a key, removed. */
  invalidRecords: number
}

/** The log has changed under a pass, or nobody wants it any more: nothing was changed by it, a later pass begins anew. */
export class CleaningAborted extends Error {
  constructor(reason: string) {
    super(`cleaning was given up: ${reason}`)
    this.name = 'CleaningAborted'
  }
}
