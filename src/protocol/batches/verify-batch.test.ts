/** Any change of a batch after its producer is found, and what no producer may write is refused. */
import { equal, throws } from 'node:assert/strict'
import { test } from 'node:test'
import { BatchError } from './batch-error.ts'
import { readBatchHeader } from './batch-header.ts'
import { at } from './batch-layout.ts'
import { buildBatch } from './build-batch.ts'
import { computeCrc, verifyBatch } from './verify-batch.ts'

const batch = buildBatch({
  baseOffset: 7,
  producerId: 5n,
  producerEpoch: 1,
  baseSequence: 3,
  records: [
    { timestamp: 100n, key: Buffer.from('key'), value: Buffer.from('value'), headers: [{ key: 'h', value: null }] },
    { timestamp: 101n, key: null, value: null },
  ],
})

const verify = (bytes: Buffer) => verifyBatch(bytes, readBatchHeader(bytes, 0))

test('every flipped bit behind the length is found, except in the fields that brokers stamp', () => {
  const stamped = (index: number) => index < at.batchLength || (index >= at.leaderEpoch && index < at.magic)
  for (let index = 0; index < batch.length; index++) {
    for (const bit of [1, 2, 4, 8, 16, 32, 64, 128]) {
      const bytes = Buffer.from(batch)
      bytes.writeUInt8(bytes.readUInt8(index) ^ bit, index)
      if (stamped(index)) continue
      throws(() => verify(bytes), BatchError, `bit ${bit} of byte ${index}`)
    }
  }
})

test('a stamped offset or epoch does not change the CRC', () => {
  const bytes = Buffer.from(batch)
  bytes.writeInt32BE(99, at.leaderEpoch)
  bytes.writeInt32BE(99, 4)
  verify(bytes)
  equal(computeCrc(bytes, 0, bytes.length), computeCrc(batch, 0, batch.length))
})

test('every cut is a typed error', () => {
  for (let length = 0; length < batch.length; length++) {
    throws(() => verify(batch.subarray(0, length)), { name: 'BatchError', kind: 'truncated' })
  }
})

test('the message of a CRC mismatch names the offset and both values', () => {
  const bytes = Buffer.from(batch)
  bytes.writeUInt32BE(0xab, at.crc)
  throws(() => verify(bytes), {
    kind: 'crc-mismatch',
    message: /offset 7: CRC is 0x[0-9a-f]{8}, the header says 0x000000ab/,
  })
})

test('counts that no batch can have are refused even with a right CRC', () => {
  for (const [position, value] of [
    [at.lastOffsetDelta, -1],
    [at.recordCount, -1],
    [at.recordCount, 3],
    [at.recordCount, 0x7fff_ffff],
  ] as const) {
    const bytes = Buffer.from(batch)
    bytes.writeInt32BE(value, position)
    bytes.writeUInt32BE(computeCrc(bytes, 0, bytes.length), at.crc)
    throws(() => verify(bytes), { kind: 'invalid-header' })
  }
  const far = Buffer.from(batch)
  far.writeBigInt64BE(2n ** 53n - 2n, 0)
  throws(() => verify(far), { kind: 'invalid-header' })
})

test('a header of another batch is noticed', () => {
  const other = buildBatch({ records: [{ timestamp: 0n, key: null, value: null }] })
  throws(() => verifyBatch(Buffer.concat([batch]), readBatchHeader(other, 0)), { kind: 'invalid-size' })
})
