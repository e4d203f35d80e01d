/** The table of what a client may append, with the error codes that Kafka answers. */
import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict'
import { test } from 'node:test'
import type { TopicSettings } from '../metadata/topic-settings.ts'
import {
  compressionNames,
  compressionOf,
  readBatchHeader,
  usesLogAppendTime,
} from '../protocol/batches/batch-header.ts'
import { at, attributeBit } from '../protocol/batches/batch-layout.ts'
import { type BatchInput, buildBatch } from '../protocol/batches/build-batch.ts'
import { buildEndMarker } from '../protocol/batches/control-batch.ts'
import { recordsOf } from '../protocol/batches/records-of.ts'
import { computeCrc, verifyBatch } from '../protocol/batches/verify-batch.ts'
import { ErrorCode, errorName } from '../protocol/errors.ts'
import { ClientAppendError } from './client-append-error.ts'
import { defaultTopicSettings } from './fakes/topic-settings.ts'
import { validateClientBatch } from './validate-client-batch.ts'

const NOW = 1_700_000_000_000
const record = (timestamp: number, key: string | null = 'key', value = 'value') => ({
  timestamp: BigInt(timestamp),
  key: key === null ? null : Buffer.from(key),
  value: Buffer.from(value),
})
const plain = (input: Partial<BatchInput> = {}) => buildBatch({ records: [record(NOW), record(NOW + 5)], ...input })

/** Overwrites header fields and mends the CRC. */
function patched(batch: Buffer, change: (batch: Buffer) => void): Buffer {
  change(batch)
  batch.writeUInt32BE(computeCrc(batch, 0, batch.length), at.crc)
  return batch
}

function validate(records: Buffer | null, settings: Partial<TopicSettings> = {}, produceVersion = 13) {
  return validateClientBatch(records, { ...defaultTopicSettings, ...settings }, { nowMs: NOW, produceVersion })
}

function refusal(
  records: Buffer | null,
  settings?: Partial<TopicSettings>,
  produceVersion?: number,
): ClientAppendError {
  try {
    validate(records, settings, produceVersion)
  } catch (error) {
    if (error instanceof ClientAppendError) return error
    throw error
  }
  throw new Error('the batch was accepted')
}

const HOUR = 3_600_000
const negativeSequence = () => plain({ producerId: 5n, producerEpoch: 0, baseSequence: -1 })
const refusals: [string, () => Buffer | null, Partial<TopicSettings>, keyof typeof ErrorCode, number?][] = [
  ['no records', () => null, {}, 'INVALID_RECORD'],
  ['an empty buffer', () => Buffer.alloc(0), {}, 'INVALID_RECORD'],
  ['a batch that was cut off', () => plain().subarray(0, 70), {}, 'INVALID_RECORD'],
  ['two batches', () => Buffer.concat([plain(), plain()]), {}, 'INVALID_RECORD'],
  ['message format 1', () => patched(plain(), batch => batch.writeInt8(1, at.magic)), {}, 'INVALID_RECORD'],
  ['an unknown format', () => patched(plain(), batch => batch.writeInt8(9, at.magic)), {}, 'CORRUPT_MESSAGE'],
  [
    'a length below the header',
    () => patched(plain(), batch => batch.writeInt32BE(20, at.batchLength)),
    {},
    'CORRUPT_MESSAGE',
  ],
  ['a wrong CRC', () => Buffer.concat([plain().fill(0xff, 17, 21)]), {}, 'CORRUPT_MESSAGE'],
  ['a base offset', () => plain({ baseOffset: 3 }), {}, 'INVALID_RECORD'],
  ['a batch over max.message.bytes', () => plain(), { maxMessageBytes: 80 }, 'MESSAGE_TOO_LARGE'],
  ['a batch over segment.bytes', () => plain(), { segmentBytes: 80 }, 'RECORD_LIST_TOO_LARGE'],
  ['no record at all', () => buildBatch({ records: [] }), {}, 'INVALID_RECORD'],
  [
    'fewer records than the header says',
    () => patched(plain(), b => b.writeInt32BE(3, at.recordCount) && b.writeInt32BE(2, at.lastOffsetDelta)),
    {},
    'INVALID_RECORD',
  ],
  [
    'more records than the header says',
    () => patched(plain(), b => b.writeInt32BE(1, at.recordCount) && b.writeInt32BE(0, at.lastOffsetDelta)),
    {},
    'INVALID_RECORD',
  ],
  ['offsets that do not match the count', () => plain({ lastOffsetDelta: 9 }), {}, 'INVALID_RECORD'],
  [
    'a control batch',
    () =>
      buildEndMarker({
        type: 'commit',
        producerId: 1n,
        producerEpoch: 0,
        coordinatorEpoch: 0,
        offset: 0,
        timestamp: 1n,
        leaderEpoch: 0,
      }),
    {},
    'INVALID_RECORD',
  ],
  ['a producer without sequence', negativeSequence, {}, 'INVALID_RECORD'],
  [
    'a record without key in a compacted topic',
    () => buildBatch({ records: [record(NOW, null)] }),
    { compacts: true },
    'INVALID_RECORD',
  ],
  ['zstd in Produce 6', () => plain({ compression: 'zstd' }), {}, 'UNSUPPORTED_COMPRESSION_TYPE', 6],
  [
    'codec 6',
    () => patched(plain(), batch => batch.writeInt16BE(6, at.attributes)),
    {},
    'UNSUPPORTED_COMPRESSION_TYPE',
  ],
  ['gzip that is none', () => patched(plain(), batch => batch.writeInt16BE(1, at.attributes)), {}, 'INVALID_RECORD'],
  ['a timestamp too far ahead', () => plain(), { timestampAfterMaxMs: 4 }, 'INVALID_TIMESTAMP'],
  [
    'a timestamp too old',
    () => buildBatch({ records: [record(NOW - 2 * HOUR)] }),
    { timestampBeforeMaxMs: HOUR },
    'INVALID_TIMESTAMP',
  ],
  [
    'a batch that says it was stamped by a broker',
    () => plain({ logAppendTime: BigInt(NOW) }),
    { timestampType: 'LogAppendTime' },
    'INVALID_TIMESTAMP',
  ],
  [
    'a record over max.message.bytes once decompressed',
    () => buildBatch({ compression: 'gzip', records: [record(NOW, 'k', 'x'.repeat(5000))] }),
    { maxMessageBytes: 1000, compressionType: 'uncompressed' },
    'MESSAGE_TOO_LARGE',
  ],
]

for (const [what, records, settings, code, version] of refusals)
  test(`a client may not append ${what}: ${code}`, () => {
    const error = refusal(records(), settings, version)
    strictEqual(errorName(error.errorCode), code, error.message)
  })

test('a valid batch of every codec stays as it is', () => {
  for (const compression of compressionNames) {
    const batch = plain({ compression })
    const copy = Buffer.from(batch)
    const { bytes, header, logAppendTimeMs } = validate(batch)
    deepStrictEqual(bytes, copy)
    strictEqual(header.maxTimestamp, BigInt(NOW + 5))
    strictEqual(logAppendTimeMs, -1n)
  }
})

test('bytes of a second batch that was cut off are ignored', () => {
  const batch = plain()
  const { bytes } = validate(Buffer.concat([batch, plain().subarray(0, 30)]))
  deepStrictEqual(bytes, batch)
})

test('compression.type changes the codec and keeps records, producer and flags', () => {
  for (const source of compressionNames)
    for (const target of ['uncompressed', 'gzip', 'snappy', 'lz4', 'zstd'] as const) {
      const batch = plain({
        compression: source,
        producerId: 9n,
        producerEpoch: 2,
        baseSequence: 77,
        transactional: true,
      })
      const before = recordsOf(batch, readBatchHeader(batch, 0))
      const { bytes, header } = validate(batch, { compressionType: target })
      verifyBatch(bytes, header)
      strictEqual(compressionOf(header), target === 'uncompressed' ? 'none' : target)
      deepStrictEqual(recordsOf(bytes, header), before)
      deepStrictEqual([header.producerId, header.producerEpoch, header.baseSequence], [9n, 2, 77])
      strictEqual(header.attributes & attributeBit.transactional, attributeBit.transactional)
    }
})

test('the codec works at the level of the topic', () => {
  const value = Buffer.from(Array.from({ length: 20_000 }, (_, i) => `word${(i * i * 7919) % 1009} `).join(''))
  const batch = buildBatch({ records: [{ timestamp: BigInt(NOW), key: Buffer.from('k'), value }] })
  for (const compressionType of ['gzip', 'zstd'] as const) {
    const size = (level: number) => {
      const levels = { gzip: level, lz4: 9, zstd: level }
      const { bytes, header } = validate(Buffer.from(batch), { compressionType, compressionLevels: levels })
      strictEqual(recordsOf(bytes, header)[0]?.value?.equals(value), true)
      return bytes.length
    }
    ok(size(9) < size(1), compressionType)
  }
})

test('LogAppendTime stamps the batch with the time of the append', () => {
  for (const compressionType of ['producer', 'gzip'] as const) {
    const { bytes, header, logAppendTimeMs } = validate(buildBatch({ records: [record(5)] }), {
      timestampType: 'LogAppendTime',
      compressionType,
    })
    verifyBatch(bytes, readBatchHeader(bytes, 0))
    strictEqual(usesLogAppendTime(header), true)
    strictEqual(header.maxTimestamp, BigInt(NOW))
    strictEqual(logAppendTimeMs, BigInt(NOW))
    strictEqual(recordsOf(bytes, header)[0]?.timestamp, BigInt(NOW))
  }
})

test('the largest timestamp is written anew where the producer had it wrong', () => {
  const batch = patched(plain(), bytes => bytes.writeBigInt64BE(1n, at.maxTimestamp))
  const { bytes, header } = validate(batch)
  strictEqual(header.maxTimestamp, BigInt(NOW + 5))
  verifyBatch(bytes, readBatchHeader(bytes, 0))
})

test('wrong offset deltas of old clients are put right', () => {
  const batch = buildBatch({
    compression: 'gzip',
    records: [
      { ...record(NOW), offsetDelta: 0 },
      { ...record(NOW), offsetDelta: 5 },
    ],
  })
  patched(batch, bytes => bytes.writeInt32BE(1, at.lastOffsetDelta))
  const { bytes, header } = validate(batch)
  deepStrictEqual(
    recordsOf(bytes, header).map(({ offset }) => offset),
    [0, 1],
  )
})

test('records without timestamp are never out of bounds', () => {
  const batch = buildBatch({ records: [record(-1)] })
  strictEqual(validate(batch, { timestampBeforeMaxMs: 1 }).header.maxTimestamp, -1n)
})

test('the refusal names the records', () => {
  const records = [record(NOW), record(NOW + 2 * HOUR), record(NOW), record(NOW - HOUR, null)]
  const error = refusal(buildBatch({ records }), { compacts: true, timestampBeforeMaxMs: 10 })
  strictEqual(error.errorCode, ErrorCode.INVALID_TIMESTAMP)
  deepStrictEqual(
    error.recordErrors.map(({ batchIndex }) => batchIndex),
    [1, 3],
  )
})
