/** Connecting: addresses, names, timeouts, giving up. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ManualClock, systemClock } from '../core/clock.ts'
import { BrokerConnection, type ConnectOptions } from './broker-connection.ts'
import { ConnectionError } from './connection-error.ts'
import { answerVersions, startRaw } from './fakes/raw-server.ts'

function options(port: number, o: Partial<ConnectOptions> = {}): ConnectOptions {
  const times = { connectTimeoutMs: 5000, requestTimeoutMs: 5000 }
  return { host: '127.0.0.1', port, clientId: 'test', ...times, clock: systemClock, ...o }
}

const kind = (expected: ConnectionError['kind'], message: RegExp) => (error: unknown) => {
  assert.ok(error instanceof ConnectionError, `${error}`)
  assert.equal(error.kind, expected)
  assert.match(error.message, message)
  return true
}

test('connecting tries every address of a name', async t => {
  const port = await startRaw(t, answerVersions)
  const dnsLookup = async (host: string) => {
    assert.equal(host, 'kafka.example')
    return ['127.0.0.77', '127.0.0.1']
  }
  const connection = await BrokerConnection.connect(options(port, { host: 'kafka.example', dnsLookup }))
  connection.close()
})

test('a name that does not resolve, and a port where nobody listens, are told apart', async () => {
  const dnsLookup = async () => Promise.reject(new Error('getaddrinfo ENOTFOUND nowhere'))
  await assert.rejects(
    BrokerConnection.connect(options(1, { host: 'nowhere', dnsLookup })),
    kind('dns', /cannot resolve nowhere: getaddrinfo ENOTFOUND/),
  )
  const none = async () => []
  await assert.rejects(
    BrokerConnection.connect(options(1, { host: 'nowhere', dnsLookup: none })),
    kind('dns', /no address/),
  )
  await assert.rejects(
    BrokerConnection.connect(options(1)),
    kind('tcp', /cannot connect to 127\.0\.0\.1:1: 127\.0\.0\.1: connection refused/),
  )
})

test('a name server that never answers runs into the connect timeout', async () => {
  const clock = new ManualClock()
  const never = () => new Promise<string[]>(() => {})
  const attempt = assert.rejects(
    BrokerConnection.connect(options(1, { host: 'slow.example', dnsLookup: never, clock })),
    kind('timeout', /resolving slow\.example took longer than 5000 ms/),
  )
  await clock.advance(5000)
  await attempt
})

test('a broker that accepts and says nothing runs into the request timeout', async t => {
  const clock = new ManualClock()
  const asked = Promise.withResolvers<void>()
  const port = await startRaw(t, () => asked.resolve())
  const attempt = assert.rejects(
    BrokerConnection.connect(options(port, { clock })),
    kind('timeout', /no answer to ApiVersions version 4 in 5000 ms/),
  )
  await asked.promise
  await clock.advance(5000)
  await attempt
})

test('connecting can be given up at every stage', async t => {
  const early = new AbortController()
  early.abort(new Error('no need'))
  await assert.rejects(BrokerConnection.connect(options(1, { signal: early.signal })), new Error('no need'))
  const late = new AbortController()
  const port = await startRaw(t, () => late.abort(new Error('changed my mind')))
  await assert.rejects(BrokerConnection.connect(options(port, { signal: late.signal })), new Error('changed my mind'))
})
