/** Samples that are kept, and the rates between them. */
import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { rateNow, ratesOf, type Sample, withSample } from './samples.ts'

const sample = (timeMs: number, bytes: number): Sample => ({ timeMs, bytes, lag: 0, lagMs: 0 })

test('only so many samples are kept, and none that is older than the last', () => {
  let samples: readonly Sample[] = []
  for (let second = 1; second <= 500; second++) samples = withSample(samples, sample(second * 1000, second))
  equal(samples.length, 360)
  equal(samples[0]?.timeMs, 141_000)
  equal(withSample(samples, sample(5, 5)), samples)
})

test('a rate is what came between two samples, and not known where the counter began anew', () => {
  const samples = [sample(0, 0), sample(5000, 10_000), sample(10_000, 30_000), sample(15_000, 500)]
  deepEqual(ratesOf(samples), [null, 2000, 4000, null])
  equal(rateNow(samples), null)
  equal(rateNow(samples.slice(0, 3)), 3000)
  equal(rateNow([]), null)
})
