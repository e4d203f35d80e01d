import { equal, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import { keptAlive } from './kept-alive.ts'

/** Timers without which the process might end. */
const timers = () => process.getActiveResourcesInfo().filter(name => name === 'Timeout').length

test('the process stays alive while a server starts and waits, and may end afterwards', async () => {
  const before = timers()
  const waiting = Promise.withResolvers<number>()
  const kept = keptAlive(() => waiting.promise)
  equal(timers(), before + 1)
  waiting.resolve(1)
  equal(await kept, 1)
  equal(timers(), before)
  await rejects(
    keptAlive(async () => {
      throw new Error('no')
    }),
    /no/,
  )
  equal(timers(), before)
})
