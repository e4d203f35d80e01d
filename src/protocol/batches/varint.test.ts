/** Numbers of the record format: sizes, bytes and the way back. */
import { deepEqual, equal, throws } from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { RecordCursor } from './record-cursor.ts'
import { varintSize, varlongSize, writeVarint, writeVarlong } from './varint.ts'

const varintBytes = (value: number) => {
  const buffer = Buffer.alloc(varintSize(value))
  equal(writeVarint(buffer, value, 0), buffer.length)
  return buffer
}

const varlongBytes = (value: bigint) => {
  const buffer = Buffer.alloc(varlongSize(value))
  equal(writeVarlong(buffer, value, 0), buffer.length)
  return buffer
}

test('known values have the zigzag bytes of Protocol Buffers', () => {
  deepEqual(
    [0, -1, 1, -2, 63, 64, 300, 2 ** 31 - 1, -(2 ** 31)].map(value => varintBytes(value).toString('hex')),
    ['00', '01', '02', '03', '7e', '8001', 'd804', 'feffffff0f', 'ffffffff0f'],
  )
  equal(varlongBytes(2n ** 63n - 1n).toString('hex'), 'feffffffffffffffff01')
  equal(varlongBytes(-(2n ** 63n)).toString('hex'), 'ffffffffffffffffff01')
})

test('every 32-bit and 64-bit number reads back', () => {
  fc.assert(
    fc.property(fc.integer(), fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), (small, large) => {
      equal(new RecordCursor(varintBytes(small)).varint(), small)
      equal(new RecordCursor(varlongBytes(large)).varlong(), large)
      equal(new RecordCursor(varlongBytes(BigInt(small))).varlong(), BigInt(small))
      deepEqual(varlongBytes(BigInt(small)), varintBytes(small))
    }),
  )
  for (let bit = 0n; bit < 63n; bit++) {
    for (const value of [2n ** bit, -(2n ** bit), 2n ** bit - 1n]) {
      equal(new RecordCursor(varlongBytes(value)).varlong(), value)
    }
  }
})

test('a number without end is refused', () => {
  throws(() => new RecordCursor(Buffer.alloc(20, 0xff)).varint(), { kind: 'invalid-records' })
  throws(() => new RecordCursor(Buffer.alloc(20, 0xff)).varlong(), { kind: 'invalid-records' })
  throws(() => new RecordCursor(Buffer.alloc(3, 0xff)).varint(), { kind: 'invalid-records' })
})
