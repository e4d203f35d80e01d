/** One connection of the listener against clients that behave, misbehave, pipeline, stall and leave. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ManualClock } from '../core/clock.ts'
import { ErrorCode } from '../protocol/errors.ts'
import { MetadataRequest } from '../protocol/messages/03-metadata.ts'
import { ApiVersionsRequest, ApiVersionsResponse } from '../protocol/messages/18-api-versions.ts'
import { ConnectionQuota } from './connection-quota.ts'
import { API_VERSIONS, echo, request, start, tick } from './fakes/listener-bench.ts'
import { frameOf } from './fakes/raw-client.ts'
import type { ClientContext, IncomingRequest } from './request-handler.ts'

test('a request that arrives byte by byte is answered with its correlation id', async t => {
  const seen: IncomingRequest[] = []
  const { connect } = await start(t, async request => {
    seen.push(request)
    return [Buffer.from('he'), Buffer.from('llo')]
  })
  const client = await connect()
  for (const byte of request(77, { body: Buffer.from('body') })) await client.write(Buffer.from([byte]))
  assert.deepEqual(await client.next(), Buffer.concat([Buffer.from([0, 0, 0, 77]), Buffer.from('hello')]))
  assert.equal(seen.length, 1)
  const { receivedMs, progress: _, ...rest } = seen[0] ?? assert.fail()
  assert.deepEqual(rest, { apiKey: 3, apiVersion: 1, correlationId: 77, clientId: 'test', body: Buffer.from('body') })
  assert.ok(receivedMs > 0)
})

test('flexible versions have a tagged section in the response header, ApiVersions never', async t => {
  const { connect } = await start(t, echo)
  const client = await connect()
  await client.write(request(1, { version: 9, body: Buffer.from('x') }))
  assert.deepEqual(await client.next(), Buffer.from([0, 0, 0, 1, 0, 0x78]))
  await client.write(request(2, { key: API_VERSIONS, version: 3, body: Buffer.from('y') }))
  assert.deepEqual(await client.next(), Buffer.from([0, 0, 0, 2, 0x79]))
})

test('pipelined requests are handled one at a time and answered in order', async t => {
  let running = 0
  let most = 0
  const { connect } = await start(t, async request => {
    running++
    most = Math.max(most, running)
    for (let i = request.correlationId % 3; i >= 0; i--) await tick()
    running--
    return [request.body]
  })
  const client = await connect()
  const ids = Array.from({ length: 200 }, (_, i) => i)
  await client.write(Buffer.concat(ids.map(id => request(id))))
  for (const id of ids) assert.equal((await client.next()).readInt32BE(0), id)
  assert.equal(most, 1)
})

test('after the answer to a client over its quota the next request waits, as long as the longest pause', async t => {
  const clock = new ManualClock()
  const handled: number[] = []
  const { connect } = await start(
    t,
    async request => {
      handled.push(request.correlationId)
      if (request.correlationId === 1) for (const ms of [5000, 2000]) request.progress.pause(ms)
      return [request.body]
    },
    { clock },
  )
  const [paused, other] = [await connect(), await connect()]
  await paused.write(Buffer.concat([request(1), request(2)]))
  assert.equal((await paused.next()).readInt32BE(0), 1)
  await other.write(request(3))
  assert.equal((await other.next()).readInt32BE(0), 3)
  await clock.advance(4999)
  assert.deepEqual(handled, [1, 3])
  await clock.advance(1)
  assert.equal((await paused.next()).readInt32BE(0), 2)
})

test('a listener that closes does not wait for the end of a pause', async t => {
  const { connect, server } = await start(t, async request => {
    request.progress.pause(3_600_000)
    return [request.body]
  })
  const client = await connect()
  await client.write(Buffer.concat([request(1), request(2)]))
  await client.next()
  await server.close(3_600_000)
})

test('a connection that comes too quickly is closed unread, after its pause', async t => {
  const clock = new ManualClock()
  const connectionQuota = new ConnectionQuota()
  connectionQuota.rates.change({ addresses: new Map([['127.0.0.1', 0.1]]) })
  const { connect } = await start(t, echo, { clock, connectionQuota })
  const first = await connect()
  await first.write(request(1))
  assert.equal((await first.next()).readInt32BE(0), 1)
  const second = await connect()
  await second.write(request(2))
  await first.write(request(3))
  assert.equal((await first.next()).readInt32BE(0), 3)
  while (clock.pending === 0) await tick()
  await clock.advance(1000)
  await second.closed
})

test('a request without an answer is followed by the next one', async t => {
  const { connect } = await start(t, async request => (request.correlationId === 1 ? undefined : [request.body]))
  const client = await connect()
  await client.write(Buffer.concat([request(1), request(2)]))
  assert.equal((await client.next()).readInt32BE(0), 2)
})

test('requests that were sent before the client ended the connection are still handled', async t => {
  const handled: number[] = []
  const { connect } = await start(t, async request => {
    await tick()
    handled.push(request.correlationId)
    return undefined
  })
  const client = await connect()
  client.socket.end(Buffer.concat([request(1), request(2), request(3)]))
  await client.closed
  assert.deepEqual(handled, [1, 2, 3])
})

test('ApiVersions in an unknown version is answered in version 0 with the versions to use', async t => {
  const { connect } = await start(t, echo)
  const client = await connect()
  await client.write(request(9, { key: API_VERSIONS, version: 99, body: Buffer.from('?') }))
  const answer = await client.next()
  assert.equal(answer.readInt32BE(0), 9)
  const { errorCode, apiKeys } = ApiVersionsResponse.decode(answer.subarray(4), 0)
  assert.equal(errorCode, ErrorCode.UNSUPPORTED_VERSION)
  assert.deepEqual(apiKeys, [{ apiKey: API_VERSIONS, minVersion: 0, maxVersion: 4 }])
})

test('the client software of ApiVersions is remembered for the connection', async t => {
  const seen: ClientContext['clientSoftware'][] = []
  const { connect } = await start(t, async (request, client) => {
    seen.push(client.clientSoftware)
    return [request.body]
  })
  const client = await connect()
  const body = ApiVersionsRequest.encode({ clientSoftwareName: 'kcat', clientSoftwareVersion: '1.7' }, 3)
  await client.write(Buffer.concat([request(1), request(2, { key: API_VERSIONS, version: 3, body }), request(3)]))
  for (let i = 0; i < 3; i++) await client.next()
  assert.deepEqual(seen, [undefined, { name: 'kcat', version: '1.7' }, { name: 'kcat', version: '1.7' }])
})

for (const [what, bytes, line] of [
  ['a frame above the limit', Buffer.from([0x7f, 0, 0, 0]), /a frame of 2130706432 bytes, above the limit of 1048576/],
  ['a negative size', Buffer.from([0x80, 0, 0, 0]), /negative size/],
  ['HTTP', Buffer.from('GET / HTTP/1.1\r\n\r\n'), /speaks HTTP/],
  ['a frame without a header', frameOf(Buffer.from([0, 3, 0])), /3 bytes has no header/],
  ['an api key that does not exist', request(1, { key: 999 }), /api key 999 is not served here/],
  ['an api that this listener does not serve', request(1, { key: 4 }), /not served here/],
  ['a version that is not served', request(1, { version: 14 }), /Metadata version 14 is not served \(0 to 13 are\)/],
  ['a client id beyond the frame', frameOf(Buffer.from([0, 3, 0, 1, 0, 0, 0, 1, 0, 50])), /cannot be read/],
] as const) {
  test(`${what} closes the connection with a line in the log`, async t => {
    const { connect, logger } = await start(t, echo)
    const client = await connect()
    await client.write(bytes)
    await client.closed
    assert.equal(logger.lines.length, 1)
    assert.match(logger.lines[0] ?? '', /^warn closing the connection of 127\.0\.0\.1/)
    assert.match(logger.lines[0] ?? '', line)
  })
}

test('a handler that fails closes its connection and no other', async t => {
  const { connect, logger } = await start(t, async request => {
    if (request.correlationId === 13) throw new Error('broken')
    return [request.body]
  })
  const [bad, good] = [await connect(), await connect()]
  await bad.write(request(13))
  await bad.closed
  assert.deepEqual(logger.lines, ['error closing the connection: its request failed (broken)'])
  await good.write(request(5))
  assert.equal((await good.next()).readInt32BE(0), 5)
})

test('a client that disconnects aborts the signal of a waiting request', async t => {
  const arrived = Promise.withResolvers<AbortSignal>()
  const { connect, server } = await start(t, (_request, client) => {
    arrived.resolve(client.signal)
    return new Promise(resolve => client.signal.addEventListener('abort', () => resolve(undefined)))
  })
  const client = await connect()
  await client.write(request(1))
  const signal = await arrived.promise
  assert.equal(signal.aborted, false)
  await client.close()
  await new Promise<void>(resolve => (signal.aborted ? resolve() : signal.addEventListener('abort', () => resolve())))
  while (server.connectionCount > 0) await tick()
})

test('while an answer is unread nothing more is read or handled', async t => {
  let handled = 0
  const answerBytes = 8 << 20
  const { connect } = await start(t, async () => {
    handled++
    return [Buffer.alloc(answerBytes)]
  })
  const client = await connect()
  client.socket.pause()
  const oneMegabyte = MetadataRequest.encode({ topics: [{ name: 'x'.repeat(200) }] }, 1)
  // Far more than the kernel's buffers hold: the writes stop going through when the server stops reading.
  const requests = Buffer.concat(Array.from({ length: 1000 }, (_, i) => request(i, { body: oneMegabyte })))
  for (let i = 0; i < 100; i++) client.socket.write(requests)
  while (client.socket.bytesWritten - client.socket.writableLength === 0) await tick()
  for (let i = 0; i < 50; i++) await tick()
  assert.equal(handled, 1)
  assert.ok(client.socket.writableLength > 5 << 20, `${client.socket.writableLength} bytes wait at the client`)
  client.socket.resume()
  for (let i = 0; i < 3; i++) assert.equal((await client.next()).length, answerBytes + 4)
})
