/** The small machines that bound work: backoff, byte budget, serial queue. */
import { deepStrictEqual, rejects, strictEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { Backoff } from './backoff.ts'
import { ByteBudget } from './byte-budget.ts'
import { seededRandom } from './random.ts'
import { SerialQueue } from './serial-queue.ts'

test('backoff doubles up to its bound with at most 20 % jitter, and starts anew after a success', () => {
  const backoff = new Backoff({ initialMs: 100, maxMs: 1000, random: seededRandom(7) })
  const waits = Array.from({ length: 8 }, () => backoff.nextMs())
  const expected = [100, 200, 400, 800, 1000, 1000, 1000, 1000]
  for (const [index, wait] of waits.entries()) {
    const base = expected[index] ?? 0
    strictEqual(wait >= base * 0.8 && wait <= base * 1.2, true, `wait ${index} is ${wait}`)
  }
  strictEqual(backoff.attempts, 8)
  backoff.reset()
  strictEqual(backoff.nextMs() <= 120, true)
})

test('a byte budget grants in order and never more than it has', async () => {
  const budget = new ByteBudget(100)
  const order: string[] = []
  const first = await budget.acquire(60)
  const second = budget.acquire(50).then(release => {
    order.push('second')
    return release
  })
  const third = budget.acquire(10).then(release => {
    order.push('third')
    return release
  })
  await Promise.resolve()
  deepStrictEqual([order, budget.usedBytes], [[], 60])
  first()
  first()
  ;(await second)()
  ;(await third)()
  deepStrictEqual([order, budget.usedBytes], [['second', 'third'], 0])
})

test('a request larger than the whole budget is granted alone', async () => {
  const budget = new ByteBudget(10)
  const release = await budget.acquire(1000)
  strictEqual(budget.usedBytes, 1000)
  release()
})

test('an aborted request leaves the queue and lets those behind it go on', async () => {
  const budget = new ByteBudget(10)
  const first = await budget.acquire(5)
  const stop = new AbortController()
  const tooLarge = budget.acquire(9, stop.signal)
  const small = budget.acquire(5)
  stop.abort(new Error('stopped'))
  await rejects(tooLarge, /stopped/)
  ;(await small)()
  first()
  await rejects(budget.acquire(1, stop.signal), /stopped/)
  strictEqual(budget.usedBytes, 0)
})

test('a serial queue runs one job at a time in order, and a failure concerns only its caller', async () => {
  const queue = new SerialQueue()
  const log: string[] = []
  const job = (name: string, fail = false) =>
    queue.run(async () => {
      log.push(`${name} starts`)
      await Promise.resolve()
      log.push(`${name} ends`)
      if (fail) throw new Error(name)
      return name
    })
  const failing = rejects(job('a', true), /a/)
  const fine = job('b')
  strictEqual(queue.length, 2)
  await queue.idle()
  await failing
  strictEqual(await fine, 'b')
  deepStrictEqual(log, ['a starts', 'a ends', 'b starts', 'b ends'])
  strictEqual(queue.length, 0)
})
