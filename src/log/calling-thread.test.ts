/** A slow disk gets the calling thread for a tenth of the time at most. */
import { deepStrictEqual, strictEqual, throws } from 'node:assert/strict'
import { test } from 'node:test'
import { type Clock, ManualClock } from '../core/clock.ts'
import { CallingThread } from './calling-thread.ts'

/** A clock that the operation itself moves. */
function bench() {
  let nowMs = 0
  const clock: Clock = {
    ...new ManualClock(),
    monotonicMs: () => nowMs,
    nowMs: () => 0,
    after: () => ({ cancel() {} }),
  }
  /** Answers 0. */
  const pass = (ms: number) => {
    nowMs += ms
    return 0
  }
  return { thread: new CallingThread(clock), pass }
}

test('small operations are allowed as long as they are quick', () => {
  const { thread, pass } = bench()
  for (let i = 0; i < 10; i++)
    strictEqual(
      thread.run(() => i + pass(0.5)),
      i,
    )
  deepStrictEqual([thread.allows(16_384), thread.allows(1_000_000)], [true, false])
})

test('after a slow one the pool does the work for ten times as long', () => {
  const { thread, pass } = bench()
  thread.run(() => pass(20))
  strictEqual(thread.allows(1), false)
  pass(199)
  strictEqual(thread.allows(1), false)
  pass(1)
  strictEqual(thread.allows(1), true)
})

test('a failure counts like any other, and the pause is bounded', () => {
  const { thread, pass } = bench()
  const fail = () => {
    pass(60_000)
    throw new Error('disk')
  }
  throws(() => thread.run(fail), /disk/)
  strictEqual(thread.allows(1), false)
  pass(30_000)
  strictEqual(thread.allows(1), true)
})
