/** Puts batches of another replica behind the log end as they are, leader epochs included; PartitionLog calls it for a follower, one append at a time. */
import { BatchCursor } from '../protocol/batches/batch-cursor.ts'
import { type Appended, checkOrder, forEachBatch, writeBatches } from './appender.ts'
import type { LogContents } from './log-contents.ts'
import { LogError } from './log-error.ts'

export interface FollowerAppend {
  /** Must be the log end. */
  readonly expectedEndOffset: number
  /** The epoch in which the batches were fetched: what claims to be of a later one is left out, with all that follows. */
  readonly leaderEpoch: number
}

/** Nothing is checked of producers, nothing restamped. Rejects with LogError 'conflict', 'out-of-order' or 'corrupt' (no whole batches). */
export async function appendAsFollower(
  contents: LogContents,
  batches: Buffer,
  options: FollowerAppend & {
    /** Runs the write with the log restarted at the base of a first batch that starts below the log end. */
    readonly beginInside: (baseOffset: number, write: () => Promise<void>) => Promise<void>
  },
): Promise<Appended> {
  const { logEndOffset } = contents
  if (logEndOffset !== options.expectedEndOffset) {
    const message = `${contents.name} ends at ${logEndOffset}, not at the expected ${options.expectedEndOffset}`
    throw new LogError('conflict', message)
  }
  const cursor = new BatchCursor()
  const present = batches.subarray(0, bytesUpToEpoch(batches, options.leaderEpoch, cursor))
  const { count, baseOffset, lastOffset } = checkOrder(contents, present, cursor)
  if (count === 0) return { kind: 'appended', baseOffset: logEndOffset, lastOffset: logEndOffset - 1, batches: 0 }
  const write = async () => {
    // Durable before the first batch of a new epoch is in the log.
    noteEpochs(contents, present, cursor)
    await contents.epochs.save()
    await writeBatches(contents, present, { together: false, lastOffset, cursor })
  }
  await (baseOffset < logEndOffset ? options.beginInside(baseOffset, write) : write())
  return { kind: 'appended', baseOffset, lastOffset, batches: count }
}

/** KAFKA-18723: such batches come from an answer that was made in another epoch than the one it was asked in. */
function bytesUpToEpoch(batches: Buffer, leaderEpoch: number, cursor: BatchCursor): number {
  let at = 0
  while (at < batches.length) {
    if (cursor.moveTo(batches, at) === 'whole') {
      if (cursor.leaderEpoch > leaderEpoch) return at
      at += cursor.sizeBytes
    } else return batches.length
  }
  return at
}

function noteEpochs({ epochs }: LogContents, batches: Buffer, cursor: BatchCursor): void {
  let known = epochs.latest?.epoch ?? -1
  forEachBatch(batches, cursor, () => {
    const { leaderEpoch, baseOffset } = cursor
    if (leaderEpoch < 0 || leaderEpoch === known) return
    epochs.assign(leaderEpoch, baseOffset)
    known = leaderEpoch
  })
}
