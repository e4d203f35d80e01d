/** Lag in offsets and ms from what fetches saw. */
import { equal } from 'node:assert/strict'
import { test } from 'node:test'
import { LagClock } from './lag-clock.ts'

test('before the first answer nothing is known', () => {
  const lag = new LagClock()
  equal(lag.lag(0), null)
  equal(lag.lagMs(0, { atMs: 5, answering: true }), null)
})

test('an equal mirror has lag 0 while the source answers, however idle, and a growing one from its silence on', () => {
  const lag = new LagClock()
  lag.seen(100, 1000)
  lag.reached(100)
  equal(lag.lag(100), 0)
  equal(lag.lagMs(100, { atMs: 90_000, answering: true }), 0)
  lag.silentFrom(100_000, 100)
  equal(lag.lagMs(100, { atMs: 103_000, answering: false }), 3000)
})

test('the silence of the source does not make a late mirror look better', () => {
  const lag = new LagClock()
  lag.seen(100, 1000)
  lag.reached(100)
  lag.seen(200, 2000)
  lag.reached(150)
  lag.silentFrom(5000, 150)
  equal(lag.lagMs(150, { atMs: 6000, answering: false }), 5000)
})

test('while catching up, lag in ms is the age of the newest high watermark that was reached', () => {
  const lag = new LagClock()
  lag.seen(100, 1000)
  lag.reached(40)
  equal(lag.lagMs(40, { atMs: 1500, answering: true }), null)
  lag.seen(200, 2000)
  lag.reached(120)
  equal(lag.lag(120), 80)
  equal(lag.lagMs(120, { atMs: 2500, answering: true }), 1500)
  lag.seen(300, 3000)
  lag.reached(250)
  equal(lag.lagMs(250, { atMs: 3000, answering: true }), 1000)
})

test('many samples stay bounded and keep their order', () => {
  const lag = new LagClock()
  for (let i = 1; i <= 10_000; i++) lag.seen(i * 10, i)
  lag.reached(99_000)
  const shown = lag.lagMs(99_000, { atMs: 10_000, answering: true })
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
