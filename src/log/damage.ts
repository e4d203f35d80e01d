/** Tells damage from the torn tail of a crash, for logs that made every append durable before the next one; recovery asks it. */

import { BatchCursor } from '../protocol/batches/batch-cursor.ts'
import { readBatchHeader } from '../protocol/batches/batch-header.ts'
import { at } from '../protocol/batches/batch-layout.ts'
import { verifyBatch } from '../protocol/batches/verify-batch.ts'
import { LogError } from './log-error.ts'
import type { Segment } from './segment.ts'

/** What recovery does where a batch is invalid: `cut` ends the log there; `refuse` does so only for the tail of a last append. */
export type DamagePolicy = 'cut' | 'refuse'

/** Where the valid prefix of a log ends. */
export interface InvalidTail {
  readonly segment: Segment
  readonly position: number
  readonly nextOffset: number
  readonly later: readonly Segment[]
  /** Everything below was durable; undefined after a clean stop: then everything was. */
  readonly recoveryPoint: number | undefined
}

/** How far behind the invalid bytes an intact batch is looked for. */
const SEARCH_BYTES_MAX = 16 * 1024 * 1024

/** Throws LogError 'corrupt' if more than the last append would be lost by a cut. */
export async function requireTornTail(tail: InvalidTail): Promise<void> {
  const { segment, position, nextOffset, later, recoveryPoint } = tail
  const wasDurable = recoveryPoint === undefined || nextOffset < recoveryPoint
  const more = later.some(({ sizeBytes }) => sizeBytes > 0)
  if (!wasDurable && !more && !(await holdsIntactBatch(segment, position, nextOffset))) return
  throw new LogError(
    'corrupt',
    `${segment.file.path} is damaged at byte ${position} (offset ${nextOffset}), before data that was durable. Nothing was cut: ` +
      'restore the directory from a copy, or give up what follows by cutting the file there and removing later segments',
  )
}

async function holdsIntactBatch(segment: Segment, from: number, nextOffset: number): Promise<boolean> {
  const bytes = Buffer.allocUnsafe(Math.min(segment.sizeBytes - from, SEARCH_BYTES_MAX))
  const found = bytes.subarray(0, await segment.file.read(bytes, from))
  const cursor = new BatchCursor()
  for (let position = 1; position + at.crc < found.length; position++) {
    if (found[position + at.magic] !== 2 || cursor.moveTo(found, position) !== 'whole') continue
    if (cursor.baseOffset >= nextOffset && isIntact(cursor)) return true
  }
  return false
}

/** Whether size, magic and CRC of a whole batch are right. */
export function isIntact(cursor: BatchCursor): boolean {
  try {
    verifyBatch(cursor.buffer, readBatchHeader(cursor.buffer, cursor.position))
    return true
  } catch {
    return false
  }
}
