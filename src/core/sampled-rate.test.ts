/** Rates over a sliding window, and the pause that brings one back to its bound. */
import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { SampledRate } from './sampled-rate.ts'

const windows = { count: 11, sizeMs: 1000 }

test('a burst at the start counts over the whole window', () => {
  const rate = new SampledRate(windows)
  rate.record(30_000, 0)
  equal(rate.perSecond(0), 3000)
  equal(rate.excessMs(3000, 0), 0)
  equal(rate.excessMs(1000, 0), 20_000)
})

test('what was recorded is forgotten when its sample leaves the window', () => {
  const rate = new SampledRate(windows)
  rate.record(1000, 0)
  rate.record(1000, 5000)
  deepEqual(
    [10_999, 11_000, 15_999, 16_000].map(now => rate.perSecond(now) > 0),
    [true, true, true, false],
  )
})

test('whoever uses no more than the bound in each sample is never asked to pause', () => {
  const use = fc.array(fc.integer({ min: 0, max: 1000 }), { minLength: 1, maxLength: 60 })
  fc.assert(
    fc.property(use, fc.integer({ min: 1, max: 3 }), (values, every) => {
      const rate = new SampledRate(windows)
      for (const [i, value] of values.entries()) {
        const now = i * every * 1000
        rate.record(value, now)
        equal(rate.excessMs(1100, now), 0)
      }
    }),
  )
})
