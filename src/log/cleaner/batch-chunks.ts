/** Reads a segment file in chunks of whole batches, in bounded memory; both passes of cleaning use it. */
import { BatchCursor } from '../../protocol/batches/batch-cursor.ts'
import type { LogFile } from '../file-system.ts'
import { LogError } from '../log-error.ts'

/** What to read. */
export interface ChunkRange {
  /** Position of a batch. */
  readonly from: number
  /** End of the bytes that count. */
  readonly to: number
  /** Bytes per read; a larger batch comes alone. */
  readonly chunkBytes: number
}

/** Each chunk is valid until the next is asked for. Throws LogError 'corrupt' where bytes are no whole batch. */
export async function* chunksOf(file: LogFile, { from, to, chunkBytes }: ChunkRange): AsyncGenerator<Buffer> {
  const cursor = new BatchCursor()
  const buffer = Buffer.allocUnsafe(Math.min(chunkBytes, Math.max(0, to - from)))
  for (let position = from; position < to; ) {
    const wanted = buffer.subarray(0, Math.min(buffer.length, to - position))
    const chunk = wanted.subarray(0, await file.read(wanted, position))
    let end = wholeBatches(cursor, chunk)
    let bytes: Buffer = chunk
    if (end === 0) {
      bytes = await largeBatch(file, { cursor, chunk, position, to })
      end = bytes.length
    }
    yield bytes.subarray(0, end)
    position += end
  }
}

/** Length of the whole batches in front; behind them the cursor is at what follows. */
function wholeBatches(cursor: BatchCursor, chunk: Buffer): number {
  let end = 0
  while (cursor.moveTo(chunk, end) === 'whole') end += cursor.sizeBytes
  return end
}

async function largeBatch(
  file: LogFile,
  { cursor, chunk, position, to }: { cursor: BatchCursor; chunk: Buffer; position: number; to: number },
): Promise<Buffer> {
  let state = cursor.moveTo(chunk, 0)
  if (state === 'short') {
    const header = Buffer.allocUnsafe(Math.min(1024, to - position))
    state = cursor.moveTo(header.subarray(0, await file.read(header, position)), 0)
  }
  const { sizeBytes } = cursor
  if (state === 'short' || state === 'invalid' || position + sizeBytes > to) throw notABatch(file, position)
  const bytes = Buffer.allocUnsafe(sizeBytes)
  if ((await file.read(bytes, position)) < sizeBytes) throw notABatch(file, position)
  return bytes
}

const notABatch = (file: LogFile, position: number) =>
  new LogError('corrupt', `${file.path} holds no whole batch at byte ${position}`)
