/** The memory of large frames: used again, bounded, given back to the system when nobody needs it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ManualClock, systemClock } from '../core/clock.ts'
import { MetadataApi } from '../protocol/messages/03-metadata.ts'
import { BrokerConnection } from './broker-connection.ts'
import { frameOf } from './fakes/raw-client.ts'
import { answerVersions, startRaw } from './fakes/raw-server.ts'
import { FrameBuffers } from './frame-buffers.ts'

const MIB = 1024 * 1024
const idleTimeMs = 10_000
const EMPTY = Buffer.alloc(0)

test('memory that was given back is taken again, the latest first, and only once', () => {
  const frames = new FrameBuffers({ idleBytesMax: 8 * MIB, clock: new ManualClock() })
  const [first, second] = [frames.take(MIB), frames.take(MIB - 5)]
  assert.notEqual(first.buffer, second.buffer)
  frames.give(first)
  frames.give(second.subarray(100, 200))
  frames.give(second)
  assert.equal(frames.idleBytes, 2 * MIB)
  const again = frames.take(MIB - 1)
  assert.equal(again.buffer, second.buffer)
  assert.equal(again.length, MIB - 1)
  assert.equal(frames.take(MIB).buffer, first.buffer)
  assert.equal(frames.idleBytes, 0)
})

test('small buffers and those of others are left alone', () => {
  const frames = new FrameBuffers({ idleBytesMax: 8 * MIB, clock: new ManualClock() })
  frames.give(frames.take(1000))
  frames.give(Buffer.alloc(MIB))
  assert.equal(frames.idleBytes, 0)
})

test('of more than the bound the oldest goes', () => {
  const frames = new FrameBuffers({ idleBytesMax: 3 * MIB, clock: new ManualClock() })
  const buffers = [frames.take(2 * MIB), frames.take(2 * MIB), frames.take(MIB)] as const
  for (const buffer of buffers) frames.give(buffer)
  assert.equal(frames.idleBytes, 3 * MIB)
  assert.equal(frames.take(2 * MIB).buffer, buffers[1].buffer)
})

test('memory fits frames that are somewhat smaller, not much smaller ones', () => {
  const frames = new FrameBuffers({ idleBytesMax: 8 * MIB, clock: new ManualClock() })
  const large = frames.take(2 * MIB - 1)
  assert.equal(large.buffer.byteLength, 2 * MIB)
  frames.give(large)
  assert.notEqual(frames.take(MIB - 1).buffer, large.buffer)
  assert.equal(frames.take(MIB).buffer, large.buffer)
})

test('memory that nobody takes is given back to the system after a while', async () => {
  const clock = new ManualClock()
  const frames = new FrameBuffers({ idleBytesMax: 8 * MIB, clock })
  frames.give(frames.take(MIB))
  await clock.advance(idleTimeMs)
  frames.give(frames.take(MIB))
  await clock.advance(idleTimeMs)
  assert.equal(frames.idleBytes, MIB)
  await clock.advance(idleTimeMs)
  assert.equal(frames.idleBytes, 0)
  assert.equal(clock.pending, 0)
})

test('answers are read into memory of the pool, whole, and into the same memory once they were released', async t => {
  const answers = [Buffer.alloc(3 * MIB, 'a'), Buffer.alloc(3 * MIB, 'b'), Buffer.alloc(100, 'c')]
  let asked = 0
  const port = await startRaw(t, (frame, socket) => {
    if (frame.readInt16BE(0) === MetadataApi.key) socket.write(frameOf(frame.subarray(4, 8), answers[asked++] ?? EMPTY))
    else answerVersions(frame, socket)
  })
  const frames = new FrameBuffers({ idleBytesMax: 8 * MIB, clock: new ManualClock() })
  const times = { connectTimeoutMs: 5000, requestTimeoutMs: 5000 }
  const target = { host: '127.0.0.1', port, clientId: 'test' }
  const connection = await BrokerConnection.connect({ ...target, ...times, clock: systemClock, frames })
  t.after(() => connection.close())
  const rawMetadata = { request: MetadataApi.request, response: { decode: (bytes: Buffer) => bytes } }
  const memories: ArrayBufferLike[] = []
  for (const expected of answers) {
    const { response, release } = await connection.send(rawMetadata, { topics: [] }, { version: 1 })
    assert.ok(response.equals(expected))
    memories.push(response.buffer)
    release()
  }
  assert.equal(memories[1], memories[0])
  assert.notEqual(memories[2], memories[0])
})
