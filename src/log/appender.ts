/** Puts whole batches behind the log end; PartitionLog calls it, one append at a time. */

import { BatchCursor } from '../protocol/batches/batch-cursor.ts'
import { type BatchHeader, isControl, readBatchHeader } from '../protocol/batches/batch-header.ts'
import { stampBaseOffset, stampLeaderEpoch } from '../protocol/batches/batch-layout.ts'
import { decodeControlRecord } from '../protocol/batches/control-batch.ts'
import type { LogContents } from './log-contents.ts'
import { LogError } from './log-error.ts'
import { checkProducer, follows, type ProducerVerdict, sequenceRefusal } from './producer-check.ts'
import { RELATIVE_OFFSET_MAX } from './segment.ts'

/** Where appended batches lie. */
export interface Appended {
  readonly kind: 'appended'
  /** Offset of the first batch; the log end for an empty append. */
  readonly baseOffset: number
  readonly lastOffset: number
  readonly batches: number
}

/** What became of an append whose producer was checked. */
export type AppendResult = Appended | Exclude<ProducerVerdict, { kind: 'ok' }>

/** Who appends, as in Kafka: clients are held to their sequences, coordinators to epochs, replication to nothing. */
export type AppendOrigin = 'client' | 'coordinator' | 'replication'

/** Assigns offsets from the log end on and stamps the epoch, in place; nothing is changed or written if a batch is refused. */
export async function appendAsLeader(
  contents: LogContents,
  batches: Buffer,
  options: { leaderEpoch: number; origin: AppendOrigin; transactionVersion?: number },
): Promise<AppendResult> {
  checkEpoch(contents, options.leaderEpoch)
  const cursor = new BatchCursor()
  const count = countBatches(contents, batches, { cursor })
  const { origin, transactionVersion = 0 } = options
  if (origin !== 'replication') {
    const verdict = checkProducers(contents, batches, { origin, transactionVersion, cursor })
    if (verdict.kind !== 'ok') return verdict
  }
  const baseOffset = contents.logEndOffset
  let next = baseOffset
  forEachBatch(batches, cursor, () => {
    const offsets = cursor.lastOffset - cursor.baseOffset + 1
    stampBaseOffset(batches, cursor.position, next)
    stampLeaderEpoch(batches, cursor.position, options.leaderEpoch)
    next += offsets
  })
  const epochSaved = noteEpoch(contents, options.leaderEpoch, baseOffset)
  if (epochSaved) await epochSaved
  await writeBatches(contents, batches, { together: true, lastOffset: next - 1, cursor })
  return { kind: 'appended', baseOffset, lastOffset: next - 1, batches: count }
}

/**
 * Keeps offsets and holes; only the epoch is stamped, in place. `expectedEndOffset` must be the log end; the first batch of an
 * empty log may start below it if it holds that offset. If the disk fails halfway, batches before may have been appended:
 * the log end tells.
 */
export async function appendMirror(
  contents: LogContents,
  batches: Buffer,
  options: {
    leaderEpoch: number
    expectedEndOffset: number
    /** Runs the write with the log restarted at the base of a first batch that starts below the log end. */
    beginInside: (baseOffset: number, write: () => Promise<void>) => Promise<void>
  },
): Promise<Appended> {
  checkEpoch(contents, options.leaderEpoch)
  const { logEndOffset } = contents
  if (logEndOffset !== options.expectedEndOffset) {
    const message = `${contents.name} ends at ${logEndOffset}, not at the expected ${options.expectedEndOffset}`
    throw new LogError('conflict', message)
  }
  const cursor = new BatchCursor()
  const { count, baseOffset, lastOffset } = checkOrder(contents, batches, cursor)
  if (count === 0) return { kind: 'appended', baseOffset: logEndOffset, lastOffset: logEndOffset - 1, batches: 0 }
  forEachBatch(batches, cursor, () => stampLeaderEpoch(batches, cursor.position, options.leaderEpoch))
  const write = async () => {
    await noteEpoch(contents, options.leaderEpoch, baseOffset)
    await writeBatches(contents, batches, { together: false, lastOffset, cursor })
  }
  await (baseOffset < logEndOffset ? options.beginInside(baseOffset, write) : write())
  return { kind: 'appended', baseOffset, lastOffset, batches: count }
}

function checkEpoch(contents: LogContents, leaderEpoch: number): void {
  const latest = contents.epochs.latest
  if (leaderEpoch < 0 || (latest && latest.epoch > leaderEpoch)) {
    const message = `${contents.name} is at leader epoch ${latest?.epoch}: an append of epoch ${leaderEpoch} is stale`
    throw new LogError('stale-epoch', message)
  }
}

/** The new epoch is durable before its first batch is in the log. Nothing to wait for is the usual case. */
function noteEpoch(contents: LogContents, leaderEpoch: number, startOffset: number): Promise<void> | undefined {
  contents.epochs.assign(leaderEpoch, startOffset)
  return contents.epochs.isSaved ? undefined : contents.epochs.save()
}

/** Calls `visit` with the cursor at each batch. One cursor serves all walks of an append: making one costs more than a walk. */
export function forEachBatch(batches: Buffer, cursor: BatchCursor, visit: () => void): void {
  for (let at = 0; at < batches.length; at += cursor.sizeBytes) {
    cursor.moveTo(batches, at)
    visit()
  }
}

/** Number of batches; throws unless the bytes are whole batches to the end. */
function countBatches(
  contents: LogContents,
  batches: Buffer,
  { cursor, check }: { cursor: BatchCursor; check?: () => void },
): number {
  let count = 0
  for (let at = 0; at < batches.length; at += cursor.sizeBytes) {
    const state = cursor.moveTo(batches, at)
    if (state !== 'whole')
      throw new LogError('corrupt', `${contents.name}: the bytes to append are no whole batch at ${at}: ${state}`)
    check?.()
    count++
  }
  return count
}

/** Number and offsets of the batches; throws unless they are whole and may follow the log end. */
export function checkOrder(
  contents: LogContents,
  batches: Buffer,
  cursor: BatchCursor,
): { count: number; baseOffset: number; lastOffset: number } {
  const { logStartOffset, logEndOffset } = contents
  const isFresh = contents.isEmpty && logStartOffset === logEndOffset
  let first = -1
  let last = -1
  const check = () => {
    const { baseOffset, lastOffset } = cursor
    const startsInside = first < 0 && isFresh && lastOffset >= logEndOffset
    const least = first < 0 ? logEndOffset : last + 1
    if (baseOffset < least && !startsInside) {
      const message = `${contents.name}: a batch from ${baseOffset} to ${lastOffset} cannot follow offset ${least - 1}`
      throw new LogError('out-of-order', message)
    }
    if (first < 0) first = baseOffset
    last = lastOffset
  }
  const count = countBatches(contents, batches, { cursor, check })
  return { count, baseOffset: first, lastOffset: last }
}

function checkProducers(
  contents: LogContents,
  batches: Buffer,
  by: { origin: 'client' | 'coordinator'; transactionVersion: number; cursor: BatchCursor },
): ProducerVerdict {
  const { cursor, origin, transactionVersion } = by
  let before: BatchHeader | undefined
  let verdict: ProducerVerdict = { kind: 'ok' }
  forEachBatch(batches, cursor, () => {
    if (verdict.kind !== 'ok' || !cursor.hasProducerId) return
    const header = readBatchHeader(batches, cursor.position)
    const sameProducer = before?.producerId === header.producerId && before.producerEpoch === header.producerEpoch
    if (before && sameProducer && origin === 'client') {
      verdict = follows(before, header) ? verdict : sequenceRefusal(header, before)
    } else {
      const marker = isControl(header) ? decodeControlRecord(batches, header) : undefined
      const coordinatorEpoch = marker && 'coordinatorEpoch' in marker ? marker.coordinatorEpoch : undefined
      const entry = contents.producers.entry(header.producerId)
      verdict = checkProducer(header, entry, { origin, transactionVersion, coordinatorEpoch })
    }
    before = header
  })
  return verdict
}

/**
 * `together`: in one write, unless the batches can never share a segment; else a segment takes what fits. `lastOffset` is that
 * of the last batch.
 */
export async function writeBatches(
  contents: LogContents,
  batches: Buffer,
  how: { together: boolean; lastOffset: number; cursor: BatchCursor },
): Promise<void> {
  const { cursor, lastOffset } = how
  let start = 0
  while (start < batches.length) {
    let end = runEnd(contents, batches, { start, lastOffset, cursor })
    const left = batches.length - start
    const splits = how.together && end < batches.length && left <= contents.config.segmentBytes
    if (end === start || splits) {
      cursor.moveTo(batches, start)
      await startSegmentFor(contents, cursor)
      end = runEnd(contents, batches, { start, lastOffset, cursor })
    }
    const isWhole = start === 0 && end === batches.length
    await writeRun(contents, isWhole ? batches : batches.subarray(start, end), cursor)
    start = end
  }
}

/** Index entries cannot express an offset 2^31 above their segment's base: a hole that large lies between two segments. */
async function startSegmentFor(contents: LogContents, { baseOffset, lastOffset }: BatchCursor): Promise<void> {
  if (lastOffset - contents.logEndOffset <= RELATIVE_OFFSET_MAX) await contents.roll()
  else await contents.rollPastHole(baseOffset)
}

/** End of the batches from `start` on that the active segment takes; `start` itself if it takes none. */
function runEnd(
  contents: LogContents,
  batches: Buffer,
  { start, lastOffset, cursor }: { start: number; lastOffset: number; cursor: BatchCursor },
): number {
  const { config, environment } = contents
  const { active } = contents.segments
  cursor.moveTo(batches, start)
  if (active.isOver(cursor, config, environment.clock.nowMs())) return start
  const allFit = active.sizeBytes + batches.length - start <= config.segmentBytes && active.covers(lastOffset)
  if (allFit) return batches.length
  let end = start
  while (end < batches.length) {
    cursor.moveTo(batches, end)
    const sizeBytes = active.sizeBytes + end - start
    // A batch larger than a segment has one of its own.
    const fits = sizeBytes === 0 || sizeBytes + cursor.sizeBytes <= config.segmentBytes
    if (!fits || !active.covers(cursor.lastOffset)) break
    end += cursor.sizeBytes
  }
  return end
}

async function writeRun(contents: LogContents, run: Buffer, cursor: BatchCursor): Promise<void> {
  const { active } = contents.segments
  const position = active.sizeBytes
  await active.write(run)
  let logEndOffset = contents.logEndOffset
  forEachBatch(run, cursor, () => {
    active.noteBatch(cursor, position + cursor.position, contents.config.indexIntervalBytes)
    const aborted = contents.producers.apply(cursor)
    if (aborted) active.indexes.transactions.append(aborted)
    logEndOffset = cursor.lastOffset + 1
  })
  contents.logEndOffset = logEndOffset
  if (active.indexes.mustSpill) await active.indexes.spill()
}
