/** Epoch questions before fetches, and redirects to other replicas, against a fake cluster. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ErrorCode } from '../../protocol/errors.ts'
import { FakeSink } from '../fakes/fake-sink.ts'
import { startBench } from '../fakes/fetch-bench.ts'

test('the end of our epoch is asked before the first fetch, and nothing is fetched before the sink agrees', async t => {
  const { kafka, source, until, pass } = await startBench(t)
  const topic = kafka.addTopic('orders', [1])
  topic.partitions[0]?.epochEnds.set(4, { epoch: 4, endOffset: 12 })
  kafka.append('orders', 0, 12)
  const sink = new FakeSink({ offset: 8, lastSourceEpoch: 4 })
  const judged = Promise.withResolvers<void>()
  sink.hold = judged.promise
  source.fetcher.start('orders', 0, sink)
  await until(() => sink.epochEnds.length === 1)
  await pass(500)
  assert.equal(kafka.requests.includes('Fetch@1'), false)
  judged.resolve()
  await until(() => sink.offset === 12)
  assert.deepEqual(sink.epochEnds, [{ requestedEpoch: 4, epoch: 4, endOffset: 12 }])
})

test('an unknown epoch is told as it is', async t => {
  const { kafka, source, until } = await startBench(t)
  kafka.addTopic('orders', [1])
  const sink = new FakeSink({ offset: 8, lastSourceEpoch: 9 })
  sink.decide = about => (about === 'epoch' ? 'stop' : 'continue')
  source.fetcher.start('orders', 0, sink)
  await until(() => sink.epochEnds.length === 1)
  assert.deepEqual(sink.epochEnds, [{ requestedEpoch: 9, epoch: -1, endOffset: -1 }])
  assert.equal(sink.calls, 1)
})

test('an empty mirror needs no check', async t => {
  const { kafka, source, until } = await startBench(t)
  kafka.addTopic('orders', [1])
  kafka.append('orders', 0, 3)
  const sink = new FakeSink()
  source.fetcher.start('orders', 0, sink)
  await until(() => sink.offset === 3)
  assert.deepEqual(sink.epochEnds, [])
  assert.equal(kafka.requests.includes('OffsetForLeaderEpoch@1'), false)
})

test('the check is repeated after a leader change and after a reconnect, and only then', async t => {
  const { kafka, source, until, pass } = await startBench(t, { brokers: 2 })
  const partition = kafka.addTopic('orders', [1]).partitions[0] ?? assert.fail()
  partition.epochEnds.set(1, { epoch: 1, endOffset: 5 })
  kafka.append('orders', 0, 5)
  const sink = new FakeSink({ lastSourceEpoch: 1 })
  source.fetcher.start('orders', 0, sink)
  await until(() => sink.offset === 5)
  await pass(5000)
  assert.equal(sink.epochEnds.length, 1)
  Object.assign(partition, { leader: 2, leaderEpoch: 2 })
  kafka.append('orders', 0, 1)
  await until(() => sink.offset === 6)
  assert.equal(sink.epochEnds.length, 2)
  const port = kafka.brokers.get(2)?.server.port
  await kafka.stopBroker(2)
  await kafka.addBroker(2, port)
  kafka.append('orders', 0, 1)
  await until(() => sink.offset === 7)
  assert.equal(sink.epochEnds.length, 3)
})

test('the same leader in a new epoch is checked again', async t => {
  const { kafka, source, until } = await startBench(t)
  const partition = kafka.addTopic('orders', [1]).partitions[0] ?? assert.fail()
  const sink = new FakeSink({ lastSourceEpoch: 1 })
  source.fetcher.start('orders', 0, sink)
  await until(() => sink.epochEnds.length === 1)
  partition.leaderEpoch = 2
  kafka.onFetch = () => ({ errorCode: ErrorCode.FENCED_LEADER_EPOCH })
  kafka.wake()
  await until(() => sink.epochEnds.length === 2)
  kafka.onFetch = undefined
  kafka.append('orders', 0, 1)
  await until(() => sink.offset === 1)
  assert.equal(sink.batches.at(-1)?.leaderEpoch, 2)
})

// The question counted as answered when it was asked: a sink that could not deal with the answer yet was fetched for without it.
test('an answer that the sink could not judge yet is asked for again before anything is fetched', async t => {
  const { kafka, source, until } = await startBench(t)
  kafka.addTopic('orders', [1])
  kafka.append('orders', 0, 5)
  const sink = new FakeSink({ lastSourceEpoch: 1 })
  sink.decide = about => (about === 'epoch' && sink.epochEnds.length < 3 ? { retryAfterMs: 100 } : 'continue')
  source.fetcher.start('orders', 0, sink)
  await until(() => sink.epochEnds.length === 2)
  assert.deepEqual(sink.batches, [])
  await until(() => sink.offset === 5)
  assert.equal(sink.epochEnds.length, 3)
})

test('a redirect to another replica is followed; the leader still answers for epochs', async t => {
  const { kafka, source, until } = await startBench(t, { brokers: 2 })
  kafka.addTopic('orders', [1])
  kafka.append('orders', 0, 15)
  kafka.onFetch = ({ brokerId }) => (brokerId === 1 ? { preferredReadReplica: 2 } : { serve: true })
  const sink = new FakeSink({ lastSourceEpoch: 1 })
  source.fetcher.start('orders', 0, sink)
  await until(() => sink.offset === 15)
  const fetches = kafka.requests.filter(name => name.startsWith('Fetch'))
  assert.deepEqual(fetches.slice(0, 3), ['Fetch@1', 'Fetch@2', 'Fetch@2'])
  assert.equal(kafka.requests.includes('OffsetForLeaderEpoch@2'), false)
  assert.deepEqual(sink.troubles, [])
})

test('an offset that only the other replica lacks is asked of the leader again', async t => {
  const { kafka, source, until } = await startBench(t, { brokers: 2 })
  kafka.addTopic('orders', [1])
  kafka.append('orders', 0, 5)
  kafka.onFetch = ({ brokerId }) =>
    brokerId === 1 ? { preferredReadReplica: 2 } : { errorCode: ErrorCode.OFFSET_OUT_OF_RANGE }
  const sink = new FakeSink()
  source.fetcher.start('orders', 0, sink)
  await until(() => kafka.requests.filter(name => name === 'Fetch@2').length >= 2)
  assert.deepEqual(sink.troubles, [])
  kafka.onFetch = undefined
  await until(() => sink.offset === 5)
})

test('a replica that dies sends its readers back to the leader', async t => {
  const { kafka, source, until } = await startBench(t, { brokers: 2 })
  kafka.addTopic('orders', [1])
  kafka.append('orders', 0, 5)
  kafka.onFetch = ({ brokerId }) => (brokerId === 1 ? { preferredReadReplica: 2 } : { serve: true })
  const sink = new FakeSink()
  source.fetcher.start('orders', 0, sink)
  await until(() => sink.offset === 5)
  kafka.onFetch = undefined
  await kafka.stopBroker(2)
  kafka.append('orders', 0, 5)
  await until(() => sink.offset === 10)
})
