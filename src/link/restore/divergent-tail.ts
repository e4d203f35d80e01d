/** What a restore cuts off one partition: counted when it is decided, exported before it goes. Called by plan-restore and cut-tails. */
import { isControl } from '../../protocol/batches/batch-header.ts'
import { batchesIn, completeBytes } from '../../protocol/batches/batch-iteration.ts'
import type { MirrorLog } from '../ports.ts'

/** Read at a time. */
const readBytes = 1024 * 1024

/** Whole batches from `offset` up to the log's end. */
export async function* tailFrom(log: MirrorLog, offset: number): AsyncGenerator<Buffer> {
  for (let next = offset; next < log.state().logEndOffset; ) {
    const bytes = await log.readBatches({ offset: next, maxBytes: readBytes })
    const whole = bytes.subarray(0, completeBytes(bytes))
    const batches = [...batchesIn(whole)].filter(({ lastOffset }) => lastOffset >= next)
    const [first, last] = [batches[0], batches.at(-1)]
    if (!first || !last) return
    yield whole.subarray(first.position, last.position + last.sizeBytes)
    next = last.lastOffset + 1
  }
}

/** Records of clients; markers of transactions are none. */
export async function countRecords(log: MirrorLog, offset: number): Promise<number> {
  let records = 0
  for await (const bytes of tailFrom(log, offset))
    for (const batch of batchesIn(bytes)) if (!isControl(batch)) records += batch.recordCount
  return records
}
