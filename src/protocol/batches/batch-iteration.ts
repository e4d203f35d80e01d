/** Walks the batches of a Fetch answer, a Produce request or a piece of a segment; used wherever bytes hold several batches. */
import { type BatchHeader, checkMagicAndSize, readBatchHeader } from './batch-header.ts'
import { at, HEADER_BYTES, sizeAt } from './batch-layout.ts'

/**
 * Position after the batch at `position`, or -1 if the buffer ends before the batch does. Allocates nothing.
 * Throws BatchError 'unsupported-magic' or 'invalid-size' as soon as the first 17 bytes show it.
 */
export function nextBatchPosition(buffer: Buffer, position: number): number {
  if (buffer.length - position <= at.magic) return -1
  checkMagicAndSize(buffer, position)
  const end = position + sizeAt(buffer, position)
  return end > buffer.length ? -1 : end
}

/** Headers of the complete batches; a partial one at the end, which Fetch answers may have, ends the walk. Throws BatchError. */
export function* batchesIn(buffer: Buffer, position = 0): Generator<BatchHeader, void, undefined> {
  let start = position
  for (let end = nextBatchPosition(buffer, start); end !== -1; end = nextBatchPosition(buffer, start)) {
    yield readBatchHeader(buffer, start)
    start = end
  }
}

/** How many bytes from `position` on are complete batches. Throws BatchError. */
export function completeBytes(buffer: Buffer, position = 0): number {
  let start = position
  for (let end = nextBatchPosition(buffer, start); end !== -1; end = nextBatchPosition(buffer, start)) start = end
  return start - position
}

/** The bytes of one batch, by reference. */
export const bytesOfBatch = (buffer: Buffer, header: Pick<BatchHeader, 'position' | 'sizeBytes'>): Buffer =>
  buffer.subarray(header.position, header.position + header.sizeBytes)

/** The record section of one batch, by reference and still compressed. */
export const recordBytesOf = (buffer: Buffer, header: Pick<BatchHeader, 'position' | 'sizeBytes'>): Buffer =>
  buffer.subarray(header.position + HEADER_BYTES, header.position + header.sizeBytes)
