/** Records in, records out; Kafka's own bytes; and bytes that nobody should have sent. */
import { deepEqual, equal, ok, throws } from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { BatchError } from './batch-error.ts'
import { compressionNames, compressionOf, readBatchHeader } from './batch-header.ts'
import { at, HEADER_BYTES } from './batch-layout.ts'
import { type BatchInput, buildBatch } from './build-batch.ts'
import { compress } from './compression/codecs.ts'
import type { RecordInput } from './record-encoder.ts'
import { type DecodeLimits, recordsIn, recordsOf } from './records-of.ts'
import { verifyBatch } from './verify-batch.ts'

const decode = (bytes: Buffer, limits?: DecodeLimits) => recordsOf(bytes, readBatchHeader(bytes, 0), limits)

/** A batch whose record section is exactly these bytes. */
function batchAround(section: Buffer, header: { recordCount: number; attributes?: number }): Buffer {
  const bytes = Buffer.concat([buildBatch({ records: [] }), section])
  bytes.writeInt32BE(bytes.length - 12, at.batchLength)
  bytes.writeInt32BE(header.recordCount, at.recordCount)
  bytes.writeInt16BE(header.attributes ?? 0, at.attributes)
  return bytes
}

const bytesArbitrary = fc.uint8Array({ maxLength: 40 }).map(bytes => Buffer.from(bytes))
const nullableBytes = fc.option(bytesArbitrary)
const headerArbitrary = fc.record(
  { key: fc.string({ unit: 'grapheme', maxLength: 5 }), value: nullableBytes },
  { noNullPrototype: true },
)
const recordArbitrary = fc.record({
  timestamp: fc.oneof(fc.bigInt({ min: -1n, max: 2n ** 62n }), fc.bigInt({ min: 0n, max: 10_000n })),
  key: nullableBytes,
  value: nullableBytes,
  headers: fc.array(headerArbitrary, { maxLength: 4 }),
  gap: fc.oneof(
    { weight: 5, arbitrary: fc.constant(1) },
    { weight: 1, arbitrary: fc.integer({ min: 1, max: 100_000 }) },
  ),
})
const batchArbitrary = fc
  .record({
    compression: fc.constantFrom(...compressionNames),
    baseOffset: fc.maxSafeNat().filter(offset => offset < 2 ** 52),
    leaderEpoch: fc.integer({ min: -1 }),
    producerId: fc.bigInt({ min: -1n, max: 2n ** 62n }),
    producerEpoch: fc.integer({ min: -1, max: 0x7fff }),
    baseSequence: fc.integer({ min: -1, max: 0x7fff_ffff }),
    transactional: fc.boolean(),
    entries: fc.array(recordArbitrary, { maxLength: 12 }),
  })
  .map(({ entries, ...batch }): BatchInput => {
    let next = -1
    const records: RecordInput[] = entries.map(({ gap, ...record }) => {
      next += gap
      return { ...record, offsetDelta: next }
    })
    return { ...batch, records }
  })

test('what is built decodes equal, with every codec', () => {
  fc.assert(
    fc.property(batchArbitrary, input => {
      const bytes = buildBatch(input)
      const header = readBatchHeader(bytes, 0)
      verifyBatch(bytes, header)
      equal(compressionOf(header), input.records.length === 0 ? 'none' : input.compression)
      deepEqual(
        recordsOf(bytes, header),
        input.records.map(({ offsetDelta, ...record }) => ({
          ...record,
          offset: header.baseOffset + (offsetDelta ?? 0),
        })),
      )
      deepEqual(
        [header.baseOffset, header.leaderEpoch, header.producerId, header.producerEpoch, header.baseSequence],
        [input.baseOffset, input.leaderEpoch, input.producerId, input.producerEpoch, input.baseSequence],
      )
      equal(header.recordCount, input.records.length)
      equal(header.lastOffsetDelta, input.records.at(-1)?.offsetDelta ?? 0)
    }),
    { numRuns: 300 },
  )
})

/** One batch with each codec as Kafka 4.3.1's MemoryRecordsBuilder writes it. */
const WRITTEN_BY_JAVA: Record<(typeof compressionNames)[number], string> = {
  none: '00000000000000030000005a00000007028def74570000000000010000018bcfe568000000018bcfe56801ffffffffffffffffffffffffffff0000000242000000026b2e76616c75652076616c75652076616c75652076616c7565020268010c000202010100',
  gzip: '00000000000000030000005e0000000702f6af7fd30001000000010000018bcfe568000000018bcfe56801ffffffffffffffffffffffffffff000000021f8b08000000000000ff7362606060cad62b4bcc294d55c02099983218791898981819190063eda19a29000000',
  snappy:
    '00000000000000030000006300000007028e4e54f60002000000010000018bcfe568000000018bcfe56801ffffffffffffffffffffffffffff0000000282534e415050590000000001000000010000001e293042000000026b2e76616c75652042060028020268010c000202010100',
  lz4: '00000000000000030000005c000000070290fa2c660003000000010000018bcfe568000000018bcfe56801ffffffffffffffffffffffffffff0000000204224d186040821c000000dd42000000026b2e76616c7565200600b0020268010c00020201010000000000',
  zstd: '00000000000000030000005b00000007024e729e230004000000010000018bcfe568000000018bcfe56801ffffffffffffffffffffffffffff0000000228b52ffd0058f40000c042000000026b2e76616c756520020268010c000202010100010099cb17010000',
}

test('batches of Java decode, and ours without codec is the same bytes', () => {
  const records = [
    {
      timestamp: 1_700_000_000_000n,
      key: Buffer.from('k'),
      value: Buffer.from('value value value value'),
      headers: [{ key: 'h', value: null }],
    },
    { timestamp: 1_700_000_000_001n, key: null, value: null, headers: [] },
  ]
  for (const compression of compressionNames) {
    const bytes = Buffer.from(WRITTEN_BY_JAVA[compression], 'hex')
    verifyBatch(bytes, readBatchHeader(bytes, 0))
    deepEqual(
      decode(bytes),
      records.map((record, index) => ({ ...record, offset: 3 + index })),
    )
  }
  const ours = buildBatch({ baseOffset: 3, leaderEpoch: 7, records })
  equal(ours.toString('hex'), WRITTEN_BY_JAVA.none)
})

test('keys and values of an uncompressed batch are references', () => {
  const bytes = buildBatch({ records: [{ timestamp: 0n, key: Buffer.from('key'), value: Buffer.alloc(9) }] })
  equal(decode(bytes)[0]?.value?.buffer, bytes.buffer)
})

test('an empty batch has no records and keeps its range', () => {
  const bytes = buildBatch({ baseOffset: 5, lastOffsetDelta: 20, baseSequence: 9, producerId: 1n, records: [] })
  deepEqual(decode(bytes), [])
  equal(readBatchHeader(bytes, 0).lastOffset, 25)
  // The cleaner may leave the codec in the attributes of a batch that it emptied.
  bytes.writeInt16BE(2, at.attributes)
  deepEqual(decode(bytes), [])
})

test('record counts that do not match the bytes are refused without trusting them', () => {
  const one = buildBatch({ records: [{ timestamp: 0n, key: null, value: null }] }).subarray(HEADER_BYTES)
  for (const recordCount of [0x7fff_ffff, 2, 0, -1]) {
    throws(() => decode(batchAround(one, { recordCount })), { kind: 'invalid-records' })
  }
})

test('every cut and every wrong byte in a record gives records or a typed error', () => {
  const whole = buildBatch({
    records: [
      {
        timestamp: 2n ** 40n,
        key: Buffer.from('key'),
        value: Buffer.from('value'),
        headers: [{ key: 'h', value: null }],
      },
    ],
  }).subarray(HEADER_BYTES)
  for (let length = 0; length < whole.length; length++) {
    throws(() => decode(batchAround(whole.subarray(0, length), { recordCount: 1 })), { kind: 'invalid-records' })
  }
  for (let index = 0; index < whole.length; index++) {
    for (const value of [0, 1, 2, 0x7f, 0x80, 0xff]) {
      const section = Buffer.from(whole)
      section[index] = value
      onlyTypedErrors(() => decode(batchAround(section, { recordCount: 1 })))
    }
  }
})

test('random bytes under every codec give a typed error, never another one', () => {
  fc.assert(
    fc.property(
      fc.uint8Array({ maxLength: 200 }),
      fc.integer({ min: 0, max: 7 }),
      fc.integer({ min: -1, max: 1000 }),
      (section, attributes, recordCount) => {
        onlyTypedErrors(() => decode(batchAround(Buffer.from(section), { attributes, recordCount })))
      },
    ),
    { numRuns: 500 },
  )
})

test('bytes damaged inside a compressed section give a typed error or other records, never another error', () => {
  const sections = compressionNames.flatMap((name, attributes) =>
    name === 'none' ? [] : [{ attributes, section: compress(name, Buffer.alloc(3000, 'lockstep mirror ')) }],
  )
  fc.assert(
    fc.property(fc.constantFrom(...sections), fc.nat(), fc.integer({ min: 1, max: 255 }), (batch, place, change) => {
      const section = Buffer.from(batch.section)
      const index = place % section.length
      section.writeUInt8(section.readUInt8(index) ^ change, index)
      onlyTypedErrors(() => decode(batchAround(section, { attributes: batch.attributes, recordCount: 3 })))
    }),
    { numRuns: 500 },
  )
})

test('a header count or a length larger than the record is refused before anything is allocated', () => {
  const huge = Buffer.from('feffffff0f', 'hex') // 2^31 - 1
  for (const fields of [
    [0, 0, 0, 1, 1, ...huge],
    [0, 0, 0, ...huge],
    [0, 0, 0, 1, ...huge],
    [0, 0, 0, 1, 1, 2, ...huge],
    [0, 0, 0, 1, 1, 1],
    [0, 0, 0, 3, 1, 0],
    [0, 0, 0, 1, 1, 2, 1, 1],
  ]) {
    const section = Buffer.from([fields.length * 2, ...fields])
    throws(
      () => decode(batchAround(section, { recordCount: 1 })),
      (error: unknown) => error instanceof BatchError,
    )
  }
})

test('a decompression bomb ends at the bound', () => {
  const bomb = Buffer.alloc(4 * 1024 * 1024)
  for (const [attributes, name] of compressionNames.entries()) {
    if (name === 'none') continue
    const bytes = batchAround(compress(name, bomb), { attributes, recordCount: 1 })
    ok(bytes.length < bomb.length / 15)
    throws(() => decode(bytes, { decompressedBytesMax: 1024 * 1024 }), { name: 'BatchError', kind: 'too-large' })
    throws(() => decode(bytes, { decompressedBytesMax: 5 * 1024 * 1024 }), { kind: 'invalid-records' })
  }
})

test('more records and headers than allowed are refused, and can still be read one by one', () => {
  const headers = Array.from({ length: 5 }, (_, index) => ({ key: String(index), value: null }))
  const records = Array.from({ length: 10 }, () => ({ timestamp: 0n, key: null, value: null, headers }))
  const bytes = buildBatch({ records, compression: 'gzip' })
  equal(decode(bytes, { itemsMax: 60 }).length, 10)
  throws(() => decode(bytes, { itemsMax: 59 }), { kind: 'too-large' })
  equal([...recordsIn(bytes, readBatchHeader(bytes, 0), { itemsMax: 5 })].length, 10)
  throws(() => [...recordsIn(bytes, readBatchHeader(bytes, 0), { itemsMax: 4 })], { kind: 'too-large' })
})

test('a batch that is not complete is truncated, not a record error', () => {
  const bytes = buildBatch({ records: [{ timestamp: 0n, key: null, value: Buffer.alloc(100) }] })
  throws(() => decode(bytes.subarray(0, 90)), { kind: 'truncated' })
})

test('input that cannot be a batch is a programming error', () => {
  const record = { timestamp: 0n, key: null, value: null }
  throws(
    () =>
      buildBatch({
        records: [
          { ...record, offsetDelta: 3 },
          { ...record, offsetDelta: 3 },
        ],
      }),
    { name: 'AssertionError' },
  )
  throws(() => buildBatch({ records: [record, record], lastOffsetDelta: 0 }), { name: 'AssertionError' })
})

function onlyTypedErrors(run: () => unknown): void {
  try {
    run()
  } catch (error) {
    if (!(error instanceof BatchError)) throw error
  }
}
