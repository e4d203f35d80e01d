/** The memory of one answer: who waits for it, who does without, and what is given back. */
import { deepStrictEqual, notStrictEqual, strictEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { ByteBudget } from '../core/byte-budget.ts'
import { FrameBuffers } from '../network/frame-buffers.ts'
import { AnswerMemory } from './answer-memory.ts'
import { append, data, offsets, query, target } from './fakes/fetches.ts'
import { PartitionBench } from './fakes/open-partition.ts'
import { fetchFromLog } from './fetch-from-log.ts'

const memoryOf = (budget: ByteBudget) => new AnswerMemory(budget, new AbortController().signal)

test('the first read waits for memory, further ones take what there is', async () => {
  const budget = new ByteBudget(100)
  const [first, second] = [memoryOf(budget), memoryOf(budget)]
  const settle = await first.reserve(60)
  strictEqual(budget.usedBytes, 60)
  settle?.(50)
  strictEqual(budget.usedBytes, 50)
  strictEqual(await first.reserve(60), undefined)
  const waiting = second.reserve(60)
  strictEqual(budget.waitingCount, 1)
  first.release()
  ;(await waiting)?.(70)
  // A batch that is larger than what was reserved counts too.
  strictEqual(budget.usedBytes, 70)
  second.release()
  strictEqual(budget.usedBytes, 0)
})

test('a client that leaves does not wait any more', async () => {
  const budget = new ByteBudget(10)
  const release = await budget.acquire(10)
  const gone = new AbortController()
  const reserved = new AnswerMemory(budget, gone.signal).reserve(5)
  gone.abort(new Error('gone'))
  strictEqual(await reserved, undefined)
  release()
})

test('a fetch answers with fewer partitions when memory is short, and holds what it answers', async () => {
  const bench = new PartitionBench()
  const [orders, clicks] = [await bench.open({ topic: 'orders' }), await bench.open({ topic: 'clicks' })]
  for (const partition of [orders, clicks]) await append(bench, partition, data(1000))
  const budget = new ByteBudget(1500)
  const memory = memoryOf(budget)
  const fetched = await fetchFromLog(bench, query([target(orders), target(clicks)], { memory }), bench.clock)
  deepStrictEqual(fetched.map(offsets), [[0], []])
  strictEqual(budget.usedBytes, fetched[0]?.records.length)
  memory.release()
  strictEqual(budget.usedBytes, 0)
  await bench.close()
})

test('the memory of an answer serves another one, once the first is released', async () => {
  const bench = new PartitionBench()
  const orders = await bench.open({ topic: 'orders' })
  await append(bench, orders, data(100_000))
  const buffers = new FrameBuffers({ idleBytesMax: 1 << 20, clock: bench.clock })
  const answer = async () => {
    const memory = new AnswerMemory(new ByteBudget(1 << 20), new AbortController().signal, buffers)
    const [fetched] = await fetchFromLog(bench, query([target(orders)], { memory }), bench.clock)
    strictEqual(fetched?.records.length, orders.log.sizeBytes)
    return { memory, records: fetched.records, text: fetched.records.toString('latin1') }
  }
  const [first, second] = [await answer(), await answer()]
  notStrictEqual(first.records.buffer, second.records.buffer)
  strictEqual(first.records.toString('latin1'), first.text)
  first.memory.release()
  const third = await answer()
  strictEqual(third.records.buffer, first.records.buffer)
  strictEqual(third.text, second.text)
  await bench.close()
})
