/** Snappy in both shapes that Kafka's clients send. */
import { deepEqual, equal, throws } from 'node:assert/strict'
import { test } from 'node:test'
import { compressSync } from 'snappy'
import { compressXerial, decompressSnappy } from './xerial-snappy.ts'

const MAX = 1 << 20
const text = Buffer.alloc(100_000, 'mirror topic ')
const FRAME_HEADER = '82534e41505059000000000100000001'

test('the frame is the one of snappy-java: magic, versions 1 and 1, blocks of 32 KiB', () => {
  const frame = compressXerial(text)
  equal(frame.subarray(0, 16).toString('hex'), FRAME_HEADER)
  let blocks = 0
  for (let position = 16; position < frame.length; position += 4 + frame.readInt32BE(position)) blocks++
  equal(blocks, Math.ceil(100_000 / 32_768))
  deepEqual(decompressSnappy(frame, MAX), text)
})

test('a raw block, as librdkafka sends it, is read', () => {
  deepEqual(decompressSnappy(compressSync(text), MAX), text)
})

test('two frames after each other are read as one', () => {
  deepEqual(
    decompressSnappy(Buffer.concat([compressXerial(text), compressXerial(text)]), MAX),
    Buffer.concat([text, text]),
  )
})

test('a frame without blocks is empty', () => {
  equal(decompressSnappy(compressXerial(Buffer.alloc(0)), MAX).length, 0)
})

test('an output over the bound is refused from the lengths alone', () => {
  throws(() => decompressSnappy(compressXerial(text), 99_999), { kind: 'too-large' })
  throws(() => decompressSnappy(compressSync(text), 99_999), { kind: 'too-large' })
  throws(() => decompressSnappy(Buffer.from('ffffffff0f00', 'hex'), MAX), { kind: 'too-large' })
  equal(decompressSnappy(compressXerial(text), 100_000).length, 100_000)
})

test('cut and impossible bytes are typed errors', () => {
  const frame = compressXerial(text)
  for (const bytes of [
    frame.subarray(0, 18),
    frame.subarray(0, frame.length - 1),
    Buffer.from(`${FRAME_HEADER}ffffffff`, 'hex'),
    Buffer.from(`${FRAME_HEADER}0000000100`, 'hex').subarray(0, 20),
    Buffer.from(''),
    Buffer.from('ffffffffffff', 'hex'),
    Buffer.from('0a01', 'hex'),
  ]) {
    throws(() => decompressSnappy(bytes, MAX), { name: 'BatchError', kind: 'decompression-failed' })
  }
})
