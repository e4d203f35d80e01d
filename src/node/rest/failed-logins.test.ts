/** How long a refused login takes. */
import { deepStrictEqual, strictEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { ManualClock } from '../../core/clock.ts'
import { FailedLogins } from './failed-logins.ts'

test('how long the check of a password took does not show in when its refusal is answered', async () => {
  for (const checkMs of [0, 1, 60]) {
    const clock = new ManualClock()
    const failures = new FailedLogins(clock)
    const sinceMs = clock.monotonicMs()
    await clock.advance(checkMs)
    let answeredMs: number | undefined
    const answered = failures.failed('a', sinceMs).then(() => {
      answeredMs = clock.monotonicMs() - sinceMs
    })
    await clock.advance(99 - checkMs)
    strictEqual(answeredMs, undefined)
    await clock.advance(1)
    await answered
    deepStrictEqual(answeredMs, 100)
  }
})
