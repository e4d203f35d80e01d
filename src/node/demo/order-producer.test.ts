/** The demo's producer against a topic that only counts. */
import { deepStrictEqual, ok, rejects, strictEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { ManualClock } from '../../core/clock.ts'
import { seededRandom } from '../../core/random.ts'
import { compressionNames, compressionOf } from '../../protocol/batches/batch-header.ts'
import { batchesIn } from '../../protocol/batches/batch-iteration.ts'
import { recordsOf } from '../../protocol/batches/records-of.ts'
import { OrderProducer, type OrderTopic } from './order-producer.ts'
import { partitionOfKey } from './orders.ts'

const SEED = 20260722

class CountingTopic implements OrderTopic {
  readonly partitions = 3
  readonly ends = [0, 0, 0]
  readonly batches: { partition: number; bytes: Buffer }[] = []
  requests = 0
  fail = false

  async append(parts: Parameters<OrderTopic['append']>[0]): Promise<Map<number, number>> {
    this.requests++
    await Promise.resolve()
    if (this.fail) throw new Error('refused')
    return new Map(
      parts.map(({ partition, batches }) => {
        const base = this.ends[partition] ?? 0
        for (const header of batchesIn(batches)) this.ends[partition] = base + header.recordCount
        this.batches.push({ partition, bytes: batches })
        return [partition, base]
      }),
    )
  }
}

function producerOf(topic: OrderTopic) {
  const clock = new ManualClock()
  return { clock, producer: new OrderProducer(topic, { clock, random: seededRandom(SEED) }) }
}

const never = new AbortController().signal

test('every partition gets every codec, keys stay in their partition, and the ends are known', async () => {
  const topic = new CountingTopic()
  const { producer } = producerOf(topic)
  await producer.write(950, { perRequest: 100, signal: never })
  strictEqual(topic.requests, 10)
  strictEqual(producer.records, 950)
  deepStrictEqual(producer.endOffsets, topic.ends)
  strictEqual(
    topic.ends.reduce((a, b) => a + b),
    950,
  )
  const codecs = [new Set<string>(), new Set<string>(), new Set<string>()]
  const orders = new Set<number>()
  for (const { partition, bytes } of topic.batches)
    for (const header of batchesIn(bytes)) {
      codecs[partition]?.add(compressionOf(header))
      for (const { key, value } of recordsOf(bytes, header)) {
        const order = JSON.parse(String(value)) as { order: number; customer: string }
        orders.add(order.order)
        strictEqual(String(key), order.customer)
        strictEqual(partitionOfKey(Buffer.from(order.customer), 3), partition)
      }
    }
  strictEqual(orders.size, 950)
  for (const seen of codecs) deepStrictEqual([...seen].sort(), [...compressionNames].sort())
  strictEqual(
    producer.bytes,
    topic.batches.reduce((sum, { bytes }) => sum + bytes.length, 0),
  )
})

test('a steady rate is kept, a full disk is not risked', async () => {
  const topic = new CountingTopic()
  const { clock, producer } = producerOf(topic)
  const stop = new AbortController()
  const options = { recordsPerSecond: 50, tickMs: 100, signal: stop.signal }
  const streaming = producer.stream({ ...options, bytesMax: Number.MAX_SAFE_INTEGER })
  await clock.advance(1000)
  // One round at the start, ten more in a second.
  strictEqual(producer.records, 55)
  stop.abort()
  strictEqual(await streaming, false)
  strictEqual(await producer.stream({ ...options, signal: never, bytesMax: 1 }), true)
  strictEqual(producer.records, 55)
})

test('a refused append fails the writing, and so does every later one', async () => {
  const topic = new CountingTopic()
  const { producer } = producerOf(topic)
  topic.fail = true
  await rejects(producer.write(1000, { perRequest: 10, signal: never }), /refused/)
  ok(topic.requests < 10)
  topic.fail = false
  await rejects(producer.write(1, { perRequest: 1, signal: never }), /refused/)
})
