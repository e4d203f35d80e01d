/** The client connection against our own listener and against raw bytes: versions, pipelining, failures. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { ManualClock, systemClock } from '../core/clock.ts'
import { silentLogger } from '../core/logger.ts'
import { ErrorCode } from '../protocol/errors.ts'
import { FetchApi, FetchResponse } from '../protocol/messages/01-fetch.ts'
import { MetadataApi, MetadataRequest, MetadataResponse } from '../protocol/messages/03-metadata.ts'
import { ApiVersionsResponse } from '../protocol/messages/18-api-versions.ts'
import { BrokerConnection, type ConnectOptions } from './broker-connection.ts'
import { ConnectionError } from './connection-error.ts'
import { frameOf } from './fakes/raw-client.ts'
import { startRaw } from './fakes/raw-server.ts'
import type { RequestHandler } from './request-handler.ts'
import { listen } from './server-listener.ts'

const FETCH = 1
const METADATA = 3
const API_VERSIONS = 18

/** What the broker of most tests serves; the last is an api of the future. */
const apiKeys = [
  { apiKey: FETCH, minVersion: 4, maxVersion: 12 },
  { apiKey: METADATA, minVersion: 0, maxVersion: 99 },
  { apiKey: API_VERSIONS, minVersion: 0, maxVersion: 4 },
  { apiKey: 9999, minVersion: 0, maxVersion: 1 },
]

const answering =
  (handler: RequestHandler): RequestHandler =>
  async (request, client) => {
    if (request.apiKey !== API_VERSIONS) return await handler(request, client)
    return [ApiVersionsResponse.encode({ errorCode: 0, apiKeys }, request.apiVersion)]
  }

function options(port: number, o: Partial<ConnectOptions> = {}): ConnectOptions {
  const times = { connectTimeoutMs: 5000, requestTimeoutMs: 5000 }
  return { host: '127.0.0.1', port, clientId: 'test', ...times, clock: systemClock, ...o }
}

async function start(t: TestContext, handler: RequestHandler, o: Partial<ConnectOptions> = {}) {
  const server = await listen({
    host: '127.0.0.1',
    port: 0,
    name: 'PLAINTEXT',
    maxRequestBytes: 1 << 20,
    idleTimeoutMs: 60_000,
    served: new Map([FETCH, METADATA, API_VERSIONS].map(key => [key, { min: 0, max: key === API_VERSIONS ? 4 : 13 }])),
    handler: answering(handler),
    clock: systemClock,
    logger: silentLogger,
  })
  t.after(() => server.close(10))
  const connection = await BrokerConnection.connect(options(server.port, o))
  t.after(() => connection.close())
  return { server, connection }
}

const kind = (expected: ConnectionError['kind'], message: RegExp) => (error: unknown) => {
  assert.ok(error instanceof ConnectionError, `${error}`)
  assert.equal(error.kind, expected)
  assert.match(error.message, message)
  return true
}

const metadataNamed = (name: string, version: number) =>
  MetadataResponse.encode({ clusterId: name, brokers: [], topics: [] }, version)

const topicOf = (body: Buffer, version: number) => MetadataRequest.decode(body, version).topics?.[0]?.name ?? ''

test('connecting learns the versions, and the highest common one is used', async t => {
  const { connection } = await start(t, async ({ apiVersion }) => [metadataNamed('c', apiVersion)])
  assert.equal(connection.versionFor(FETCH), 12)
  assert.equal(connection.versionFor(METADATA), 13)
  assert.equal(connection.versionFor(METADATA, { min: 0, max: 8 }), 8)
  assert.equal(connection.versionFor(FETCH, { min: 13, max: 18 }), undefined)
  assert.equal(connection.versionFor(0), undefined)
  const { version, response } = await connection.send(MetadataApi, { topics: [] })
  assert.equal(version, 13)
  assert.equal(response.clusterId, 'c')
  assert.equal((await connection.send(MetadataApi, { topics: [] }, { version: 4 })).version, 4)
})

test('an api that the broker lacks is refused without a request', async t => {
  const { connection } = await start(t, async () => assert.fail())
  connection.close()
  const { FindCoordinatorApi } = await import('../protocol/messages/10-find-coordinator.ts')
  await assert.rejects(
    connection.send(FindCoordinatorApi, { key: 'g' }),
    kind('unsupported-version', /no usable version of FindCoordinatorRequest: it has none/),
  )
})

test('pipelined requests get their own answers', async t => {
  const { connection } = await start(t, async ({ apiVersion, body }) => [
    metadataNamed(topicOf(body, apiVersion), apiVersion),
  ])
  const names = Array.from({ length: 50 }, (_, i) => `topic-${i}`)
  const answers = await Promise.all(names.map(name => connection.send(MetadataApi, { topics: [{ name }] })))
  assert.deepEqual(
    answers.map(answer => answer.response.clusterId),
    names,
  )
  assert.equal(connection.pendingCount, 0)
})

test('answers that come out of order are matched by correlation id', async t => {
  const held: Buffer[] = []
  const port = await startRaw(t, (frame, socket) => {
    if (frame.readInt16BE(0) === API_VERSIONS) {
      socket.write(frameOf(frame.subarray(4, 8), ApiVersionsResponse.encode({ errorCode: 0, apiKeys }, 4)))
      return
    }
    held.unshift(frameOf(frame.subarray(4, 8), metadataNamed(String(frame.readInt32BE(4)), 4)))
    if (held.length === 3) socket.write(Buffer.concat(held))
  })
  const connection = await BrokerConnection.connect(options(port))
  t.after(() => connection.close())
  const send = () => connection.send(MetadataApi, { topics: [] }, { version: 4 })
  const answers = await Promise.all([send(), send(), send()])
  const ids = answers.map(answer => Number(answer.response.clusterId))
  assert.deepEqual(
    ids,
    ids.toSorted((a, b) => a - b),
  )
})

test('a broker without our ApiVersions is asked again in its own version', async t => {
  const asked: number[] = []
  const port = await startRaw(t, (frame, socket) => {
    const version = frame.readInt16BE(2)
    asked.push(version)
    const known = { apiKey: API_VERSIONS, minVersion: 0, maxVersion: 2 }
    const answer =
      version > 2
        ? ApiVersionsResponse.encode({ errorCode: ErrorCode.UNSUPPORTED_VERSION, apiKeys: [known] }, 0)
        : ApiVersionsResponse.encode({ errorCode: 0, apiKeys }, version)
    socket.write(frameOf(frame.subarray(4, 8), answer))
  })
  const connection = await BrokerConnection.connect(options(port))
  t.after(() => connection.close())
  assert.deepEqual(asked, [4, 2])
  assert.equal(connection.versionFor(FETCH), 12)
})

test('a broker whose refusal lists nothing is asked in version 0', async t => {
  const asked: number[] = []
  const port = await startRaw(t, (frame, socket) => {
    const version = frame.readInt16BE(2)
    asked.push(version)
    const answer = version > 0 ? { errorCode: ErrorCode.UNSUPPORTED_VERSION, apiKeys: [] } : { errorCode: 0, apiKeys }
    socket.write(frameOf(frame.subarray(4, 8), ApiVersionsResponse.encode(answer, 0)))
  })
  const connection = await BrokerConnection.connect(options(port))
  t.after(() => connection.close())
  assert.deepEqual(asked, [4, 0])
})

test('record bytes of an answer are views of its frame', async t => {
  const records = Buffer.alloc(300_000, 5)
  const partition = { partitionIndex: 0, errorCode: 0, highWatermark: 1n, abortedTransactions: [], records }
  const { connection } = await start(t, async ({ apiVersion }) =>
    FetchResponse.encodeChunks(
      { throttleTimeMs: 0, responses: [{ topic: 't', partitions: [partition, partition] }] },
      apiVersion,
    ),
  )
  const { response } = await connection.send(FetchApi, { maxWaitMs: 0, minBytes: 0, topics: [] })
  const [first, second] = response.responses[0]?.partitions ?? []
  assert.deepEqual(first?.records, records)
  assert.deepEqual(second?.records, records)
  assert.equal(first?.records?.buffer, second?.records?.buffer)
  assert.ok((first?.records?.buffer.byteLength ?? 0) < 601_000)
})

test('a request without an answer closes the connection and fails what waits behind it', async t => {
  const clock = new ManualClock()
  const { connection } = await start(t, () => new Promise(() => {}), { clock, requestTimeoutMs: 1000 })
  const answers = [
    connection.send(MetadataApi, { topics: [] }),
    connection.send(MetadataApi, { topics: [] }, { timeoutMs: 5000 }),
  ].map(answer => assert.rejects(answer, kind('timeout', /no answer to Metadata version 13 in 1000 ms/)))
  await clock.advance(1000)
  await Promise.all(answers)
  assert.equal(connection.isOpen, false)
  assert.match(String(await connection.closed), /no answer/)
})

test('a request that its caller gives up leaves the connection usable', async t => {
  const { connection } = await start(t, async ({ apiVersion, body }, client) => {
    const name = topicOf(body, apiVersion)
    if (name === 'slow') abort.abort(new Error('enough'))
    client.signal.throwIfAborted()
    return [metadataNamed(name, apiVersion)]
  })
  const abort = new AbortController()
  const slow = connection.send(MetadataApi, { topics: [{ name: 'slow' }] }, { signal: abort.signal })
  await assert.rejects(slow, new Error('enough'))
  const { response } = await connection.send(MetadataApi, { topics: [{ name: 'next' }] })
  assert.equal(response.clusterId, 'next')
  await assert.rejects(connection.send(MetadataApi, { topics: [] }, { signal: abort.signal }), new Error('enough'))
})

test('a broker that goes away fails what waits and resolves closed with the reason', async t => {
  const { connection, server } = await start(t, () => new Promise(() => {}))
  const answer = assert.rejects(
    connection.send(MetadataApi, { topics: [] }),
    kind('closed', /the broker closed the connection/),
  )
  await server.close(1)
  await answer
  assert.match(String(await connection.closed), /closed the connection/)
  await assert.rejects(connection.send(MetadataApi, { topics: [] }), kind('closed', /the connection is closed/))
})

test('closing fails what waits and resolves closed without a reason', async t => {
  const { connection } = await start(t, () => new Promise(() => {}))
  const answer = assert.rejects(connection.send(MetadataApi, { topics: [] }), kind('closed', /closed here/))
  connection.close()
  connection.close()
  await answer
  assert.equal(await connection.closed, undefined)
})

test('an answer that cannot be decoded fails only its request', async t => {
  const { connection } = await start(t, async ({ apiVersion, correlationId }) => [
    correlationId === 2 ? Buffer.from([1]) : metadataNamed('ok', apiVersion),
  ])
  await assert.rejects(
    connection.send(MetadataApi, { topics: [] }),
    kind('protocol', /MetadataRequest version 13 cannot be decoded/),
  )
  assert.equal((await connection.send(MetadataApi, { topics: [] })).response.clusterId, 'ok')
})

test('an answer above the limit closes the connection', async t => {
  const { connection } = await start(t, async () => [Buffer.alloc(2000)], { maxResponseBytes: 1000 })
  await assert.rejects(connection.send(MetadataApi, { topics: [] }), kind('protocol', /above the limit of 1000/))
  assert.equal(connection.isOpen, false)
})

test('garbage and answers nobody asked for are protocol failures', async t => {
  for (const [bytes, message] of [
    [Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n'), /speaks HTTP/],
    [Buffer.from([0x15, 3, 3, 0, 2, 2, 70]), /it expects TLS/],
    [frameOf(Buffer.from([0, 0, 9, 9])), /request 2313, which was not asked/],
    [frameOf(Buffer.from([0])), /an answer of 1 bytes/],
  ] as const) {
    const port = await startRaw(t, (_frame, socket) => socket.write(bytes))
    await assert.rejects(BrokerConnection.connect(options(port)), kind('protocol', message))
  }
})
