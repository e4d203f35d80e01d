/** The fetcher against a fake cluster: order, fairness, budget, start and stop. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FakeSink } from '../fakes/fake-sink.ts'
import { startBench } from '../fakes/fetch-bench.ts'

const upTo = (end: number, from = 0) => Array.from({ length: end - from }, (_, i) => from + i)

test('a partition is read from its position to the end, in order, then as it grows', async t => {
  const { kafka, source, until } = await startBench(t)
  kafka.addTopic('orders', [1])
  kafka.append('orders', 0, 25)
  const sink = new FakeSink({ offset: 3 })
  source.fetcher.start('orders', 0, sink)
  await until(() => sink.offset === 25)
  kafka.append('orders', 0, 2)
  await until(() => sink.offset === 27)
  assert.deepEqual(sink.received, upTo(27, 3))
  assert.equal(sink.mostConcurrent, 1)
  const last = sink.batches.at(-1)
  assert.equal(last?.fetchOffset, 25)
  assert.equal(last?.highWatermark, 27)
  assert.equal(last?.lastStableOffset, 27)
  assert.equal(last?.logStartOffset, 0)
  assert.equal(last?.leaderEpoch, 1)
})

test('many partitions on two brokers are read side by side over at most four connections each', async t => {
  const { kafka, source, until } = await startBench(t, { brokers: 2 })
  kafka.addTopic(
    'orders',
    upTo(20).map(i => 1 + (i % 2)),
  )
  const sinks = upTo(20).map(() => new FakeSink())
  for (const [partition, sink] of sinks.entries()) {
    kafka.append('orders', partition, 30)
    source.fetcher.start('orders', partition, sink)
  }
  await until(() => sinks.every(sink => sink.offset === 30))
  for (const sink of sinks) assert.deepEqual(sink.received, upTo(30))
  // Four for fetches, one for questions.
  for (const broker of kafka.brokers.values()) assert.ok(broker.server.connectionCount <= 5)
})

test('an explicit number of connections is kept', async t => {
  const { kafka, source, until } = await startBench(t, { fetch: { connectionsPerBroker: 2 } })
  kafka.addTopic(
    'orders',
    upTo(6).map(() => 1),
  )
  const sinks = upTo(6).map(() => new FakeSink())
  for (const [partition, sink] of sinks.entries()) source.fetcher.start('orders', partition, sink)
  for (const partition of sinks.keys()) kafka.append('orders', partition, 1)
  await until(() => sinks.every(sink => sink.offset === 1))
  assert.ok((kafka.brokers.get(1)?.server.connectionCount ?? 0) <= 3)
})

test('a slow sink does not hold up its neighbours in the same connection', async t => {
  const { kafka, source, until, clock } = await startBench(t, { fetch: { connectionsPerBroker: 2 } })
  kafka.addTopic(
    'orders',
    upTo(8).map(() => 1),
  )
  const slow = Promise.withResolvers<void>()
  const sinks = upTo(8).map(() => new FakeSink())
  const stuck = sinks[0] ?? assert.fail()
  stuck.hold = slow.promise
  for (const [partition, sink] of sinks.entries()) {
    kafka.append('orders', partition, 20)
    source.fetcher.start('orders', partition, sink)
  }
  const others = sinks.slice(1)
  await until(() => others.every(sink => sink.offset === 20))
  const startMs = clock.monotonicMs()
  for (let round = 0; round < 20; round++) {
    const end = (others[0]?.offset ?? 0) + 1
    for (const partition of upTo(8, 1)) kafka.append('orders', partition, 1)
    await until(() => others.every(sink => sink.offset === end))
  }
  assert.ok(clock.monotonicMs() - startMs < 20 * 200, `${clock.monotonicMs() - startMs} ms for 20 rounds`)
  assert.deepEqual(stuck.received, upTo(10))
  slow.resolve()
  await until(() => stuck.offset === 20)
  assert.deepEqual(stuck.received, upTo(20))
})

test('a partition that was with its sink misses its turn only briefly', async t => {
  const { kafka, source, until, clock } = await startBench(t, { fetch: { connectionsPerBroker: 1, waitMaxMs: 5000 } })
  kafka.addTopic(
    'orders',
    upTo(12).map(() => 1),
  )
  const sinks = upTo(12).map(() => new FakeSink())
  for (const [partition, sink] of sinks.entries()) source.fetcher.start('orders', partition, sink)
  await until(() => sinks.every(sink => sink.batches.length > 0))
  for (let round = 1; round <= 10; round++) {
    const slow = Promise.withResolvers<void>()
    for (const sink of sinks) sink.hold = slow.promise
    kafka.append('orders', round, 1)
    await until(() => sinks[round]?.offset === 1)
    clock.after(20, () => slow.resolve())
    const startMs = clock.monotonicMs()
    kafka.append('orders', round, 1)
    await until(() => sinks[round]?.offset === 2)
    assert.ok(clock.monotonicMs() - startMs < 150, `${clock.monotonicMs() - startMs} ms`)
  }
})

test('the bytes in flight stay within the budget while sinks are stuck', async t => {
  const budget = 512 * 1024
  const { kafka, source, pass } = await startBench(t, { fetch: { inFlightBytesMax: budget } })
  kafka.addTopic(
    'orders',
    upTo(40).map(() => 1),
  )
  const never = Promise.withResolvers<void>()
  const sinks = upTo(40).map(() => new FakeSink())
  for (const [partition, sink] of sinks.entries()) {
    sink.hold = never.promise
    kafka.append('orders', partition, 1000)
    source.fetcher.start('orders', partition, sink)
  }
  await pass(2000)
  // The smallest window is 256 KiB: two answers are out, nothing more is asked for.
  const fetches = kafka.requests.filter(name => name === 'Fetch@1').length
  assert.ok(fetches <= 2, `${fetches} fetches`)
  never.resolve()
})

// A sink whose disk was full waited inside its call, with the bytes of a whole answer in its hands: a few of them used up the
// budget of the link, and partitions that could have gone on were not fetched any more.
test('a sink that asks for a pause holds no bytes meanwhile, and goes on after it', async t => {
  const { kafka, source, until, clock } = await startBench(t, { fetch: { inFlightBytesMax: 256 * 1024 } })
  kafka.addTopic('orders', [1, 1, 1, 1])
  const sinks = upTo(4).map(() => new FakeSink())
  for (const [partition, sink] of sinks.entries()) {
    if (partition < 3)
      sink.decide = about =>
        clock.monotonicMs() < 30_000 && about === 'batches' ? { retryAfterMs: 40_000 } : 'continue'
    kafka.append('orders', partition, 30)
    source.fetcher.start('orders', partition, sink)
  }
  await until(() => sinks[3]?.offset === 30)
  assert.ok(clock.monotonicMs() < 30_000)
  assert.deepEqual(
    sinks.slice(0, 3).map(sink => sink.batches.length),
    [1, 1, 1],
  )
  await until(() => sinks.every(sink => sink.offset === 30))
  assert.ok(clock.monotonicMs() >= 40_000)
})

test('after stop no call reaches the sink, also not from an answer under way', async t => {
  const { kafka, source, until, pass } = await startBench(t)
  kafka.addTopic('orders', [1])
  const sink = new FakeSink()
  source.fetcher.start('orders', 0, sink)
  await until(() => kafka.requests.includes('Fetch@1'))
  await pass(50)
  const stopped = source.fetcher.stop('orders', 0)
  kafka.append('orders', 0, 5)
  await stopped
  const { calls } = sink
  await pass(2000)
  assert.equal(sink.calls, calls)
  assert.deepEqual(sink.received, [])
})

test('stop waits for the call that is under way', async t => {
  const { kafka, source, until, pass } = await startBench(t)
  kafka.addTopic('orders', [1])
  kafka.append('orders', 0, 15)
  const busy = Promise.withResolvers<void>()
  const sink = new FakeSink()
  sink.hold = busy.promise
  source.fetcher.start('orders', 0, sink)
  await until(() => sink.batches.length === 1)
  let stopped = false
  const first = source.fetcher.stop('orders', 0).then(() => {
    stopped = true
  })
  const second = source.fetcher.stop('orders', 0)
  await pass(200)
  assert.equal(stopped, false)
  busy.resolve()
  await Promise.all([first, second])
  await pass(500)
  assert.deepEqual(sink.received, upTo(10))
})

test('a start after stop continues with the new sink, and only after the old one is done', async t => {
  const { kafka, source, until, pass } = await startBench(t)
  kafka.addTopic('orders', [1])
  kafka.append('orders', 0, 15)
  const busy = Promise.withResolvers<void>()
  const old = new FakeSink()
  old.hold = busy.promise
  source.fetcher.start('orders', 0, old)
  await until(() => old.batches.length === 1)
  const stopped = source.fetcher.stop('orders', 0)
  const fresh = new FakeSink({ offset: 10 })
  source.fetcher.start('orders', 0, fresh)
  await pass(300)
  assert.equal(fresh.calls, 0)
  busy.resolve()
  await stopped
  await until(() => fresh.offset === 15)
  assert.deepEqual(old.received, upTo(10))
  assert.deepEqual(fresh.received, upTo(15, 10))
})

test('a second start of the same partition does nothing', async t => {
  const { kafka, source, until } = await startBench(t)
  kafka.addTopic('orders', [1])
  kafka.append('orders', 0, 5)
  const [first, second] = [new FakeSink(), new FakeSink()]
  source.fetcher.start('orders', 0, first)
  source.fetcher.start('orders', 0, second)
  await until(() => first.offset === 5)
  assert.equal(second.calls, 0)
})

test('a sink that wants no more is not called again until it is started again', async t => {
  const { kafka, source, until, pass } = await startBench(t)
  kafka.addTopic('orders', [1])
  kafka.append('orders', 0, 15)
  const sink = new FakeSink()
  sink.decide = () => 'stop'
  source.fetcher.start('orders', 0, sink)
  await until(() => sink.offset === 10)
  await pass(2000)
  assert.equal(sink.calls, 1)
  sink.decide = () => 'continue'
  source.fetcher.start('orders', 0, sink)
  await until(() => sink.offset === 15)
})

test('a sink that throws is tried again later and disturbs nobody', async t => {
  const { kafka, source, until, logger } = await startBench(t)
  kafka.addTopic('orders', [1, 1])
  kafka.append('orders', 0, 15)
  kafka.append('orders', 1, 15)
  const [bad, good] = [new FakeSink(), new FakeSink()]
  let throws = 3
  bad.decide = () => {
    if (throws-- > 0) throw new Error('out of order')
    return 'continue'
  }
  source.fetcher.start('orders', 0, bad)
  source.fetcher.start('orders', 1, good)
  await until(() => good.offset === 15 && bad.offset === 15)
  assert.equal(logger.lines.filter(line => line === 'error the sink of orders-0 failed (out of order)').length, 2)
})

test('closing the source stops every partition and waits for its sinks', async t => {
  const { kafka, source, until, pass } = await startBench(t)
  kafka.addTopic('orders', [1, 1, 1])
  const sinks = upTo(3).map(() => new FakeSink())
  for (const [partition, sink] of sinks.entries()) {
    kafka.append('orders', partition, 100)
    source.fetcher.start('orders', partition, sink)
  }
  await until(() => sinks.every(sink => sink.offset >= 10))
  await source.close()
  const calls = sinks.map(sink => sink.calls)
  source.fetcher.start('orders', 0, new FakeSink())
  await pass(1000)
  assert.deepEqual(
    sinks.map(sink => sink.calls),
    calls,
  )
  await until(() => kafka.brokers.get(1)?.server.connectionCount === 0)
})

test('an empty answer is delivered when a position moved, and else about once a second', async t => {
  const { kafka, source, until, pass } = await startBench(t)
  const topic = kafka.addTopic('orders', [1])
  const sink = new FakeSink()
  source.fetcher.start('orders', 0, sink)
  await until(() => sink.batches.length === 1)
  await pass(10_000)
  assert.ok(sink.batches.length >= 6 && sink.batches.length <= 11, `${sink.batches.length} answers`)
  const { length } = sink.batches
  const partition = topic.partitions[0] ?? assert.fail()
  partition.end = 7
  partition.logStart = 7
  sink.offset = 7
  kafka.wake()
  await until(() => sink.batches.length > length)
  const last = sink.batches.at(-1)
  assert.deepEqual([last?.records.length, last?.logStartOffset, last?.highWatermark], [0, 7, 7])
})
