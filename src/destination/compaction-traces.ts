/** Was a log compacted? Told by what is missing in it, where nobody can be asked who did it. Used by the logs of a joined cluster. */
import { batchesIn } from '../protocol/batches/batch-iteration.ts'

/** The part of a log that is looked at. */
export interface ReadLog {
  state(): { readonly logStartOffset: number; readonly logEndOffset: number }
  readBatches(range: { readonly offset: number; readonly maxBytes: number }): Promise<Buffer>
}

const READ_BYTES = 1 << 20

/** Is anything missing between its start and its end? Reads up to the first place where something is; the whole log if there is none. */
export async function isThinned(log: ReadLog): Promise<boolean> {
  const { logStartOffset, logEndOffset } = log.state()
  let next = logStartOffset
  while (next < logEndOffset) {
    const from = next
    for (const { baseOffset, lastOffset, lastOffsetDelta, recordCount } of batchesIn(
      await log.readBatches({ offset: next, maxBytes: READ_BYTES }),
    )) {
      if (lastOffset < next) continue
      if (baseOffset > next || recordCount <= lastOffsetDelta) return true
      next = lastOffset + 1
    }
    if (next === from) return true
  }
  return false
}
