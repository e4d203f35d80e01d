/** The throttle of a link: the rate holds over time, every partition gets its turn, and a change holds at once. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ManualClock } from '../../core/clock.ts'
import { ENTRY_BYTES } from '../fakes/fake-fetch.ts'
import { FakeSink } from '../fakes/fake-sink.ts'
import { startBench } from '../fakes/fetch-bench.ts'
import { FetchThrottle } from './fetch-throttle.ts'

const never = new AbortController().signal

test('what an answer brought is paid for before the next fetch', async () => {
  const clock = new ManualClock()
  const throttle = new FetchThrottle(clock)
  throttle.limit(1000)
  await throttle.turn(never)
  throttle.pay(3000)
  let turns = 0
  const waiting = [throttle.turn(never), throttle.turn(never)].map(turn => turn.then(() => turns++))
  await clock.advance(2990)
  assert.equal(turns, 0)
  await clock.advance(20)
  await Promise.all(waiting)
  assert.equal(throttle.waitedMs, 6000)
})

test('without a bound nobody waits, and a bound that is taken away or raised lets those who wait go', async () => {
  const clock = new ManualClock()
  const throttle = new FetchThrottle(clock)
  throttle.pay(1e9)
  await throttle.turn(never)
  assert.equal(throttle.turnBytes(1 << 20), 1 << 20)
  throttle.limit(100_000)
  assert.equal(throttle.turnBytes(1 << 20), 25_000)
  throttle.pay(1e9)
  const raised = throttle.turn(never)
  throttle.limit(200_000)
  await raised
  throttle.pay(1e9)
  const freed = throttle.turn(never)
  throttle.limit(undefined)
  await freed
  throttle.limit(1)
  throttle.pay(1e6)
  const over = new AbortController()
  const given = throttle.turn(over.signal)
  over.abort()
  await given
  assert.equal(throttle.turnBytes(1 << 20), 16 * 1024)
})

test('no more than a second of unused bytes is kept', async () => {
  const clock = new ManualClock()
  const throttle = new FetchThrottle(clock)
  throttle.limit(1000)
  await clock.advance(100_000)
  await throttle.turn(never)
  throttle.pay(2000)
  const turn = throttle.turn(never)
  await clock.advance(1000)
  await turn
  assert.equal(throttle.waitedMs, 1000)
})

test('a throttled source is read at its rate, every partition alike, and at once faster when the bound goes', async t => {
  const { kafka, source, until, clock } = await startBench(t)
  const partitions = [...Array(8).keys()]
  const topic = kafka.addTopic(
    'orders',
    partitions.map(() => 1),
  )
  const sinks = partitions.map(() => new FakeSink())
  for (const partition of partitions) kafka.append('orders', partition, 1000)
  // Eight partitions of 8000 bytes: without a bound they are here at once.
  source.fetcher.limitRate(1600)
  for (const [partition, sink] of sinks.entries()) source.fetcher.start('orders', partition, sink)
  const received = () => sinks.reduce((sum, sink) => sum + sink.received.length, 0)
  const beganMs = clock.monotonicMs()
  await until(() => received() >= 2000, 'a quarter')
  const seconds = (clock.monotonicMs() - beganMs) / 1000
  const rate = (received() * ENTRY_BYTES) / seconds
  assert.ok(rate > 800 && rate < 2000, `${rate} bytes a second`)
  const each = sinks.map(sink => sink.received.length)
  assert.ok(Math.max(...each) <= 2 * Math.min(...each), each.join())
  assert.ok(source.fetcher.heldBackMs > 1000)
  source.fetcher.limitRate(undefined)
  const freedMs = clock.monotonicMs()
  await until(() => received() === 8000, 'the rest')
  assert.ok(clock.monotonicMs() - freedMs < 5000)
  assert.equal(topic.partitions.length, 8)
})
