/** What a broker may change in place, and what stays. */
import { deepEqual, equal, notEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { readBatchHeader, usesLogAppendTime } from './batch-header.ts'
import { CRC_COVERS_FROM } from './batch-layout.ts'
import { buildBatch } from './build-batch.ts'
import { recordsOf } from './records-of.ts'
import { restampBatch } from './restamp-batch.ts'
import { verifyBatch } from './verify-batch.ts'

const records = [10n, 30n, 20n].map(timestamp => ({ timestamp, key: null, value: Buffer.from('v') }))

test('offset and epoch change without touching anything that the CRC covers', () => {
  const before = buildBatch({ records, compression: 'zstd' })
  const after = Buffer.concat([Buffer.alloc(5), before])
  restampBatch(after, 5, { baseOffset: 2 ** 50, leaderEpoch: 12 })
  const header = readBatchHeader(after, 5)
  verifyBatch(after, header)
  deepEqual([header.baseOffset, header.leaderEpoch], [2 ** 50, 12])
  deepEqual(after.subarray(5 + CRC_COVERS_FROM), before.subarray(CRC_COVERS_FROM))
  deepEqual(
    recordsOf(after, header).map(record => record.offset - 2 ** 50),
    [0, 1, 2],
  )
})

test('append time replaces every timestamp and the CRC follows', () => {
  const bytes = buildBatch({ records })
  const crc = readBatchHeader(bytes, 0).crc
  restampBatch(bytes, 0, { maxTimestamp: { timestamp: 99n, type: 'append' } })
  const header = readBatchHeader(bytes, 0)
  verifyBatch(bytes, header)
  notEqual(header.crc, crc)
  equal(usesLogAppendTime(header), true)
  deepEqual(
    recordsOf(bytes, header).map(record => record.timestamp),
    [99n, 99n, 99n],
  )
})

test('create time gives the records their own timestamps back', () => {
  const bytes = buildBatch({ records, logAppendTime: 99n })
  restampBatch(bytes, 0, { maxTimestamp: { timestamp: 30n, type: 'create' } })
  deepEqual(bytes, buildBatch({ records }))
})

test('a stamp that changes nothing leaves the bytes alone', () => {
  const bytes = buildBatch({ records })
  const before = Buffer.from(bytes)
  restampBatch(bytes, 0, {})
  restampBatch(bytes, 0, { baseOffset: 0, leaderEpoch: -1, maxTimestamp: { timestamp: 30n, type: 'create' } })
  deepEqual(bytes, before)
})
