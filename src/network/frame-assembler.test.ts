/** Frames cut out of byte streams, however they arrive. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { FrameAssembler, FrameError } from './frame-assembler.ts'

const frameOf = (body: Uint8Array): Buffer => {
  const prefix = Buffer.alloc(4)
  prefix.writeInt32BE(body.length)
  return Buffer.concat([prefix, body])
}

/** Feeds the pieces and collects the frames; each piece is overwritten afterwards when the assembler must copy. */
function assemble(pieces: readonly Buffer[], options: { mayAlias: boolean; allocateAtOnceBytesMax: number }): Buffer[] {
  const assembler = new FrameAssembler({ frameBytesMax: 1000, ...options })
  const frames: Buffer[] = []
  for (const original of pieces) {
    const piece = Buffer.from(original)
    for (let at = 0; at < piece.length; ) {
      at = assembler.push(piece, at)
      const frame = assembler.take()
      if (frame) frames.push(frame)
    }
    if (!options.mayAlias) piece.fill(0xee)
  }
  assert.equal(assembler.pendingBytes, 0)
  return frames
}

const cut = (stream: Buffer, cuts: readonly number[]): Buffer[] => {
  const ends = [...new Set(cuts.map(cut => cut % (stream.length + 1))), stream.length].sort((a, b) => a - b)
  return ends.map((end, i) => stream.subarray(ends[i - 1] ?? 0, end))
}

test('frames come out whole and in order however the stream is cut', () => {
  fc.assert(
    fc.property(
      fc.record({
        bodies: fc.array(fc.uint8Array({ maxLength: 300 }), { maxLength: 12 }),
        cuts: fc.array(fc.nat(), { maxLength: 30 }),
        mayAlias: fc.boolean(),
        allocateAtOnceBytesMax: fc.integer({ min: 1, max: 400 }),
      }),
      ({ bodies, cuts, mayAlias, allocateAtOnceBytesMax }) => {
        const pieces = cut(Buffer.concat(bodies.map(frameOf)), cuts)
        const frames = assemble(pieces, { mayAlias, allocateAtOnceBytesMax })
        assert.deepEqual(
          frames,
          bodies.map(body => Buffer.from(body)),
        )
      },
    ),
    { numRuns: 300 },
  )
})

test('a stream that arrives byte by byte gives the same frames', () => {
  const bodies = [Buffer.from('first'), Buffer.alloc(0), Buffer.alloc(257, 7)]
  const stream = Buffer.concat(bodies.map(frameOf))
  const pieces = Array.from(stream, byte => Buffer.from([byte]))
  assert.deepEqual(assemble(pieces, { mayAlias: false, allocateAtOnceBytesMax: 16 }), bodies)
})

test('a frame that lies in one piece is a view of it when that is allowed', () => {
  const assembler = new FrameAssembler({ frameBytesMax: 100, mayAlias: true, allocateAtOnceBytesMax: 100 })
  const piece = frameOf(Buffer.from('abc'))
  assembler.push(piece, 0)
  assert.equal(assembler.take()?.buffer, piece.buffer)
})

test('nothing is consumed behind a complete frame until it was taken', () => {
  const assembler = new FrameAssembler({ frameBytesMax: 100, mayAlias: true, allocateAtOnceBytesMax: 100 })
  const piece = Buffer.concat([frameOf(Buffer.from('one')), frameOf(Buffer.from('two'))])
  assert.equal(assembler.push(piece, 0), 7)
  assert.equal(assembler.push(piece, 7), 7)
  assert.equal(assembler.take()?.toString(), 'one')
  assert.equal(assembler.take(), undefined)
  assert.equal(assembler.push(piece, 7), 14)
  assert.equal(assembler.take()?.toString(), 'two')
})

test('a size beyond the limit or below zero is refused before memory is taken for it', () => {
  const push = (prefix: number[]) => () =>
    new FrameAssembler({ frameBytesMax: 1000, mayAlias: true, allocateAtOnceBytesMax: 1000 }).push(
      Buffer.from(prefix),
      0,
    )
  assert.throws(push([0, 0, 3, 0xe9]), new FrameError('a frame of 1001 bytes, above the limit of 1000'))
  assert.throws(push([0xff, 0xff, 0xff, 0xff]), new FrameError('a frame of negative size -1'))
})

test('other protocols are named', () => {
  const push = (bytes: Buffer) => () =>
    new FrameAssembler({ frameBytesMax: 1000, mayAlias: true, allocateAtOnceBytesMax: 1000 }).push(bytes, 0)
  assert.throws(push(Buffer.from('GET / HTTP/1.1\r\n')), /speaks HTTP/)
  assert.throws(push(Buffer.from([0x16, 3, 1, 2, 0])), /TLS handshake/)
  assert.throws(push(Buffer.from([0x15, 3, 3, 0, 2])), /expects TLS/)
})
