/** A slow disk gets the calling thread for a tenth of the time at most. */
import { deepStrictEqual, rejects, strictEqual, throws } from 'node:assert/strict'
import { test } from 'node:test'
import { type Clock, ManualClock } from '../core/clock.ts'
import { CallingThread, inCallingThread } from './calling-thread.ts'

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

test('a single slow one is forgiven', () => {
  const { thread, pass } = bench()
  thread.run(() => pass(45))
  strictEqual(thread.allows(1), true)
})

test('slow ones get a tenth of the time', () => {
  const { thread, pass } = bench()
  for (let i = 0; i < 14; i++) thread.run(() => pass(5))
  strictEqual(thread.allows(1), false)
  pass(130)
  strictEqual(thread.allows(1), false)
  pass(10)
  strictEqual(thread.allows(1), true)
  let slowMs = 0
  for (let elapsedMs = 0; elapsedMs < 10_000; elapsedMs += 5) {
    if (thread.allows(1)) slowMs += 5 + thread.run(() => pass(5))
    else pass(5)
  }
  strictEqual(slowMs <= 1050, true, `${slowMs} ms of 10 s`)
})

test('a failure counts like any other', () => {
  const { thread, pass } = bench()
  const fail = () => {
    pass(1000)
    throw new Error('disk')
  }
  throws(() => thread.run(fail), /disk/)
  strictEqual(thread.allows(1), false)
  pass(10_000)
  strictEqual(thread.allows(1), true)
})

test('a part of a start reads in the calling thread, and nothing after it does, even if it failed', async () => {
  const fs = { blocking: false }
  strictEqual(await inCallingThread(fs, async () => fs.blocking), true)
  strictEqual(fs.blocking, false)
  const failure = new Error('failed')
  await rejects(
    inCallingThread(fs, () => Promise.reject(failure)),
    failure,
  )
  strictEqual(fs.blocking, false)
})
