/** Every message in every version: round trips, and input that is cut, mutated or lies about its lengths. */
import { deepStrictEqual, ok, strictEqual, throws } from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { test } from 'node:test'
import { type Random, seededRandom } from '../core/random.ts'
import { everyMessageVersion, type MessageVersion } from './fakes/every-message.ts'
import { randomValue } from './fakes/random-value.ts'
import { DecodeError } from './schema/codec-errors.ts'

/** Runs the body with a fresh seed and names the seed and the message when it fails. */
function forEveryVersion(body: (random: Random, shape: MessageVersion) => void): void {
  const seed = randomInt(2 ** 32)
  for (const [index, shape] of everyMessageVersion.entries()) {
    try {
      body(seededRandom(seed + index), shape)
    } catch (error) {
      throw new Error(`${shape.name} v${shape.version}, seed ${seed}`, { cause: error })
    }
  }
}

test('there are tables for all messages of Kafka 4.3', () => {
  ok(everyMessageVersion.length > 600, `${everyMessageVersion.length}`)
})

test('every message in every version decodes to what was encoded, and encodes to the same bytes again', () => {
  forEveryVersion((random, shape) => {
    for (let round = 0; round < 4; round++) {
      const value = randomValue(random, shape)
      const bytes = shape.message.encode(value, shape.version)
      const decoded = shape.message.decode(bytes, shape.version)
      deepStrictEqual(decoded, value)
      deepStrictEqual(shape.message.encode(decoded, shape.version), bytes)
      deepStrictEqual(Buffer.concat(shape.message.encodeChunks(value, shape.version)), bytes)
    }
  })
})

test('every message that is cut anywhere is refused, though more bytes follow in memory', () => {
  forEveryVersion((random, shape) => {
    const bytes = shape.message.encode(randomValue(random, shape), shape.version)
    const step = Math.max(1, Math.floor(bytes.length / 16))
    for (let length = bytes.length - 1; length >= 0; length -= step) {
      throws(() => shape.message.decode(bytes.subarray(0, length), shape.version), DecodeError)
    }
  })
})

test('every message with bytes too many is refused', () => {
  forEveryVersion((random, shape) => {
    const bytes = shape.message.encode(randomValue(random, shape), shape.version)
    throws(
      () => shape.message.decode(Buffer.concat([bytes, Buffer.from([0])]), shape.version),
      (error: unknown) => error instanceof DecodeError && error.kind === 'trailing',
    )
  })
})

test('damaged input of any message gives a value or a DecodeError, nothing else', () => {
  forEveryVersion((random, shape) => {
    const bytes = shape.message.encode(randomValue(random, shape), shape.version)
    for (let round = 0; round < 12; round++) {
      const damaged = damage(random, bytes)
      try {
        shape.message.decode(damaged, shape.version)
      } catch (error) {
        if (!(error instanceof DecodeError)) throw error
        ok(error.position <= damaged.length)
      }
    }
  })
})

test('input of nothing but the largest lengths and counts is refused without allocating for them', () => {
  const before = process.memoryUsage().arrayBuffers
  forEveryVersion((_random, shape) => {
    for (const filler of [[0x7f, 0xff, 0xff, 0xff], [0xff, 0xff, 0xff, 0xff, 0x07], [0x80, 0, 0, 0], [0xff]]) {
      const input = Buffer.alloc(64, Buffer.from(filler))
      throws(() => shape.message.decode(input, shape.version), DecodeError)
    }
  })
  ok(process.memoryUsage().arrayBuffers - before < 64 << 20)
})

test('a version outside the table is refused in both directions', () => {
  forEveryVersion((random, shape) => {
    const { max } = shape.message.versions
    if (shape.version !== max) return
    const value = randomValue(random, shape)
    throws(() => shape.message.decode(Buffer.alloc(0), max + 1), { name: 'DecodeError', kind: 'unsupported-version' })
    throws(() => shape.message.encode(value, max + 1), { name: 'EncodeError', kind: 'unsupported-version' })
    throws(() => shape.message.encode(value, -1), { name: 'EncodeError', kind: 'unsupported-version' })
    strictEqual(Number.isInteger(max), true)
  })
})

/** Flips bytes, or writes an extreme length somewhere. */
function damage(random: Random, bytes: Buffer): Buffer {
  const damaged = Buffer.from(bytes)
  const at = Math.floor(random() * damaged.length)
  if (random() < 0.5) damaged.fill(random() < 0.5 ? 0xff : 0x7f, at, Math.min(at + 4, damaged.length))
  else if (damaged.length > 0) damaged[at] = Math.floor(random() * 256)
  return damaged
}
