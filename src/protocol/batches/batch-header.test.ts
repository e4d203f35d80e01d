/** The header as Kafka writes it, and what is refused before anything else is read. */
import { deepEqual, equal, throws } from 'node:assert/strict'
import { test } from 'node:test'
import {
  compressionOf,
  hasDeleteHorizon,
  hasProducerId,
  incrementSequence,
  isControl,
  isTransactional,
  lastSequenceOf,
  readBatchHeader,
  usesLogAppendTime,
} from './batch-header.ts'
import {
  attributesAt,
  baseOffsetAt,
  crcAt,
  lastOffsetAt,
  leaderEpochAt,
  magicAt,
  maxTimestampAt,
  producerIdAt,
  recordCountAt,
  sizeAt,
  stampBaseOffset,
  stampLeaderEpoch,
} from './batch-layout.ts'
import { buildBatch } from './build-batch.ts'

/** Written field by field from the layout in Kafka's documentation. */
const HEADER = Buffer.from(
  '00000100000000050000004000000007020badcafe0010000000090000018bcfe568000000018bcfe56be80000000000000fa0000700000063' +
    '00000002',
  'hex',
)

test('every field of the header is where Kafka has it', () => {
  deepEqual(readBatchHeader(HEADER, 0), {
    position: 0,
    sizeBytes: 76,
    baseOffset: 2 ** 40 + 5,
    lastOffset: 2 ** 40 + 14,
    leaderEpoch: 7,
    magic: 2,
    crc: 0x0badcafe,
    attributes: 0x10,
    lastOffsetDelta: 9,
    baseTimestamp: 1_700_000_000_000n,
    maxTimestamp: 1_700_000_001_000n,
    producerId: 4000n,
    producerEpoch: 7,
    baseSequence: 99,
    recordCount: 2,
  })
})

test('single fields read the same as the whole header, at any position', () => {
  const buffer = Buffer.concat([Buffer.alloc(13), HEADER])
  const header = readBatchHeader(buffer, 13)
  deepEqual(
    [baseOffsetAt, sizeAt, leaderEpochAt, magicAt, crcAt, attributesAt, lastOffsetAt, recordCountAt].map(read =>
      read(buffer, 13),
    ),
    [
      header.baseOffset,
      header.sizeBytes,
      header.leaderEpoch,
      header.magic,
      header.crc,
      header.attributes,
      header.lastOffset,
      header.recordCount,
    ],
  )
  deepEqual([maxTimestampAt(buffer, 13), producerIdAt(buffer, 13)], [header.maxTimestamp, header.producerId])
})

test('stamps read back, up to the largest offset', () => {
  const buffer = Buffer.from(HEADER)
  for (const offset of [0, 1, 2 ** 31, 2 ** 32 - 1, 2 ** 32, Number.MAX_SAFE_INTEGER - 1]) {
    stampBaseOffset(buffer, 0, offset)
    equal(baseOffsetAt(buffer, 0), offset)
    equal(buffer.readBigInt64BE(0), BigInt(offset))
  }
  stampLeaderEpoch(buffer, 0, -1)
  equal(leaderEpochAt(buffer, 0), -1)
})

test('message formats 0 and 1 are refused by name, even when cut right after the magic', () => {
  for (const magic of [0, 1]) {
    const old = Buffer.alloc(17)
    old.writeInt32BE(20, 8)
    old.writeInt8(magic, 16)
    throws(() => readBatchHeader(old, 0), {
      name: 'BatchError',
      kind: 'unsupported-magic',
      message: new RegExp(`message format ${magic} .*before Kafka 0.11`),
    })
  }
})

test('an unknown magic says which and where', () => {
  const bytes = Buffer.from(HEADER)
  bytes.writeInt8(3, 16)
  throws(() => readBatchHeader(bytes, 0), { kind: 'unsupported-magic', message: /magic 3 at byte 16/ })
})

test('a header that is cut off, too small or beyond 2^53 is a typed error', () => {
  for (const length of [0, 11, 16, 17, 60]) {
    throws(() => readBatchHeader(HEADER.subarray(0, length), 0), { kind: 'truncated' })
  }
  throws(() => readBatchHeader(HEADER, 500), { kind: 'truncated' })
  for (const length of [-1, 0, 48, -0x8000_0000]) {
    const bytes = Buffer.from(HEADER)
    bytes.writeInt32BE(length, 8)
    throws(() => readBatchHeader(bytes, 0), { kind: 'invalid-size' })
  }
  for (const offset of [-1n, 2n ** 53n, -(2n ** 63n)]) {
    const bytes = Buffer.from(HEADER)
    bytes.writeBigInt64BE(offset, 0)
    throws(() => readBatchHeader(bytes, 0), { kind: 'invalid-header' })
  }
})

test('attributes give codec and flags', () => {
  deepEqual(
    [0, 1, 2, 3, 4].map(attributes => compressionOf({ attributes })),
    ['none', 'gzip', 'snappy', 'lz4', 'zstd'],
  )
  throws(() => compressionOf({ attributes: 5 }), { kind: 'unsupported-compression' })
  const flags = (attributes: number) =>
    [usesLogAppendTime, isTransactional, isControl, hasDeleteHorizon].map(f => f({ attributes }))
  deepEqual(flags(0x08 | 4), [true, false, false, false])
  deepEqual(flags(0x10), [false, true, false, false])
  deepEqual(flags(0x20), [false, false, true, false])
  deepEqual(flags(0x40), [false, false, false, true])
})

test('sequences wrap to zero after 2^31 - 1', () => {
  equal(incrementSequence(0x7fff_ffff, 1), 0)
  equal(incrementSequence(5, 7), 12)
  equal(lastSequenceOf({ baseSequence: 0x7fff_fffe, lastOffsetDelta: 3 }), 1)
  equal(lastSequenceOf({ baseSequence: -1, lastOffsetDelta: 3 }), -1)
})

test('a plain batch has no producer id, an idempotent one has', () => {
  const records = [{ timestamp: 0n, key: null, value: null }]
  equal(hasProducerId(readBatchHeader(buildBatch({ records }), 0)), false)
  equal(
    hasProducerId(readBatchHeader(buildBatch({ records, producerId: 0n, producerEpoch: 0, baseSequence: 0 }), 0)),
    true,
  )
})
