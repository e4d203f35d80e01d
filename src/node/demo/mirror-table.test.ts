/** The live table as text, at several sizes of terminal. */
import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { stripVTControlCharacters } from 'node:util'
import fc from 'fast-check'
import type { MirrorFigures, PartitionFigures } from './mirror-meter.ts'
import { drawMirror, mirrorLine } from './mirror-table.ts'

const partition = (number: number, given: Partial<PartitionFigures> = {}): PartitionFigures => ({
  partition: number,
  sourceHighWatermark: 1000 + number,
  mirrorEndOffset: 1000,
  lag: number,
  lagMs: number * 10,
  bytesPerSecond: 250_000,
  problem: null,
  ...given,
})

const figures = (given: Partial<MirrorFigures> = {}): MirrorFigures => ({
  link: 'west',
  topic: 'orders',
  status: 'ACTIVE',
  reason: null,
  partitions: [partition(0), partition(1)],
  total: { sourceHighWatermark: 2001, mirrorEndOffset: 2000, lag: 1, lagMs: 10, bytesPerSecond: 500_000 },
  elapsedMs: 67_000,
  ...given,
})

test('a terminal of 80 columns shows every column', () => {
  deepStrictEqual(drawMirror(figures(), { columns: 80, rows: 24, colour: false }), [
    'mirror orders over link west: ACTIVE, 1:07',
    '',
    'topic   partition  source HW  mirror LEO  lag  lag ms  MB/s',
    'orders          0      1,000       1,000    0       0  0.25',
    'orders          1      1,001       1,000    1      10  0.25',
    'orders      all 2      2,001       2,000    1      10  0.50',
  ])
})

test('a narrow terminal keeps lag, partition and rate', () => {
  deepStrictEqual(drawMirror(figures(), { columns: 30, rows: 24, colour: false }), [
    'mirror orders: ACTIVE, 1:07',
    '',
    'partition  lag  MB/s',
    '        0    0  0.25',
    '        1    1  0.25',
    '    all 2    1  0.50',
  ])
})

test('what is not known yet is a dash, and a single partition needs no total', () => {
  const unknown = { sourceHighWatermark: null, mirrorEndOffset: null, lag: null, lagMs: null, bytesPerSecond: null }
  const lines = drawMirror(
    figures({ partitions: [partition(0, unknown)], total: unknown, status: 'SOURCE_UNAVAILABLE', reason: 'no answer' }),
    { columns: 80, rows: 24, colour: false },
  )
  deepStrictEqual(lines, [
    'mirror orders over link west: SOURCE_UNAVAILABLE, 1:07',
    'no answer',
    '',
    'topic   partition  source HW  mirror LEO  lag  lag ms  MB/s',
    'orders          0          -           -    -       -     -',
  ])
})

test('a low terminal shows the partitions with most lag and counts the others', () => {
  const partitions = Array.from({ length: 50 }, (_, i) => partition(i, { lag: i % 10 === 3 ? 500 + i : 0 }))
  const lines = drawMirror(figures({ partitions }), { columns: 80, rows: 12, colour: false })
  deepStrictEqual(
    lines.slice(3, -2).map(line => line.split(/\s+/)[1]),
    ['3', '13', '23', '33', '43'],
  )
  ok(lines.includes('... and 45 partitions with less lag'))
})

test('the reason of a failed partition is shown', () => {
  const partitions = [partition(0), partition(1, { problem: 'batch at offset 7: CRC is wrong' })]
  ok(
    drawMirror(figures({ partitions, status: 'FAILED' }), { columns: 80, rows: 24, colour: false }).includes(
      'partition 1: batch at offset 7: CRC is wrong',
    ),
  )
})

test('no line is as wide as the terminal, and colours change no character', () => {
  const number = fc.option(fc.nat({ max: Number.MAX_SAFE_INTEGER }), { nil: null })
  const anyPartition = fc.record({
    partition: fc.nat({ max: 9999 }),
    sourceHighWatermark: number,
    mirrorEndOffset: number,
    lag: number,
    lagMs: number,
    bytesPerSecond: number,
    problem: fc.option(fc.string(), { nil: null }),
  })
  const anyFigures = fc
    .record({
      topic: fc.stringMatching(/^[a-z]{1,249}$/),
      reason: fc.option(fc.stringMatching(/^[a-z ]{1,200}$/), { nil: null }),
      status: fc.constantFrom('ACTIVE', 'FAILED', 'STOPPED'),
      partitions: fc.array(anyPartition, { maxLength: 40 }),
    })
    .map(given => figures(given))
  fc.assert(
    fc.property(
      anyFigures,
      fc.integer({ min: 2, max: 200 }),
      fc.integer({ min: 1, max: 60 }),
      (drawn, columns, rows) => {
        const plain = drawMirror(drawn, { columns, rows, colour: false })
        ok(plain.every(line => line.length < columns))
        const coloured = drawMirror(drawn, { columns, rows, colour: true })
        deepStrictEqual(coloured.map(stripVTControlCharacters), plain.map(stripVTControlCharacters))
      },
    ),
    { numRuns: 200 },
  )
})

test('a log line has the totals', () => {
  strictEqual(
    mirrorLine(figures()),
    '1:07 orders ACTIVE, source HW 2,001, mirror LEO 2,000, lag 1 records (10 ms), 0.50 MB/s',
  )
})
