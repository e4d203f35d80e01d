/** Cuts of a log as whole operations: what will be left is announced before, so that a crash on the way is seen through; PartitionLog calls them. */
import type { LogContents } from './log-contents.ts'
import type { LogWriter } from './log-writer.ts'
import { extendTo, startFullyAt, truncateTo, truncationPoint } from './truncation.ts'

/** The log and what runs its changes. */
export interface WritableLog {
  readonly contents: LogContents
  readonly writer: LogWriter
}

/** Drops everything from `offset` on, durably. The end becomes `offset`, or the base of the batch that held it. */
export async function cutTo({ contents, writer }: WritableLog, offset: number): Promise<void> {
  const { logStartOffset } = contents
  if (offset >= contents.logEndOffset) return truncateTo(contents, offset)
  const end = await truncationPoint(contents, offset)
  // Nothing readable is left: a batch that holds the log start goes as a whole.
  if (end <= logStartOffset) return beginAt({ contents, writer }, Math.min(offset, logStartOffset))
  await writer.cut({ logStartOffset, logEndOffset: end }, () => truncateTo(contents, end))
}

/** Drops everything and begins at `offset`. */
export const beginAt = ({ contents, writer }: WritableLog, offset: number): Promise<void> =>
  writer.cut({ logStartOffset: offset, logEndOffset: offset }, () => startFullyAt(contents, offset))

/** Moves the log end forward, leaving a hole; a log without batches begins there instead. Does nothing below the end. */
export async function growTo({ contents, writer }: WritableLog, offset: number): Promise<void> {
  if (offset <= contents.logEndOffset) return
  if (contents.isEmpty) await beginAt({ contents, writer }, offset)
  else await writer.alone(() => extendTo(contents, offset))
}
