/** Reads a stretch of a segment file batch by batch in bounded memory; recovery, replay, lookups and time searches use it. */
import { BatchCursor } from '../protocol/batches/batch-cursor.ts'
import type { LogFile } from './file-system.ts'

/** What to read. */
export interface ScanRange {
  /** Position of a batch. */
  readonly from: number
  /** End of the bytes that count. */
  readonly to: number
  /**
   * `whole`: the visitor gets all bytes of every batch; `headers`: only headers are certain to be there, and all bytes of
   * control batches, so that large batches are skipped rather than read.
   */
  readonly need: 'whole' | 'headers'
  /** Bytes per read; default 256 KiB. */
  readonly chunkBytes?: number
}

/** Why a scan ended, and the position of the batch that was not taken (or the end). */
export interface ScanEnd {
  readonly reason: 'end' | 'stopped' | 'invalid'
  readonly position: number
}

const CHUNK_BYTES = 256 * 1024

/**
 * Calls `visit` with a cursor and the batch's position in the file, until it answers `stop` (that batch counts as not taken)
 * or `invalid`, or bytes come that are no batch. The cursor and its buffer are valid during the call only.
 */
export async function scanBatches(
  file: LogFile,
  range: ScanRange,
  visit: (cursor: BatchCursor, position: number) => 'continue' | 'stop' | 'invalid',
): Promise<ScanEnd> {
  const cursor = new BatchCursor()
  let chunk = Buffer.allocUnsafe(Math.min(range.chunkBytes ?? CHUNK_BYTES, Math.max(range.to - range.from, 0)))
  let position = range.from
  while (position < range.to) {
    const count = await file.read(chunk.subarray(0, Math.min(chunk.length, range.to - position)), position)
    const bytes = chunk.subarray(0, count)
    let at = 0
    for (;;) {
      const state = at > bytes.length ? 'short' : cursor.moveTo(bytes, at)
      if (state === 'invalid') return { reason: 'invalid', position: position + at }
      if (state === 'short') break
      if (position + at + cursor.sizeBytes > range.to) return { reason: 'invalid', position: position + at }
      if (state === 'partial' && (range.need === 'whole' || cursor.isControl)) break
      const answer = visit(cursor, position + at)
      if (answer !== 'continue') return { reason: answer === 'stop' ? 'stopped' : 'invalid', position: position + at }
      at += cursor.sizeBytes
    }
    if (at === 0) {
      // A batch larger than the chunk, or a rest too short for a header.
      if (count < chunk.length || chunk.length >= range.to - position) return { reason: 'invalid', position }
      chunk = Buffer.allocUnsafe(Math.min(Math.max(cursor.sizeBytes, chunk.length * 2), range.to - position))
    }
    position += at
  }
  return { reason: 'end', position }
}
