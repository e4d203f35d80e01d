/** The manual clock, and waiting with it. */
import { deepStrictEqual, strictEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { ManualClock, sleep } from './clock.ts'

test('timers of the manual clock fire in the order of their deadlines, and only when time passes', async () => {
  const clock = new ManualClock()
  const fired: string[] = []
  clock.after(20, () => fired.push('b'))
  clock.after(10, () => fired.push('a'))
  clock.after(30, () => fired.push('c')).cancel()
  await clock.advance(9)
  deepStrictEqual(fired, [])
  await clock.advance(30)
  deepStrictEqual(fired, ['a', 'b'])
  strictEqual(clock.pending, 0)
})

test('a timer set by a timer fires in the same advance when it falls due', async () => {
  const clock = new ManualClock(1000)
  const at: number[] = []
  clock.after(10, () => clock.after(10, () => at.push(clock.nowMs())))
  await clock.advance(25)
  deepStrictEqual([at, clock.nowMs(), clock.monotonicMs()], [[1020], 1025, 25])
})

test('sleep ends at once when its signal aborts, and leaves no timer behind', async () => {
  const clock = new ManualClock()
  const stop = new AbortController()
  const sleeping = sleep(clock, 1000, stop.signal)
  stop.abort()
  await sleeping
  strictEqual(clock.pending, 0)
  await sleep(clock, 1000, stop.signal)
})
