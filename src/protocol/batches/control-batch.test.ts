/** End-transaction markers and the other control records. */
import { deepEqual, equal, throws } from 'node:assert/strict'
import { test } from 'node:test'
import { isControl, isTransactional, readBatchHeader } from './batch-header.ts'
import { buildBatch } from './build-batch.ts'
import { buildEndMarker, controlRecordsOf, decodeControlRecord } from './control-batch.ts'
import { verifyBatch } from './verify-batch.ts'

const controlBatch = (...records: [key: string, value: string][]) => {
  const bytes = buildBatch({
    control: true,
    records: records.map(([key, value]) => ({
      timestamp: 0n,
      key: Buffer.from(key, 'hex'),
      value: Buffer.from(value, 'hex'),
    })),
  })
  return { bytes, header: readBatchHeader(bytes, 0) }
}

test('a marker is a transactional control batch of one record that reads back', () => {
  for (const type of ['abort', 'commit'] as const) {
    const bytes = buildEndMarker({
      type,
      producerId: 2n ** 40n,
      producerEpoch: 4,
      coordinatorEpoch: 8,
      offset: 1234,
      timestamp: 99n,
      leaderEpoch: 3,
    })
    const header = readBatchHeader(bytes, 0)
    verifyBatch(bytes, header)
    deepEqual([isControl(header), isTransactional(header), header.recordCount], [true, true, 1])
    deepEqual(
      [header.producerId, header.producerEpoch, header.baseSequence, header.leaderEpoch, header.maxTimestamp],
      [2n ** 40n, 4, -1, 3, 99n],
    )
    deepEqual(decodeControlRecord(bytes, header), { type, offset: 1234, coordinatorEpoch: 8 })
  }
})

test('raft control records keep their value for the layer that knows it', () => {
  const { bytes, header } = controlBatch(['00000002', 'aa'], ['00000006', 'bb'], ['00000005', ''])
  deepEqual(controlRecordsOf(bytes, header), [
    { type: 'leader-change', offset: 0, value: Buffer.from([0xaa]) },
    { type: 'kraft-voters', offset: 1, value: Buffer.from([0xbb]) },
    { type: 'kraft-version', offset: 2, value: Buffer.alloc(0) },
  ])
})

test('a type of a newer Kafka and a longer key are no error', () => {
  const { bytes, header } = controlBatch(['00000063', ''], ['00010001ffff', '00010000000700'], ['0000ffff', ''])
  deepEqual(controlRecordsOf(bytes, header), [
    { type: 'unknown', typeNumber: 99, offset: 0 },
    { type: 'commit', offset: 1, coordinatorEpoch: 7 },
    { type: 'unknown', typeNumber: -1, offset: 2 },
  ])
})

test('an emptied control batch has no record', () => {
  const bytes = buildBatch({ control: true, transactional: true, lastOffsetDelta: 0, records: [] })
  equal(decodeControlRecord(bytes, readBatchHeader(bytes, 0)), undefined)
})

test('keys and values that are too short are typed errors', () => {
  for (const record of [
    ['', ''],
    ['0000', ''],
    ['ffff0000', '000000000001'],
    ['00000000', '0000'],
    ['00000001', 'ffff00000001'],
  ] as [string, string][]) {
    const { bytes, header } = controlBatch(record)
    throws(() => decodeControlRecord(bytes, header), { name: 'BatchError', kind: 'invalid-records' })
  }
})

test('a data batch is not read as control', () => {
  const bytes = buildBatch({ records: [{ timestamp: 0n, key: Buffer.alloc(4), value: Buffer.alloc(6) }] })
  throws(() => controlRecordsOf(bytes, readBatchHeader(bytes, 0)), { kind: 'invalid-records' })
})
