/** The scan agrees with the record decoder on everything that it sums up, and refuses what the decoder refuses. */
import { deepStrictEqual, strictEqual, throws } from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { readBatchHeader } from '../protocol/batches/batch-header.ts'
import { recordBytesOf } from '../protocol/batches/batch-iteration.ts'
import { buildBatch } from '../protocol/batches/build-batch.ts'
import { MalformedRecords, scanRecords } from './record-scan.ts'

const bytes = fc.option(
  fc.uint8Array({ maxLength: 40 }).map(array => Buffer.from(array)),
  { nil: null },
)
const record = fc.record({
  timestamp: fc.oneof(fc.bigInt({ min: 0n, max: 1n << 42n }), fc.bigInt({ min: -(1n << 62n), max: 1n << 62n })),
  key: bytes,
  value: bytes,
  headers: fc.array(fc.record({ key: fc.string({ maxLength: 5 }), value: bytes }), { maxLength: 3 }),
  gap: fc.constantFrom(0, 0, 0, 1, 70_000),
})

function batchOf(records: readonly { timestamp: bigint; gap: number; key: Buffer | null; value: Buffer | null }[]) {
  let offsetDelta = -1
  return buildBatch({
    records: records.map(({ gap, ...rest }) => {
      offsetDelta += 1 + gap
      return { ...rest, offsetDelta }
    }),
  })
}

test('the scan sums up what is in the records', () => {
  fc.assert(
    fc.property(fc.array(record, { minLength: 1, maxLength: 8 }), records => {
      const batch = batchOf(records)
      const header = readBatchHeader(batch, 0)
      const scan = scanRecords(recordBytesOf(batch, header), header.recordCount)
      const timestamps = records.map(({ timestamp }) => timestamp)
      const sorted = timestamps.sort((a, b) => (a < b ? -1 : 1))
      strictEqual(header.baseTimestamp + BigInt(scan.minTimestampDelta), sorted[0])
      strictEqual(header.baseTimestamp + BigInt(scan.maxTimestampDelta), sorted.at(-1))
      strictEqual(
        scan.consecutive,
        records.every(({ gap }) => gap === 0),
      )
      strictEqual(
        scan.everyRecordHasKey,
        records.every(({ key }) => key !== null),
      )
    }),
    { numRuns: 200 },
  )
})

test('cut or changed bytes are refused, never read past their end', () => {
  fc.assert(
    fc.property(fc.array(record, { minLength: 1, maxLength: 4 }), fc.nat(), (records, position) => {
      const batch = batchOf(records)
      const plain = recordBytesOf(batch, readBatchHeader(batch, 0))
      throws(() => scanRecords(plain.subarray(0, position % plain.length), records.length), MalformedRecords)
      throws(() => scanRecords(plain, records.length - 1), MalformedRecords)
      throws(() => scanRecords(plain, records.length + 1), MalformedRecords)
    }),
    { numRuns: 200 },
  )
})

test('random bytes end in a typed error or a scan', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 64 }), fc.integer({ min: 0, max: 5 }), (random, count) => {
      try {
        scanRecords(Buffer.from(random), count)
      } catch (error) {
        strictEqual(error instanceof MalformedRecords, true)
      }
    }),
    { numRuns: 2000 },
  )
})

test('each record is shown with its place', () => {
  const batch = buildBatch({
    records: [
      { timestamp: 10n, key: Buffer.from('k'), value: null },
      { timestamp: 7n, key: null, value: Buffer.from('v') },
    ],
  })
  const seen: unknown[] = []
  scanRecords(recordBytesOf(batch, readBatchHeader(batch, 0)), 2, found => seen.push(found))
  deepStrictEqual(seen, [
    { index: 0, timestampDelta: 0, offsetDelta: 0, hasKey: true },
    { index: 1, timestampDelta: -3, offsetDelta: 1, hasKey: false },
  ])
})
