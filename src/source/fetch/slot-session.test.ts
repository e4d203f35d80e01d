/** Fetch sessions with a source (KIP-227): what is asked and told in the steady state, and what happens when a session is lost. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FakeSink } from '../fakes/fake-sink.ts'
import { type Bench, startBench } from '../fakes/fetch-bench.ts'

const PARTITIONS = 12

/** All partitions in one slot, and at their ends. */
async function atTheTail(bench: Bench): Promise<FakeSink[]> {
  const { kafka, source, until } = bench
  kafka.addTopic('orders', Array(PARTITIONS).fill(1))
  const sinks = Array.from({ length: PARTITIONS }, () => new FakeSink())
  for (const [partition, sink] of sinks.entries()) {
    kafka.append('orders', partition, 3)
    source.fetcher.start('orders', partition, sink)
  }
  await until(() => sinks.every(sink => sink.offset === 3))
  await bench.pass(1000)
  return sinks
}

/** One slot per two partitions would do; this asks for as few as possible. */
const start = (t: Parameters<typeof startBench>[0]) => startBench(t, { fetch: { connectionsPerBroker: 2 } })

test('partitions without news are neither named nor answered, and their sinks hear of the source all the same', async t => {
  const bench = await start(t)
  const { kafka, pass } = bench
  const sinks = await atTheTail(bench)
  const calls = sinks.map(sink => sink.calls)
  const [named, requests] = [kafka.sessions.named, kafka.requests.length]
  await pass(10_000)
  const fetches = kafka.requests.length - requests
  assert.ok(fetches >= 20, `${fetches} fetches in 10 s`)
  // Every second each partition goes to its sink and comes back, which names it twice at most.
  const perFetch = (kafka.sessions.named - named) / fetches
  assert.ok(perFetch < PARTITIONS / 2, `${perFetch} partitions per fetch`)
  for (const [partition, sink] of sinks.entries()) {
    const heard = sink.calls - (calls[partition] ?? 0)
    assert.ok(heard >= 6 && heard <= 11, `${heard} calls in 10 s`)
    const last = sink.batches.at(-1)
    assert.deepEqual([last?.highWatermark, last?.logStartOffset, last?.records.length], [3, 0, 0])
  }
})

test('an active partition does not make the others be named', async t => {
  const bench = await start(t)
  const { kafka, until } = bench
  const [busy] = await atTheTail(bench)
  const named = kafka.sessions.named
  for (let end = 4; end < 54; end++) {
    kafka.append('orders', 0, 1)
    await until(() => busy?.offset === end)
  }
  assert.ok(kafka.sessions.named - named < 50 * 4, `${kafka.sessions.named - named} partitions named in 50 rounds`)
})

for (const [what, lose] of [
  ['is evicted', ({ kafka }) => kafka.sessions.forget()],
  ['was used by somebody else', ({ kafka }) => kafka.sessions.skipEpochs()],
  [
    'is not granted any more',
    ({ kafka }) => {
      kafka.sessions.enabled = false
      kafka.sessions.forget()
    },
  ],
] as const satisfies readonly (readonly [string, (bench: Bench) => void])[]) {
  test(`a session that ${what} is replaced without trouble`, async t => {
    const bench = await start(t)
    const sinks = await atTheTail(bench)
    const { kafka, until } = bench
    for (let round = 1; round <= 3; round++) {
      lose(bench)
      for (let partition = 0; partition < PARTITIONS; partition++) kafka.append('orders', partition, 1)
      await until(() => sinks.every(sink => sink.offset === 3 + round))
    }
    for (const sink of sinks) assert.deepEqual([sink.received.length, sink.troubles], [6, []])
    // The old ones were ended by the requests that started the new ones.
    assert.ok(kafka.sessions.count <= 2, `${kafka.sessions.count} sessions`)
  })
}

test('a partition that is started anew while its broker has told everything is answered from what was told', async t => {
  const bench = await start(t)
  const { source, until, pass } = bench
  const sinks = await atTheTail(bench)
  const again = new FakeSink({ offset: 3 })
  await pass(7)
  void source.fetcher.stop('orders', 5)
  source.fetcher.start('orders', 5, again)
  await until(() => again.calls > 0)
  assert.deepEqual(again.troubles, [])
  assert.equal(again.batches[0]?.highWatermark, 3)
  assert.equal(sinks.length, PARTITIONS)
})

test('a source whose Fetch knows no sessions is asked without', async t => {
  const bench = await startBench(t)
  bench.kafka.fetchVersionMax = 6
  await atTheTail(bench)
  assert.equal(bench.kafka.sessions.count, 0)
})

test('an answer that a throttled source leaves empty is no trouble', async t => {
  const bench = await start(t)
  const { kafka, until } = bench
  kafka.sessions.enabled = false
  const sinks = await atTheTail(bench)
  kafka.throttleEmptyMs = 200
  await bench.pass(1000)
  kafka.throttleEmptyMs = 0
  kafka.append('orders', 0, 1)
  await until(() => sinks[0]?.offset === 4)
  for (const sink of sinks) assert.deepEqual(sink.troubles, [])
})
