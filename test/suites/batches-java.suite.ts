/** Record batches against Kafka's own classes: Java reads what we build, we read what Java builds, field by field. */
import { deepEqual, equal, rejects } from 'node:assert/strict'
import { after, before, test } from 'node:test'
import {
  type BatchHeader,
  compressionNames,
  compressionOf,
  hasDeleteHorizon,
  isControl,
  isTransactional,
  lastSequenceOf,
  usesLogAppendTime,
} from '../../src/protocol/batches/batch-header.ts'
import { batchesIn, completeBytes } from '../../src/protocol/batches/batch-iteration.ts'
import { type BatchInput, buildBatch } from '../../src/protocol/batches/build-batch.ts'
import { buildEndMarker, controlRecordsOf } from '../../src/protocol/batches/control-batch.ts'
import type { RecordInput } from '../../src/protocol/batches/record-encoder.ts'
import { recordsOf } from '../../src/protocol/batches/records-of.ts'
import { restampBatch } from '../../src/protocol/batches/restamp-batch.ts'
import { verifyBatch } from '../../src/protocol/batches/verify-batch.ts'
import { JavaDriver } from '../java/driver.ts'
import { skipWithoutJava } from '../kafka/jars.ts'

const skip = skipWithoutJava()
let java: JavaDriver

before(async () => {
  if (!skip) java = await JavaDriver.start({ version: '4.3.1' })
})
after(async () => {
  if (!skip) await java.close()
})

for (const compression of compressionNames) {
  for (const [name, input] of Object.entries(inputs(compression))) {
    test(`Java reads our batch: ${compression}, ${name}`, { skip }, async () => {
      const bytes = buildBatch(input)
      deepEqual(await readByJava(bytes), readByUs(bytes))
    })

    test(`we read the batch that Java builds: ${compression}, ${name}`, { skip }, async () => {
      const bytes = await writtenByJava([recordsSpec(input)])
      const ours = buildBatch(input)
      deepEqual(readByUs(bytes), await readByJava(bytes))
      deepEqual(recordsAndFlags(bytes), recordsAndFlags(ours))
      if (compression === 'none') deepEqual(bytes, ours)
    })
  }
}

test('several batches of all codecs in one buffer read the same, a partial one at the end is left out', {
  skip,
}, async () => {
  const batches = compressionNames.map((compression, index) =>
    buildBatch({ compression, baseOffset: index * 100, leaderEpoch: index, records: smallRecords() }),
  )
  const whole = Buffer.concat(batches)
  const cut = Buffer.concat([whole, buildBatch({ records: smallRecords() }).subarray(0, 70)])
  deepEqual(await readByJava(cut), readByUs(cut))
  equal(completeBytes(cut), whole.length)
})

test('our end markers are the bytes that Java writes', { skip }, async () => {
  for (const type of ['abort', 'commit'] as const) {
    const marker = {
      producerId: 2 ** 40,
      producerEpoch: 7,
      coordinatorEpoch: 12,
      leaderEpoch: 5,
      timestamp: 1_700_000_000_123,
    }
    const bytes = await writtenByJava([{ kind: 'marker', type: type.toUpperCase(), baseOffset: 2 ** 33, ...marker }])
    const ours = buildEndMarker({
      ...marker,
      type,
      offset: 2 ** 33,
      producerId: BigInt(marker.producerId),
      timestamp: BigInt(marker.timestamp),
    })
    deepEqual(ours, bytes)
    deepEqual(readByUs(bytes), await readByJava(bytes))
    const [read] = [...batchesIn(bytes)].map(header => controlRecordsOf(bytes, header))
    deepEqual(read, [{ type, offset: 2 ** 33, coordinatorEpoch: 12 }])
  }
})

test('every raft control record has the type that Java gave it', { skip }, async () => {
  const kinds = ['leader-change', 'snapshot-header', 'snapshot-footer', 'kraft-version', 'kraft-voters']
  const bytes = await writtenByJava(
    kinds.map((kind, index) => ({ kind, baseOffset: index, timestamp: 99, leaderEpoch: 3 })),
  )
  const read = [...batchesIn(bytes)].flatMap(header => controlRecordsOf(bytes, header))
  deepEqual(
    read.map(record => record.type),
    kinds,
  )
  deepEqual(readByUs(bytes), await readByJava(bytes))
})

test('an empty batch as the cleaner keeps it is the bytes that Java writes', { skip }, async () => {
  const common = { producerEpoch: 3, baseSequence: 40, baseOffset: 500, leaderEpoch: 6, transactional: true }
  const bytes = await writtenByJava([{ kind: 'empty', ...common, producerId: 77, lastOffset: 509, timestamp: 1234 }])
  const ours = buildBatch({ ...common, producerId: 77n, lastOffsetDelta: 9, emptyBatchTimestamp: 1234n, records: [] })
  deepEqual(ours, bytes)
  deepEqual(readByUs(bytes), await readByJava(bytes))
})

test('Java accepts a restamped batch and sees the new offset, epoch and append time', { skip }, async () => {
  for (const compression of compressionNames) {
    const bytes = buildBatch({ compression, records: smallRecords() })
    restampBatch(bytes, 0, {
      baseOffset: 2 ** 45 + 1,
      leaderEpoch: 19,
      maxTimestamp: { timestamp: 5_000_000_000_000n, type: 'append' },
    })
    const read = readByUs(bytes)
    deepEqual(await readByJava(bytes), read)
    equal(read.batches[0]?.['baseOffset'], 2 ** 45 + 1)
    equal(read.batches[0]?.['logAppendTime'], true)
  }
})

test('Java refuses a flipped bit as we do', { skip }, async () => {
  const bytes = buildBatch({ records: smallRecords() })
  bytes.writeUInt8(bytes.readUInt8(70) ^ 4, 70)
  await rejects(readByJava(bytes), { name: 'JavaError', javaClass: 'CorruptRecordException' })
})

/** One of each kind that the format can express. */
function inputs(compression: (typeof compressionNames)[number]): Record<string, BatchInput> {
  return {
    'plain records with null keys, null values and headers': { compression, records: smallRecords() },
    'large compressible values over many blocks': {
      compression,
      records: [300_000, 1, 0, 700_000].map((size, index) => record(index, Buffer.alloc(size, `lockstep-${index} `))),
    },
    'large random values over many blocks': {
      compression,
      records: [32 * 1024, 64 * 1024, 400_000].map((size, index) => record(index, noise(size))),
    },
    'ten thousand tiny records': {
      compression,
      records: Array.from({ length: 10_000 }, (_, index) => record(index, Buffer.from(String(index)))),
    },
    'idempotent and transactional with a wrapping sequence': {
      compression,
      baseOffset: 2 ** 31,
      leaderEpoch: 8,
      producerId: 4_000_000_000n,
      producerEpoch: 32_767,
      baseSequence: 0x7fff_fffe,
      transactional: true,
      records: smallRecords(),
    },
    'holes after cleaning and a delete horizon': {
      compression,
      baseOffset: 1000,
      lastOffsetDelta: 5000,
      deleteHorizon: 1_800_000_000_000n,
      records: [3, 4, 900].map(offsetDelta => ({ ...record(offsetDelta, Buffer.from('kept')), offsetDelta })),
    },
    'log append time': { compression, logAppendTime: 1_650_000_000_000n, records: smallRecords() },
    'timestamps from 1970 to the far future': {
      compression,
      records: [0n, 1n, 9_007_199_254_740_993n, 2n ** 62n, 86_400_000n].map(timestamp => ({
        timestamp,
        key: null,
        value: Buffer.from('t'),
      })),
    },
  }
}

function record(index: number, value: Buffer): RecordInput {
  return { timestamp: 1_700_000_000_000n + BigInt(index), key: Buffer.from(`key-${index}`), value }
}

function smallRecords(): RecordInput[] {
  return [
    { timestamp: 1_700_000_000_500n, key: null, value: Buffer.from('value') },
    { timestamp: 1_700_000_000_100n, key: Buffer.from('key'), value: null },
    {
      timestamp: 1_700_000_000_900n,
      key: Buffer.alloc(0),
      value: Buffer.alloc(0),
      headers: [{ key: '', value: null }],
    },
    {
      timestamp: 1_700_000_000_000n,
      key: Buffer.from([0, 0xff]),
      value: Buffer.alloc(200, 1),
      headers: [
        { key: 'schlüssel-キー-🔑', value: Buffer.alloc(0) },
        { key: 'same', value: Buffer.from([1]) },
        { key: 'same', value: Buffer.from([2]) },
      ],
    },
  ]
}

/** Bytes that no codec shrinks; the same on every run. */
function noise(size: number): Buffer {
  const bytes = Buffer.allocUnsafe(size)
  let state = 0x2545_f491
  for (let index = 0; index < size; index++) {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    bytes[index] = state & 0xff
  }
  return bytes
}

interface Reading {
  readonly validBytes: number
  readonly batches: readonly Record<string, unknown>[]
}

const readByJava = (bytes: Buffer): Promise<Reading> => java.call('batch-read', { bytes: bytes.toString('base64') })

async function writtenByJava(batches: object[]): Promise<Buffer> {
  const { bytes } = await java.call<{ bytes: string }>('batch-write', { batches })
  return Buffer.from(bytes, 'base64')
}

/** What the batch-write command needs to build the same batch. */
function recordsSpec(input: BatchInput): object {
  const { records, lastOffsetDelta, ...rest } = input
  const baseOffset = input.baseOffset ?? 0
  return {
    kind: 'records',
    ...Object.fromEntries(
      Object.entries(rest).map(([key, value]) => [key, typeof value === 'bigint' ? String(value) : value]),
    ),
    ...(lastOffsetDelta === undefined ? {} : { lastOffset: baseOffset + lastOffsetDelta }),
    records: records.map((record, index) => ({
      offset: baseOffset + (record.offsetDelta ?? index),
      ...asText(record),
    })),
  }
}

/** The same shape as the batch-read command's answer. */
function readByUs(bytes: Buffer): Reading {
  const batches = [...batchesIn(bytes)].map(header => {
    verifyBatch(bytes, header)
    return {
      sizeBytes: header.sizeBytes,
      baseOffset: header.baseOffset,
      lastOffset: header.lastOffset,
      leaderEpoch: header.leaderEpoch,
      magic: header.magic,
      crc: header.crc,
      ...flagsOf(header),
      baseTimestamp: String(header.baseTimestamp),
      maxTimestamp: String(header.maxTimestamp),
      producerId: String(header.producerId),
      producerEpoch: header.producerEpoch,
      baseSequence: header.baseSequence,
      lastSequence: lastSequenceOf(header),
      recordCount: header.recordCount,
      records: recordsOf(bytes, header).map(record => ({ offset: record.offset, ...asText(record) })),
      controls: isControl(header) ? controlRecordsOf(bytes, header).map(asControl) : [],
    }
  })
  return { validBytes: completeBytes(bytes), batches }
}

const flagsOf = (header: BatchHeader) => ({
  compression: compressionOf(header),
  logAppendTime: usesLogAppendTime(header),
  transactional: isTransactional(header),
  control: isControl(header),
  deleteHorizon: hasDeleteHorizon(header),
})

const asControl = (record: ReturnType<typeof controlRecordsOf>[number]) => ({
  type: record.type.toUpperCase().replace('-', '_'),
  coordinatorEpoch: 'coordinatorEpoch' in record ? record.coordinatorEpoch : -1,
})

const asText = (record: RecordInput) => ({
  timestamp: String(record.timestamp),
  key: record.key?.toString('base64') ?? null,
  value: record.value?.toString('base64') ?? null,
  headers: (record.headers ?? []).map(({ key, value }) => ({ key, value: value?.toString('base64') ?? null })),
})

/** What must be equal whichever side compressed: all but size and CRC. */
function recordsAndFlags(bytes: Buffer): object[] {
  return readByUs(bytes).batches.map(({ sizeBytes: _size, crc: _crc, ...rest }) => rest)
}
