/** LZ4 frames: what we write, what other writers may write, and what Kafka refuses. */
import { deepEqual, equal, throws } from 'node:assert/strict'
import { test } from 'node:test'
import { compressFrameSync, decompressFrameSync } from 'lz4-napi'
import { compressLz4, decompressLz4 } from './lz4-frame.ts'
import { xxhash32 } from './xxhash32.ts'

const MAX = 1 << 20
const text = Buffer.alloc(200_000, 'mirror topic ')

/** A frame header with a right checksum. */
function headerOf(flags: number, blockByte: number, contentSize = Buffer.alloc(0)): Buffer {
  const descriptor = Buffer.concat([Buffer.from([flags, blockByte]), contentSize])
  return Buffer.concat([Buffer.from('04224d18', 'hex'), descriptor, Buffer.from([(xxhash32(descriptor) >>> 8) & 0xff])])
}

test('the header is the one that Java producers write', () => {
  equal(compressLz4(text).subarray(0, 7).toString('hex'), '04224d18604082')
})

test('frames read back here and in an independent reader, also empty and incompressible', () => {
  const noise = Buffer.from(Array.from({ length: 70_000 }, (_, index) => (Math.imul(index, 0x9e3779b1) >>> 11) & 0xff))
  for (const bytes of [text, Buffer.alloc(0), Buffer.from('x'), noise, Buffer.alloc(65_536, 1)]) {
    deepEqual(decompressLz4(compressLz4(bytes), MAX), bytes)
    deepEqual(decompressFrameSync(compressLz4(bytes)), bytes)
  }
})

test('frames of another writer with block and content checksums are read', () => {
  for (const options of [
    {},
    { contentChecksum: true },
    { blockChecksums: true },
    { contentChecksum: true, blockChecksums: true },
  ]) {
    deepEqual(decompressLz4(compressFrameSync(text, options), MAX), text)
  }
})

test('a wrong block checksum is found', () => {
  const frame = compressFrameSync(Buffer.from('text that is long enough, long enough, long enough'), {
    blockChecksums: true,
  })
  frame.writeUInt8(frame.readUInt8(frame.length - 5) ^ 1, frame.length - 5)
  throws(() => decompressLz4(frame, MAX), { kind: 'decompression-failed', message: /block checksum/ })
})

test('a content size in the header is skipped, stored blocks are taken as they are', () => {
  const frame = Buffer.concat([
    headerOf(0x68, 0x70, Buffer.alloc(8)),
    Buffer.from('03000080', 'hex'),
    Buffer.from('abc'),
    Buffer.alloc(4),
  ])
  equal(decompressLz4(frame, MAX).toString(), 'abc')
})

test('frames after each other are read as one', () => {
  const two = Buffer.concat([compressLz4(text), compressFrameSync(text, { contentChecksum: true })])
  deepEqual(decompressLz4(two, MAX), Buffer.concat([text, text]))
})

test('an output over the bound is refused', () => {
  throws(() => decompressLz4(compressLz4(text), 199_999), { kind: 'too-large' })
  equal(decompressLz4(compressLz4(text), 200_000).length, 200_000)
  const stored = Buffer.concat([
    headerOf(0x60, 0x40),
    Buffer.from('03000080', 'hex'),
    Buffer.from('abc'),
    Buffer.alloc(4),
  ])
  throws(() => decompressLz4(stored, 2), { kind: 'too-large' })
})

test('many tiny blocks in a frame of 4 MiB blocks do not allocate 4 MiB each', () => {
  const block = Buffer.from('020000001078', 'hex') // one literal
  const blocks = 20_000
  const frame = Buffer.concat([headerOf(0x60, 0x70), Buffer.alloc(block.length * blocks, block), Buffer.alloc(4)])
  deepEqual(decompressLz4(frame, MAX), Buffer.alloc(blocks, 'x'))
})

test('a block that gives more than the frame says is refused', () => {
  const large = compressFrameSync(Buffer.alloc(300_000))
  const lying = Buffer.concat([headerOf(0x60, 0x40), large.subarray(7)])
  throws(() => decompressLz4(lying, MAX), { kind: 'decompression-failed', message: /larger than the frame allows/ })
})

test('what Kafka refuses is refused: dependent blocks, dictionaries, other versions, wrong checksums', () => {
  for (const [header, message] of [
    [headerOf(0x40, 0x40), /dependent blocks/],
    [headerOf(0x61, 0x40), /dictionaries/],
    [headerOf(0xa0, 0x40), /version 2/],
    [headerOf(0x60, 0x30), /block size code 3/],
    [Buffer.from('04224d18604083', 'hex'), /header checksum/],
    [Buffer.from('04224d19604082', 'hex'), /magic/],
  ] as const) {
    const frame = Buffer.concat([header, Buffer.alloc(4)])
    throws(() => decompressLz4(frame, MAX), { kind: 'decompression-failed', message })
  }
})

test('every cut is a typed error', () => {
  const frame = compressFrameSync(Buffer.from('cut here, cut here, cut here, cut here'), { contentChecksum: true })
  for (let length = 0; length < frame.length; length++) {
    throws(() => decompressLz4(frame.subarray(0, length), MAX), { name: 'BatchError', kind: 'decompression-failed' })
  }
})
