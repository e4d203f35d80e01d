/** Tests of the live table: rates, order, keys, and a picture that always fits its screen. */
import { deepStrictEqual, match, ok, strictEqual } from 'node:assert/strict'
import { test } from 'node:test'
import type { MirrorData } from '../../rest/schemas/mirrors.ts'
import { displayWidth } from '../text-width.ts'
import { pageOf, screenLines } from './top-frame.ts'
import { sortedRows, topRows } from './top-rows.ts'
import { afterKey, type TopView } from './top-view.ts'

const mirror = (topic: string, lags: readonly (number | null)[], end: number): MirrorData =>
  ({
    link_name: 'west',
    mirror_topic_name: topic,
    num_partitions: lags.length,
    mirror_status: 'ACTIVE',
    lag_ms: 5,
    mirror_lags: lags.map((lag, partition) => ({
      partition,
      lag,
      lag_ms: 5,
      log_end_offset: end,
      mirrored_bytes: end * 100,
      partition_state: 'ACTIVE',
    })),
  }) as unknown as MirrorData

const VIEW: TopView = { sort: 'lag', reversed: false, byPartition: false, scrolled: 0, paused: false, help: false }
const plain = { heading: (text: string) => text, state: (text: string) => text, trouble: (text: string) => text }

test('rates are differences of two samples, and never below zero', () => {
  const before = { timeMs: 1000, mirrors: [mirror('a', [3, 4], 100), mirror('b', [null], 900)] }
  const now = { timeMs: 3000, mirrors: [mirror('a', [1, 1], 300), mirror('b', [null], 5)] }
  const rows = topRows(now, before, false)
  deepStrictEqual(
    rows.map(row => [row.topic, row.lag, row.recordsPerSecond, row.bytesPerSecond]),
    [
      ['a', 2, 200, 20_000],
      ['b', null, 0, 0],
    ],
  )
  deepStrictEqual(topRows(now, undefined, true).length, 3)
  strictEqual(topRows(now, undefined, true)[0]?.recordsPerSecond, null)
})

test('an unknown lag counts as the worst', () => {
  const rows = topRows(
    { timeMs: 0, mirrors: [mirror('a', [9], 1), mirror('b', [null], 1), mirror('c', [10], 1)] },
    undefined,
    false,
  )
  const names = (reversed: boolean) => sortedRows(rows, 'lag', reversed).map(row => row.topic)
  deepStrictEqual(names(false), ['b', 'c', 'a'])
  deepStrictEqual(names(true), ['a', 'c', 'b'])
})

test('keys sort, reverse, scroll, hold, help and quit', () => {
  strictEqual(afterKey(VIEW, 's', 10)?.sort, 'time')
  strictEqual(afterKey(VIEW, 'n', 10)?.sort, 'name')
  strictEqual(afterKey(VIEW, 'r', 10)?.reversed, true)
  strictEqual(afterKey(VIEW, 'pagedown', 10)?.scrolled, 10)
  strictEqual(afterKey(VIEW, 'up', 10)?.scrolled, 0)
  strictEqual(afterKey(VIEW, 'space', 10)?.paused, true)
  strictEqual(afterKey(VIEW, 'q', 10), undefined)
  deepStrictEqual(afterKey({ ...VIEW, help: true }, 'escape', 10), VIEW)
  deepStrictEqual(afterKey(VIEW, 'z', 10), VIEW)
})

test('the picture has as many lines as the screen and none that is wider', () => {
  const many = Array.from({ length: 40 }, (_, at) => mirror(`a-topic-with-a-long-name-${at}`, [at], at))
  const rows = topRows({ timeMs: 0, mirrors: many }, undefined, false)
  for (const columns of [30, 80, 200])
    for (const height of [6, 24]) {
      const picture = {
        rows,
        view: { ...VIEW, scrolled: 1e9 },
        subject: 'cluster x',
        time: '12:00:00',
        trouble: undefined,
      }
      const size = { columns, rows: height }
      const lines = screenLines(picture, size, plain)
      strictEqual(lines.length, height)
      // The figures are never left out.
      if (columns >= 80) for (const line of lines) ok(displayWidth(line) <= columns, line)
      match(lines[1] ?? '', new RegExp(`sorted by lag  ${41 - pageOf(size)}-40 of 40`.slice(0, columns - 1)))
    }
})
