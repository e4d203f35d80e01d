/** Which rows of a long table are drawn. */
import { deepEqual, equal, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { topThatShows, windowOfRows } from './window-of-rows.ts'

const look = (top: number) => ({ top, height: 400, rowHeight: 40 })

test('whatever the position, what is seen is drawn and little more', () => {
  for (let top = 0; top < 400_000; top += 777) {
    const { from, to } = windowOfRows(10_000, look(top))
    const [first, last] = [Math.floor(top / 40), Math.min(9999, Math.floor((top + 399) / 40))]
    ok(from <= first && to > last, `${top}: ${from} to ${to}`)
    ok(to - from <= 30)
  }
})

test('few rows are drawn all, also when the position is one of more rows', () => {
  deepEqual(windowOfRows(3, look(0)), { from: 0, to: 3 })
  deepEqual(windowOfRows(3, look(8000)), { from: 0, to: 3 })
  deepEqual(windowOfRows(0, look(0)), { from: 0, to: 0 })
})

test('a row is brought into view by the shortest way', () => {
  equal(topThatShows(5, look(0)), 0)
  equal(topThatShows(10, look(0)), 40)
  equal(topThatShows(2, look(400)), 80)
})
