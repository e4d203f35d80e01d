/** Questions to a log about single batches and transactions; PartitionLog passes them on. */
import { at } from '../protocol/batches/batch-layout.ts'
import type { LogContents } from './log-contents.ts'
import { scanBatches } from './segment-scan.ts'
import type { AbortedTransaction } from './transaction-index.ts'

/** What identifies a batch across clusters. */
export interface BatchPlace {
  readonly baseOffset: number
  readonly lastOffset: number
  readonly crc: number
}

/** The newest batch, undefined if the log holds none. */
export async function lastBatch(contents: LogContents): Promise<BatchPlace | undefined> {
  for (const segment of contents.segments.all.toReversed()) {
    if (segment.sizeBytes === 0) continue
    const from = (await segment.indexes.offsets.last())?.position ?? 0
    let found: BatchPlace | undefined
    await scanBatches(segment.file, { from, to: segment.sizeBytes, need: 'headers' }, cursor => {
      const { baseOffset, lastOffset, buffer, position } = cursor
      found = { baseOffset, lastOffset, crc: buffer.readUInt32BE(position + at.crc) }
      return 'continue'
    })
    return found
  }
  return undefined
}

/** Aborted transactions with records in [from, to), in the order of their markers. */
export async function abortedTransactions(
  contents: LogContents,
  from: number,
  to: number,
): Promise<AbortedTransaction[]> {
  const aborted: AbortedTransaction[] = []
  for (const segment of contents.segments.all.slice(contents.segments.indexFor(from))) {
    const { found, complete } = await segment.indexes.transactions.overlapping(from, to)
    aborted.push(...found)
    if (complete) break
  }
  return aborted
}
