/** What others appended to a mirror's log while they led it: found by the leader epochs in which it was mirrored. Asked when this node has come to lead again. */
import { isControl } from '../../protocol/batches/batch-header.ts'
import { batchesIn } from '../../protocol/batches/batch-iteration.ts'

/** The part of PartitionLog that is looked at. */
export interface TailedLog {
  readonly logStartOffset: number
  readonly logEndOffset: number
  epochAt(offset: number): number | undefined
  endOffsetForEpoch(epoch: number): { readonly epoch: number; readonly endOffset: number }
  read(range: {
    readonly offset: number
    readonly maxBytes: number
    readonly maxOffset: number
    readonly minOneBatch: boolean
  }): Promise<{ readonly kind: 'batches'; readonly records: Buffer } | { readonly kind: string }>
}

/** From `start` to the log's end nothing came from the source. */
export interface ForeignTail {
  readonly start: number
  /** Ends of transactions, which are no records. */
  readonly markers: number
  /** Where the first record is that somebody wrote; undefined = there are markers only. */
  readonly firstRecord: number | undefined
}

const READ_BYTES = 1 << 20

/** Undefined = the log ends with what was mirrored. Reads no further than to the first record of others. */
export async function foreignTail(log: TailedLog, ledEpochs: ReadonlySet<number>): Promise<ForeignTail | undefined> {
  const start = startOfTail(log, ledEpochs)
  if (start >= log.logEndOffset) return undefined
  let markers = 0
  let offset = start
  while (offset < log.logEndOffset) {
    const read = await log.read({ offset, maxBytes: READ_BYTES, maxOffset: log.logEndOffset, minOneBatch: true })
    if (!('records' in read) || read.records.length === 0) break
    for (const header of batchesIn(read.records)) {
      // A batch that begins below was mirrored.
      if (header.baseOffset >= start) {
        if (!isControl(header)) return { start, markers, firstRecord: header.baseOffset }
        markers++
      }
      offset = header.lastOffset + 1
    }
  }
  return markers > 0 ? { start, markers, firstRecord: undefined } : undefined
}

/** Goes back epoch by epoch. */
function startOfTail(log: TailedLog, ledEpochs: ReadonlySet<number>): number {
  let start = log.logEndOffset
  while (start > log.logStartOffset) {
    const epoch = log.epochAt(start - 1)
    if (epoch === undefined || ledEpochs.has(epoch)) return start
    // The epoch begins where everything below it ends.
    const begin = epoch === 0 ? log.logStartOffset : log.endOffsetForEpoch(epoch - 1).endOffset
    start = Math.max(log.logStartOffset, begin < start ? begin : log.logStartOffset)
  }
  return start
}
