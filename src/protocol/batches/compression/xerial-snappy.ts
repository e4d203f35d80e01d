/**
 * Snappy as Kafka uses it: Java clients frame 32 KiB blocks the way snappy-java's stream does ("xerial"), librdkafka and
 * others send one raw block. Reads both, writes frames. Called by codecs.ts.
 */
import { compressSync, uncompressSync } from 'snappy'
import { BatchError } from '../batch-error.ts'

const MAGIC = Buffer.from([0x82, 0x53, 0x4e, 0x41, 0x50, 0x50, 0x59, 0x00])
const HEADER = Buffer.concat([MAGIC, Buffer.from([0, 0, 0, 1, 0, 0, 0, 1])])
const BLOCK_BYTES = 32 * 1024

/** Frame of version 1, compatible with version 1, of blocks with their length in front. */
export function compressXerial(bytes: Buffer): Buffer {
  const parts: Buffer[] = [HEADER]
  for (let start = 0; start < bytes.length; start += BLOCK_BYTES) {
    const block = compressSync(bytes.subarray(start, start + BLOCK_BYTES))
    const length = Buffer.allocUnsafe(4)
    length.writeInt32BE(block.length)
    parts.push(length, block)
  }
  return Buffer.concat(parts)
}

/** Reads a frame or a raw block. Throws BatchError 'decompression-failed', or 'too-large' before allocating over `bytesMax`. */
export function decompressSnappy(bytes: Buffer, bytesMax: number): Buffer {
  if (!isFrameHeader(bytes, 0)) return decompressBlock(bytes, bytesMax)
  const parts: Buffer[] = []
  let total = 0
  let position = 0
  while (position < bytes.length) {
    // Frames may follow each other: flushed writers of snappy-java have been seen to start a new one.
    if (isFrameHeader(bytes, position)) {
      position += HEADER.length
      continue
    }
    if (bytes.length - position < 4) throw failed('a block length is cut off')
    const length = bytes.readInt32BE(position)
    const end = position + 4 + length
    if (length < 0 || end > bytes.length) throw failed(`a block of ${length} bytes does not fit the frame`)
    const part = decompressBlock(bytes.subarray(position + 4, end), bytesMax - total)
    total += part.length
    parts.push(part)
    position = end
  }
  return parts.length === 1 && parts[0] ? parts[0] : Buffer.concat(parts, total)
}

const isFrameHeader = (bytes: Buffer, position: number): boolean =>
  bytes.length - position >= HEADER.length &&
  bytes.compare(MAGIC, 0, MAGIC.length, position, position + MAGIC.length) === 0

/** A raw block says its size first, so the bound is checked before the library allocates. */
function decompressBlock(block: Buffer, bytesMax: number): Buffer {
  const size = uncompressedSize(block)
  if (size > bytesMax) throw new BatchError('too-large', `a snappy block of ${size} bytes passes the bound`)
  try {
    const bytes = uncompressSync(block)
    return typeof bytes === 'string' ? Buffer.from(bytes) : bytes
  } catch (error) {
    throw failed('a block is corrupt', error)
  }
}

function uncompressedSize(block: Buffer): number {
  let size = 0
  for (let index = 0; index < 5; index++) {
    const byte = block[index]
    if (byte === undefined) throw failed('a block has no length')
    size += (byte & 0x7f) * 2 ** (7 * index)
    if (byte < 0x80) return size
  }
  throw failed('a block has an impossible length')
}

const failed = (what: string, cause?: unknown) => new BatchError('decompression-failed', `snappy: ${what}`, cause)
