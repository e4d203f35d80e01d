/**
 * LZ4 frames around raw blocks: the library's own frame reader has no output bound, and what Kafka's Java reader accepts
 * (independent blocks, no dictionary) is best said here. Called by codecs.ts.
 */
import { compressSync, uncompressSync } from 'lz4-napi'
import { BatchError } from '../batch-error.ts'
import { xxhash32 } from './xxhash32.ts'

const MAGIC = 0x184d2204
const VERSION_1 = 0x40
const flag = {
  independentBlocks: 0x20,
  blockChecksum: 0x10,
  contentSize: 0x08,
  contentChecksum: 0x04,
  dictionary: 0x01,
}
const STORED = 0x8000_0000
/** Block maximum code 4, what Java producers write. */
const BLOCK_BYTES = 64 * 1024
/** LZ4 cannot expand more. */
const EXPANSION_MAX = 255

/** Frame of independent 64 KiB blocks without checksums or content size, as Kafka's Java producer writes. */
export function compressLz4(bytes: Buffer): Buffer {
  const parts: Buffer[] = [frameHeader()]
  for (let start = 0; start < bytes.length; start += BLOCK_BYTES) {
    const plain = bytes.subarray(start, start + BLOCK_BYTES)
    // The library puts the plain size in front of the block; its 4 bytes become the frame's block length.
    const sized = compressSync(plain)
    if (sized.length - 4 < plain.length) {
      sized.writeUInt32LE(sized.length - 4)
      parts.push(sized)
    } else {
      parts.push(uint32(plain.length + STORED), plain)
    }
  }
  parts.push(uint32(0))
  return Buffer.concat(parts)
}

function frameHeader(): Buffer {
  const header = Buffer.from([0, 0, 0, 0, VERSION_1 | flag.independentBlocks, 0x40, 0])
  header.writeUInt32LE(MAGIC)
  header[6] = headerChecksum(header.subarray(4, 6))
  return header
}

/** Reads one or several frames. Throws BatchError 'decompression-failed', or 'too-large' once `bytesMax` would be passed. */
export function decompressLz4(bytes: Buffer, bytesMax: number): Buffer {
  const parts: Buffer[] = []
  let total = 0
  let position = 0
  do {
    const frame = readFrameHeader(bytes, position)
    position = frame.blocksAt
    for (let length = readUint32(bytes, position); length !== 0; length = readUint32(bytes, position)) {
      const block = blockAt(bytes, position, frame)
      const plain = decompressBlock(block, frame, bytesMax - total)
      total += plain.length
      if (total > bytesMax) throw tooLarge(bytesMax)
      parts.push(plain)
      position = block.end
    }
    // Kafka's reader ignores the content checksum; the batch's CRC has covered these bytes already.
    position += 4 + (frame.flags & flag.contentChecksum ? 4 : 0)
  } while (position < bytes.length)
  if (position > bytes.length) throw failed('the content checksum is cut off')
  return parts.length === 1 && parts[0] ? parts[0] : Buffer.concat(parts, total)
}

interface Frame {
  readonly flags: number
  readonly blockBytesMax: number
  readonly blocksAt: number
}

function readFrameHeader(bytes: Buffer, position: number): Frame {
  if (bytes.length - position < 7) throw failed('the frame header is cut off')
  if (bytes.readUInt32LE(position) !== MAGIC) throw failed('the frame magic is wrong')
  const flags = bytes.readUInt8(position + 4)
  const sizeCode = (bytes.readUInt8(position + 5) >> 4) & 7
  if ((flags & 0xc0) !== VERSION_1) throw failed(`frame version ${flags >> 6} is unknown`)
  if (!(flags & flag.independentBlocks)) throw failed('dependent blocks are not supported, as in Kafka')
  if (flags & flag.dictionary) throw failed('dictionaries are not supported, as in Kafka')
  if (sizeCode < 4) throw failed(`block size code ${sizeCode} is unknown`)
  const checksumAt = position + 6 + (flags & flag.contentSize ? 8 : 0)
  if (bytes[checksumAt] !== headerChecksum(bytes.subarray(position + 4, checksumAt))) {
    throw failed('the frame header checksum differs')
  }
  return { flags, blockBytesMax: 2 ** (8 + 2 * sizeCode), blocksAt: checksumAt + 1 }
}

interface Block {
  readonly stored: boolean
  readonly bytes: Buffer
  /** Position of what follows the block and its checksum. */
  readonly end: number
}

function blockAt(bytes: Buffer, position: number, frame: Frame): Block {
  const word = readUint32(bytes, position)
  const length = word % STORED
  const dataEnd = position + 4 + length
  const end = dataEnd + (frame.flags & flag.blockChecksum ? 4 : 0)
  if (length > frame.blockBytesMax || end > bytes.length) throw failed(`a block of ${length} bytes does not fit`)
  const data = bytes.subarray(position + 4, dataEnd)
  if (end > dataEnd && bytes.readUInt32LE(dataEnd) !== xxhash32(data)) throw failed('a block checksum differs')
  return { stored: word >= STORED, bytes: data, end }
}

function decompressBlock(block: Block, frame: Frame, bytesLeft: number): Buffer {
  if (block.stored) return block.bytes
  // The size in front is an upper bound to the library: it allocates that much and cuts to what the block holds. Without
  // the expansion limit many tiny blocks would each allocate the frame's block maximum.
  const blockMax = Math.min(frame.blockBytesMax, EXPANSION_MAX * block.bytes.length)
  const sized = Buffer.allocUnsafe(4 + block.bytes.length)
  sized.writeUInt32LE(Math.min(blockMax, bytesLeft))
  block.bytes.copy(sized, 4)
  try {
    return uncompressSync(sized)
  } catch (error) {
    const overBound = error instanceof Error && /too small/.test(error.message) && bytesLeft < blockMax
    throw overBound ? tooLarge(bytesLeft, error) : failed('a block is corrupt or larger than the frame allows', error)
  }
}

/** Second byte of the xxHash32 of the descriptor. */
const headerChecksum = (descriptor: Buffer): number => (xxhash32(descriptor) >>> 8) & 0xff

function readUint32(bytes: Buffer, position: number): number {
  if (bytes.length - position < 4) throw failed('the frame has no end mark')
  return bytes.readUInt32LE(position)
}

function uint32(value: number): Buffer {
  const bytes = Buffer.allocUnsafe(4)
  bytes.writeUInt32LE(value)
  return bytes
}

const failed = (what: string, cause?: unknown) => new BatchError('decompression-failed', `lz4: ${what}`, cause)
const tooLarge = (bytesMax: number, cause?: unknown) =>
  new BatchError('too-large', `lz4: the blocks pass the bound of ${bytesMax} bytes`, cause)
