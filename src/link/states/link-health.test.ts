/** Link state and error from probes. */
import { equal } from 'node:assert/strict'
import { test } from 'node:test'
import { afterFailedProbe, healthyLink, type ProbeFailure } from './link-health.ts'

const probe = (change: Partial<ProbeFailure> = {}): ProbeFailure => ({
  failure: 'tcp',
  message: 'refused',
  nowMs: 1000,
  monotonicMs: 0,
  periodMs: 100,
  threshold: 3,
  ...change,
})

test('the first failure is shown at once, the state follows after the threshold', () => {
  let health = afterFailedProbe(healthyLink, probe())
  equal(health.failure, 'tcp')
  equal(health.sinceMs, 1000)
  equal(health.state, 'ACTIVE')
  health = afterFailedProbe(health, probe({ monotonicMs: 100, nowMs: 1100 }))
  equal(health.state, 'ACTIVE')
  health = afterFailedProbe(health, probe({ monotonicMs: 200, nowMs: 1200, failure: 'dns' }))
  equal(health.state, 'UNAVAILABLE')
  equal(health.failure, 'dns')
  equal(health.sinceMs, 1000)
})

test('quicker probes while it fails do not count twice', () => {
  let health = afterFailedProbe(healthyLink, probe())
  for (let ms = 10; ms < 100; ms += 10) health = afterFailedProbe(health, probe({ monotonicMs: ms }))
  equal(health.failures, 1)
  equal(health.state, 'ACTIVE')
})

test('a refused login, a missing right or another cluster make the link FAILED at once', () => {
  for (const failure of ['login', 'authorization', 'cluster-id'] as const)
    equal(afterFailedProbe(healthyLink, probe({ failure })).state, 'FAILED')
})
