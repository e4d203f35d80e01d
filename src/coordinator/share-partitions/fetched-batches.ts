/** What fetched batches are to a share group: records to be given to members, or offsets with nothing for anybody. SharePartition asks before it acquires. */
import { type BatchHeader, isControl, isTransactional } from '../../protocol/batches/batch-header.ts'
import { batchesIn } from '../../protocol/batches/batch-iteration.ts'
import { decodeControlRecord } from '../../protocol/batches/control-batch.ts'

export interface AbortedTransaction {
  readonly producerId: bigint
  readonly firstOffset: number
}

/** A batch with records for members. Offsets are both inclusive. */
export interface FetchedBatch {
  readonly firstOffset: number
  readonly lastOffset: number
  /** Where its bytes are. */
  readonly position: number
  readonly endPosition: number
}

/** Offsets that hold nothing for members: holes, markers, aborted records. */
export interface EmptyRange {
  readonly firstOffset: number
  readonly lastOffset: number
}

export interface FetchedRange {
  readonly batches: readonly FetchedBatch[]
  readonly empty: readonly EmptyRange[]
  /** Behind the last batch. */
  readonly endOffset: number
}

/**
 * Sorts what a read from `fetchOffset` brought; the first batch may begin below it.
 * @param aborted transactions of the range that were aborted, for read_committed; otherwise none
 */
export function sortBatches(
  records: Buffer,
  fetchOffset: number,
  aborted: readonly AbortedTransaction[],
): FetchedRange {
  const batches: FetchedBatch[] = []
  const empty: EmptyRange[] = []
  const transactions = new AbortedTransactions(aborted)
  let endOffset = fetchOffset
  for (const header of batchesIn(records)) {
    const firstOffset = Math.max(header.baseOffset, fetchOffset)
    if (firstOffset > endOffset) empty.push({ firstOffset: endOffset, lastOffset: firstOffset - 1 })
    const { position, sizeBytes, lastOffset } = header
    const isEmpty = transactions.covers(records, header) || isControl(header) || header.recordCount === 0
    if (lastOffset >= firstOffset)
      if (isEmpty) empty.push({ firstOffset, lastOffset })
      else batches.push({ firstOffset, lastOffset, position, endPosition: position + sizeBytes })
    endOffset = Math.max(endOffset, lastOffset + 1)
  }
  return { batches, empty, endOffset }
}

/** Which batches belong to aborted transactions, asked in the order of the log. */
class AbortedTransactions {
  readonly #coming: AbortedTransaction[]
  readonly #open = new Set<bigint>()

  constructor(aborted: readonly AbortedTransaction[]) {
    this.#coming = [...aborted].sort((a, b) => a.firstOffset - b.firstOffset)
  }

  covers(records: Buffer, header: BatchHeader): boolean {
    for (let next = this.#coming[0]; next && next.firstOffset <= header.lastOffset; next = this.#coming[0]) {
      this.#open.add(next.producerId)
      this.#coming.shift()
    }
    if (!this.#open.has(header.producerId)) return false
    if (!isControl(header)) return isTransactional(header)
    if (decodeControlRecord(records, header)?.type === 'abort') this.#open.delete(header.producerId)
    return true
  }
}
