/** Kafka's primitive encodings, and the refusals of the reader. */
import { deepStrictEqual, strictEqual, throws } from 'node:assert/strict'
import { test } from 'node:test'
import { randomUuid, ZERO_UUID } from '../../core/uuid.ts'
import { EMPTY_BYTES, Reader } from './reader.ts'
import { Writer } from './writer.ts'

const reader = (hex: string): Reader => new Reader(Buffer.from(hex, 'hex'))

test('what the writer writes the reader reads', () => {
  const uuid = randomUuid()
  const w = new Writer()
  w.int8(-128)
  w.bool(true)
  w.int16(-32_768)
  w.uint16(65_535)
  w.int32(-(2 ** 31))
  w.uint32(2 ** 32 - 1)
  w.int64(-(2n ** 63n))
  w.float64(0.1)
  w.uuid(uuid)
  w.uuid(ZERO_UUID)
  w.string('größe')
  w.compactNullableString(null)
  w.bytes(Buffer.from('ab'))
  w.compactNullableBytes(null)
  const r = new Reader(w.toBuffer())
  deepStrictEqual(
    [r.int8(), r.bool(), r.int16(), r.uint16(), r.int32(), r.uint32(), r.int64(), r.float64(), r.uuid(), r.uuid()],
    [-128, true, -32_768, 65_535, -(2 ** 31), 2 ** 32 - 1, -(2n ** 63n), 0.1, uuid, ZERO_UUID],
  )
  strictEqual(r.string(), 'größe')
  strictEqual(r.compactNullableString(), null)
  strictEqual(r.bytes().toString(), 'ab')
  strictEqual(r.compactNullableBytes(), null)
  r.expectEnd()
})

test('varints of every length up to 31 bits round-trip', () => {
  for (const value of [0, 1, 127, 128, 16_383, 16_384, 2_097_151, 2_097_152, 268_435_455, 268_435_456, 2 ** 31 - 1]) {
    const w = new Writer()
    w.uvarint(value)
    const r = new Reader(w.toBuffer())
    strictEqual(r.uvarint(), value)
    strictEqual(r.remaining, 0)
  }
})

test('a varint above 31 bits or without an end is refused', () => {
  throws(() => reader('ffffffff0f').uvarint(), { kind: 'malformed' })
  throws(() => reader('808080808001').uvarint(), { kind: 'malformed' })
  throws(() => reader('8080').uvarint(), { kind: 'truncated', position: 2 })
})

test('negative lengths are malformed, minus one is null only where null may be', () => {
  throws(() => reader('ffff').string(), { kind: 'malformed' })
  strictEqual(reader('ffff').nullableString(), null)
  throws(() => reader('fffe').nullableString(), { kind: 'malformed' })
  throws(() => reader('ffffffff').bytes(), { kind: 'malformed' })
  throws(() => reader('fffffffe').nullableBytes(), { kind: 'malformed' })
  throws(() => reader('ffffffff').count(1), { kind: 'malformed' })
  strictEqual(reader('ffffffff').nullableCount(1), -1)
  throws(() => reader('fffffffe').nullableCount(1), { kind: 'malformed' })
  throws(() => reader('00').compactString(), { kind: 'malformed' })
  throws(() => reader('00').compactCount(1), { kind: 'malformed' })
})

test('a length or count beyond the input is refused before anything is allocated', () => {
  throws(() => reader('7fffffff00').bytes(), { kind: 'truncated' })
  throws(() => reader('7fff').string(), { kind: 'truncated' })
  throws(() => reader('7fffffff00').count(1), { kind: 'truncated' })
  throws(() => reader('0000000200000000').count(4), { kind: 'truncated' })
  strictEqual(reader('000000010000000000').count(4), 1)
  throws(() => reader('ffffffff07').compactCount(1), { kind: 'truncated' })
})

test('a string above 32767 bytes is refused as Kafka does', () => {
  const w = new Writer()
  w.uvarint(32_769)
  w.raw(Buffer.alloc(32_768, 0x61))
  throws(() => new Reader(w.toBuffer()).compactString(), { kind: 'malformed' })
})

test('a reader with an end of its own does not see what follows', () => {
  const r = new Reader(Buffer.from('0000000100000002', 'hex'), 2, 6)
  strictEqual(r.int32(), 65_536)
  throws(() => r.int8(), { kind: 'truncated' })
})

test('empty bytes share one buffer', () => {
  strictEqual(reader('00000000').bytes(), EMPTY_BYTES)
})
