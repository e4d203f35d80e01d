/** Proves that a batch is whole and unchanged since its producer wrote it; the mirror, the log's recovery and Produce call it. */
import type { BatchCursor } from './batch-cursor.ts'
import { BatchError } from './batch-error.ts'
import { type BatchHeader, checkMagicAndSize, readBatchHeader } from './batch-header.ts'
import { CRC_COVERS_FROM, sizeAt } from './batch-layout.ts'
import { crc32c } from './crc32c.ts'

/** CRC-32C of the batch's bytes as they are now. */
export const computeCrc = (buffer: Buffer, position: number, sizeBytes: number): number =>
  crc32c(buffer.subarray(position + CRC_COVERS_FROM, position + sizeBytes))

/**
 * Checks length, magic, CRC-32C and the fields that no valid batch can have. Records are not decoded.
 * Throws BatchError: 'truncated', 'unsupported-magic', 'invalid-size', 'crc-mismatch' or 'invalid-header'.
 */
export function verifyBatch(buffer: Buffer, header: BatchHeader): void {
  const { position, sizeBytes } = header
  if (buffer.length - position < sizeBytes) {
    throw new BatchError(
      'truncated',
      `batch at offset ${header.baseOffset} has ${buffer.length - position} of ${sizeBytes} bytes`,
    )
  }
  checkMagicAndSize(buffer, position)
  if (sizeAt(buffer, position) !== sizeBytes) {
    throw new BatchError(
      'invalid-size',
      `header of ${sizeBytes} bytes does not belong to the batch at byte ${position}`,
    )
  }
  const actual = computeCrc(buffer, position, sizeBytes)
  if (actual !== header.crc) {
    throw new BatchError(
      'crc-mismatch',
      `batch at offset ${header.baseOffset}: CRC is ${hex(actual)}, the header says ${hex(header.crc)}`,
    )
  }
  checkCounts(header)
}

/** The same for the whole batch at a cursor; allocates next to nothing for a good one. */
export function verifyBatchAt(cursor: BatchCursor): void {
  const { buffer, position, sizeBytes, recordCount } = cursor
  const intact = computeCrc(buffer, position, sizeBytes) === cursor.crc
  const plausible = recordCount >= 0 && recordCount <= cursor.lastOffset - cursor.baseOffset + 1
  if (!intact || !plausible) verifyBatch(buffer, readBatchHeader(buffer, position))
}

/** The CRC can be right and the producer wrong. */
function checkCounts({ baseOffset, lastOffset, lastOffsetDelta, recordCount }: BatchHeader): void {
  if (lastOffsetDelta < 0 || !Number.isSafeInteger(lastOffset + 1)) {
    throw new BatchError('invalid-header', `batch at offset ${baseOffset} has last offset delta ${lastOffsetDelta}`)
  }
  // A delta of 2^31 - 1 covers 2^31 offsets, so the count can never pass the delta by more than one.
  if (recordCount < 0 || recordCount > lastOffsetDelta + 1) {
    throw new BatchError(
      'invalid-header',
      `batch at offset ${baseOffset} has ${recordCount} records for ${lastOffsetDelta + 1} offsets`,
    )
  }
}

const hex = (crc: number) => `0x${crc.toString(16).padStart(8, '0')}`
