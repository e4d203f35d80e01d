/** Lag in offsets and ms from what fetches saw. */
import { equal } from 'node:assert/strict'
import { test } from 'node:test'
import { LagClock } from './lag-clock.ts'

test('before the first answer nothing is known', () => {
  const lag = new LagClock()
  equal(lag.lag(0), null)
  equal(lag.lagMs(0, { atMs: 5, freshMs: 10 }), null)
})

test('an equal mirror has lag 0 while the source answers, and a growing one when it stops answering', () => {
  const lag = new LagClock()
  lag.seen(100, 1000)
  lag.reached(100)
  equal(lag.lag(100), 0)
  equal(lag.lagMs(100, { atMs: 1400, freshMs: 500 }), 0)
  equal(lag.lagMs(100, { atMs: 3000, freshMs: 500 }), 2000)
})

test('an idle answer with the same high watermark counts as reached anew', () => {
  const lag = new LagClock()
  lag.seen(100, 1000)
  lag.reached(100)
  lag.seen(100, 2000)
  lag.reached(100)
  equal(lag.lagMs(100, { atMs: 9000, freshMs: 500 }), 7000)
})

test('while catching up, lag in ms is the age of the newest high watermark that was reached', () => {
  const lag = new LagClock()
  lag.seen(100, 1000)
  lag.reached(40)
  equal(lag.lagMs(40, { atMs: 1500, freshMs: 500 }), null)
  lag.seen(200, 2000)
  lag.reached(120)
  equal(lag.lag(120), 80)
  equal(lag.lagMs(120, { atMs: 2500, freshMs: 500 }), 1500)
  lag.seen(300, 3000)
  lag.reached(250)
  equal(lag.lagMs(250, { atMs: 3000, freshMs: 500 }), 1000)
})

test('many samples stay bounded and keep their order', () => {
  const lag = new LagClock()
  for (let i = 1; i <= 10_000; i++) lag.seen(i * 10, i)
  lag.reached(99_000)
  const shown = lag.lagMs(99_000, { atMs: 10_000, freshMs: 0 })
  equal(shown !== null && shown >= 100 && shown < 10_000, true)
})

test('a high watermark that went back never gives a negative lag', () => {
  const lag = new LagClock()
  lag.seen(100, 1)
  lag.reached(100)
  lag.seen(50, 2)
  lag.reached(100)
  equal(lag.lag(100), 0)
})
