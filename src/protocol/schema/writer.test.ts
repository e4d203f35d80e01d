/** Growing, splicing and the range checks of the writer. */
import { deepStrictEqual, ok, strictEqual, throws } from 'node:assert/strict'
import { test } from 'node:test'
import { EncodeError } from './codec-errors.ts'
import { Writer } from './writer.ts'

test('a writer grows and keeps what was written', () => {
  const w = new Writer()
  for (let i = 0; i < 1000; i++) w.int32(i)
  const bytes = w.toBuffer()
  strictEqual(bytes.length, 4000)
  for (let i = 0; i < 1000; i++) strictEqual(bytes.readInt32BE(i * 4), i)
})

test('every way to write works at the moment the buffer grows', () => {
  const ways: ((w: Writer) => void)[] = [
    w => w.int8(1),
    w => w.bool(true),
    w => w.int16(1),
    w => w.uint16(1),
    w => w.int32(1),
    w => w.uint32(1),
    w => w.int64(1n),
    w => w.float64(1),
    w => w.uvarint(300),
    w => w.uuid('AAAAAAAAAAAAAAAAAAAAAQ'),
    w => w.string('ab'),
    w => w.raw(Buffer.from('ab')),
  ]
  for (const write of ways) {
    const alone = new Writer()
    write(alone)
    for (let filled = 240; filled <= 256; filled++) {
      const w = new Writer()
      w.raw(Buffer.alloc(filled, 9))
      write(w)
      deepStrictEqual(w.toBuffer(), Buffer.concat([Buffer.alloc(filled, 9), alone.toBuffer()]))
    }
  }
})

test('spliced buffers keep their place between written parts, also inside a sized child', () => {
  const large = Buffer.alloc(100, 1)
  const w = new Writer(100)
  w.int8(1)
  w.raw(large)
  const child = w.child()
  child.int8(2)
  child.raw(large)
  child.raw(Buffer.alloc(99, 3))
  w.sized(child)
  w.int8(4)
  const chunks = w.toChunks()
  strictEqual(chunks.filter(chunk => chunk === large).length, 2)
  const whole = Buffer.concat(chunks)
  strictEqual(whole.length, w.sizeBytes)
  deepStrictEqual(
    whole,
    Buffer.concat([Buffer.from([1]), large, Buffer.from([200, 1, 2]), large, Buffer.alloc(99, 3), Buffer.from([4])]),
  )
})

test('values that do not fit their type are refused', () => {
  const refused: ((w: Writer) => void)[] = [
    w => w.int8(-129),
    w => w.int16(32_768),
    w => w.uint16(-1),
    w => w.int32(2 ** 31),
    w => w.uint32(2 ** 32),
    w => w.int64(5 as never),
    w => w.int64(2n ** 63n),
    w => w.float64('1' as never),
    w => w.uvarint(-1),
    w => w.uvarint(2 ** 31),
    w => w.uuid('AAAA'),
    w => w.int32(Number.NaN),
    w => w.int32(undefined as never),
  ]
  for (const write of refused) {
    const w = new Writer()
    throws(() => write(w), EncodeError)
    ok(w.sizeBytes <= 16)
  }
})
