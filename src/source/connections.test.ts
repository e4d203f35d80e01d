/** What properties of the connection do, and what probes and surveys of a source find. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SourceError } from '../link/ports.ts'
import { ErrorCode } from '../protocol/errors.ts'
import { ConnectTimeouts } from './connect-timeouts.ts'
import { during, failure } from './fakes/answers.ts'
import { FakeSink } from './fakes/fake-sink.ts'
import { startBench } from './fakes/fetch-bench.ts'

test('the connect timeout of an address grows with its failures up to the bound, and begins anew', () => {
  const timeouts = new ConnectTimeouts({ initialMs: 1000, maxMs: 3000, random: () => 0.5 })
  assert.equal(timeouts.timeoutMs('a:1'), 1000)
  timeouts.failed('a:1')
  assert.equal(timeouts.timeoutMs('a:1'), 2000)
  timeouts.failed('a:1')
  assert.equal(timeouts.timeoutMs('a:1'), 3000)
  assert.equal(timeouts.timeoutMs('b:1'), 1000)
  timeouts.opened('a:1')
  assert.equal(timeouts.timeoutMs('a:1'), 1000)
})

test('a connection on which nothing is asked is closed, and opened again for the next question', async t => {
  const { kafka, open, until, pass } = await startBench(t)
  const source = open({ idleMsMax: 1000 })
  kafka.addTopic('orders', [1])
  const query = { spec: 'latest', isolation: 'read_uncommitted' } as const
  const ask = () => during(until, source.listOffsets('orders', [0], query))
  await ask()
  const server = kafka.brokers.get(1)?.server ?? assert.fail()
  await until(() => server.connectionCount === 1)
  await pass(900)
  await ask()
  await pass(900)
  assert.equal(server.connectionCount, 1)
  await until(() => server.connectionCount === 0)
  assert.equal((await ask()).get(0), 0)
})

test('a connection that fetches is never idle, also where nothing comes', async t => {
  const { kafka, open, until, pass } = await startBench(t)
  const source = open({ idleMsMax: 1000 })
  kafka.addTopic('orders', [1])
  const sink = new FakeSink()
  source.fetcher.start('orders', 0, sink)
  await until(() => sink.calls > 0)
  const server = kafka.brokers.get(1)?.server ?? assert.fail()
  await pass(5000)
  assert.ok(server.connectionCount >= 1)
  assert.deepEqual(sink.troubles, [])
})

test('a question with its repetitions ends at default.api.timeout.ms', async t => {
  const { kafka, open, until, clock } = await startBench(t)
  const source = open({ apiTimeoutMs: 300, retryBackoffMs: 200 })
  kafka.addTopic('orders', [-1])
  const beganMs = clock.monotonicMs()
  const asked = source.listOffsets('orders', [0], { spec: 'latest', isolation: 'read_uncommitted' })
  await assert.rejects(during(until, asked), failure('timeout', /in 300 ms \(default\.api\.timeout\.ms\)/))
  assert.ok(clock.monotonicMs() - beganMs < 1000)
})

test('bootstrap servers are tried under their canonical names where the link asks for it', async t => {
  const dnsLookup = async (host: string) => (host === 'alias.example' ? ['127.0.0.9', '127.0.0.1'] : [])
  const names: string[] = []
  const canonicalName = async (address: string) => {
    names.push(address)
    return address === '127.0.0.1' ? address : 'gone.example'
  }
  const { kafka, open, until } = await startBench(t, { dnsLookup, canonicalName })
  const bootstrapServers = [`alias.example:${kafka.brokers.get(1)?.server.port}`]
  const source = open({ bootstrapServers, bootstrapLookup: 'resolve_canonical_bootstrap_servers_only' })
  assert.equal((await during(until, source.describeCluster())).clusterId, 'fake-cluster')
  assert.deepEqual(names, ['127.0.0.9', '127.0.0.1'])
  const none = open({
    bootstrapServers: ['nowhere.example:1'],
    bootstrapLookup: 'resolve_canonical_bootstrap_servers_only',
  })
  await assert.rejects(during(until, none.describeCluster()), failure('dns', /nowhere\.example has no address/))
})

test('a connection that is lost, or cannot be made, is told at once', async t => {
  const { kafka, open, until } = await startBench(t)
  let told = 0
  const source = open({ onTrouble: () => told++ })
  kafka.addTopic('orders', [1])
  const sink = new FakeSink()
  source.fetcher.start('orders', 0, sink)
  await until(() => sink.calls > 0)
  assert.equal(told, 0)
  await kafka.stopBroker(1)
  await until(() => told > 0)
})

test('a probe passes while all is well, and tells of a broker that is advertised where nothing answers', async t => {
  const { kafka, open, until } = await startBench(t, { brokers: 2 })
  const [first, second] = [1, 2].map(id => kafka.brokers.get(id) ?? assert.fail())
  const bootstrapServers = [`127.0.0.1:${first?.server.port}`]
  const source = open({ bootstrapServers })
  const probe = () => during(until, source.probe([]))
  assert.deepEqual(await probe(), { clusterId: 'fake-cluster', unreachable: undefined })
  Object.assign(second ?? {}, { advertised: { host: '127.0.0.1', port: 1 } })
  kafka.addTopic('orders', [2])
  const query = { spec: 'latest', isolation: 'read_uncommitted' } as const
  await assert.rejects(during(until, source.listOffsets('orders', [0], query)), SourceError)
  const { unreachable } = await probe()
  failure('advertised-listener', /advertises broker 2 at 127\.0\.0\.1:1, where nothing answers/)(unreachable)
  Object.assign(second ?? {}, { advertised: { host: '127.0.0.1', port: second?.server.port } })
  assert.equal((await probe()).unreachable, undefined)
})

test('a probe fails if no advertised broker can be reached, or no topic may be described', async t => {
  const { kafka, open, until } = await startBench(t)
  const broker = kafka.brokers.get(1) ?? assert.fail()
  const good = broker.advertised
  broker.advertised = { host: '127.0.0.1', port: 1 }
  await assert.rejects(during(until, open().probe([])), failure('advertised-listener', /nothing answers/))
  broker.advertised = good
  kafka.addTopic('secret', [1]).errorCode = ErrorCode.TOPIC_AUTHORIZATION_FAILED
  kafka.addTopic('orders', [1])
  const source = open()
  await assert.rejects(during(until, source.probe(['secret'])), failure('authorization', /any of .* \(secret\)/))
  await during(until, source.probe(['secret', 'orders']))
})

test('a survey tries every address, and says which APIs are missing and which topics are seen', async t => {
  const { kafka, open, until } = await startBench(t, { brokers: 2 })
  const [first, second] = [1, 2].map(id => kafka.brokers.get(id)?.server.port)
  kafka.addTopic('orders', [1])
  const source = open({ bootstrapServers: ['127.0.0.1:1', `127.0.0.1:${first}`], clusterId: undefined })
  const { bootstrap, brokers, clusterId, missingApis, topics } = await during(until, source.survey())
  assert.deepEqual(
    bootstrap.map(({ address, error }) => [address, error?.failure]),
    [
      ['127.0.0.1:1', 'tcp'],
      [`127.0.0.1:${first}`, undefined],
    ],
  )
  assert.deepEqual(
    brokers.map(({ id, address, error }) => [id, address, error]),
    [
      [1, `127.0.0.1:${first}`, undefined],
      [2, `127.0.0.1:${second}`, undefined],
    ],
  )
  assert.equal(clusterId, 'fake-cluster')
  // The fake cluster has no groups and no ACLs.
  assert.deepEqual(missingApis, ['OffsetFetch', 'FindCoordinator', 'ListGroups', 'DescribeAcls'])
  assert.ok(topics && !(topics instanceof SourceError))
  assert.deepEqual(topics.names, ['orders'])
})

test('a survey without any answer says so of each server', async t => {
  const { open, until } = await startBench(t)
  const none = await during(until, open({ bootstrapServers: ['127.0.0.1:1', '127.0.0.1:2'] }).survey())
  assert.deepEqual(
    none.bootstrap.map(({ error }) => error?.failure),
    ['tcp', 'tcp'],
  )
  assert.equal(none.clusterId, undefined)
})
