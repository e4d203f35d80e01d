/** What is left of single batches; whole logs are compared with Kafka's cleaner in a suite. */
import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { hasDeleteHorizon, readBatchHeader } from '../../protocol/batches/batch-header.ts'
import { type BatchInput, buildBatch } from '../../protocol/batches/build-batch.ts'
import { recordsOf } from '../../protocol/batches/records-of.ts'
import { type CleaningRules, cleanBatch } from './clean-batch.ts'

const record = (offsetDelta: number, key: string | null, value: string | null) => ({
  offsetDelta,
  timestamp: 5000n,
  key: key === null ? null : Buffer.from(key),
  value: value === null ? null : Buffer.from(value),
})

const rules: CleaningRules = {
  map: { latestOffset: 1000, offsetOf: () => -1 },
  transactions: { mayDiscard: () => false },
  lastRecords: new Map(),
  firstUncleanableOffset: 1001,
  deleteRetentionMs: 100,
  nowMs: 10_000,
}

function clean(input: BatchInput, more: Partial<CleaningRules> = {}) {
  const bytes = buildBatch({ baseOffset: 10, ...input })
  const cleaned = cleanBatch(bytes, readBatchHeader(bytes, 0), { ...rules, ...more })
  const header = cleaned.bytes && readBatchHeader(cleaned.bytes, 0)
  const records = cleaned.bytes && header ? recordsOf(cleaned.bytes, header).map(({ offset }) => offset) : undefined
  return { ...cleaned, header, records, same: cleaned.bytes?.equals(bytes) ?? false }
}

test('a tombstone gets its horizon at the first cleaning, and goes once that has passed', () => {
  const records = [record(0, 'a', 'x'), record(1, 'b', null)]
  const first = clean({ records })
  ok(first.header && hasDeleteHorizon(first.header))
  strictEqual(first.header.baseTimestamp, 10_100n)
  deepStrictEqual(first.records, [10, 11])
  deepStrictEqual(clean({ records, deleteHorizon: 10_100n }, { nowMs: 10_099 }).records, [10, 11])
  deepStrictEqual(clean({ records, deleteHorizon: 10_100n }, { nowMs: 10_100 }).records, [10])
  const never = clean({ records }, { deleteRetentionMs: Number('9223372036854775807') })
  strictEqual(never.header?.baseTimestamp, 2n ** 63n - 1n)
})

test('a record without key goes, one that was not indexed yet stays whatever it is', () => {
  const records = [record(0, null, 'x'), record(1, 'a', 'x'), record(2, null, 'x')]
  const { records: left, invalidRecords } = clean({ records }, { map: { ...rules.map, latestOffset: 11 } })
  deepStrictEqual([left, invalidRecords], [[11, 12], 1])
  ok(clean({ records }, { map: { ...rules.map, latestOffset: 9 } }).same)
})

test('a batch that loses all records stays where its end or its producer’s sequence is needed', () => {
  const input = { records: [record(0, 'a', 'x')], producerId: 7n, producerEpoch: 1, baseSequence: 4 }
  const superseded = { map: { latestOffset: 1000, offsetOf: () => 500 } }
  strictEqual(clean(input, superseded).bytes, undefined)
  const kept = clean(input, { ...superseded, lastRecords: new Map([[7n, { lastOffset: 10 }]]) })
  deepStrictEqual([kept.records, kept.header?.baseSequence, kept.header?.lastOffset], [[], 4, 10])
  strictEqual(clean(input, { ...superseded, lastRecords: new Map([[7n, { lastOffset: 11 }]]) }).bytes, undefined)
  deepStrictEqual(clean(input, { ...superseded, firstUncleanableOffset: 11 }).records, [])
})
