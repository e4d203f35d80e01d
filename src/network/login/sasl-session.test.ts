/** Logins over real sockets, both ends ours: mechanisms, failures, sessions that end and are renewed. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { type Clock, ManualClock, systemClock } from '../../core/clock.ts'
import { ErrorCode } from '../../protocol/errors.ts'
import { MetadataApi, MetadataResponse } from '../../protocol/messages/03-metadata.ts'
import { SaslHandshakeRequest, SaslHandshakeResponse } from '../../protocol/messages/17-sasl-handshake.ts'
import { ApiVersionsResponse } from '../../protocol/messages/18-api-versions.ts'
import { BrokerConnection } from '../broker-connection.ts'
import { ConnectionError } from '../connection-error.ts'
import { API_VERSIONS, METADATA, request, type Started, start, tick } from '../fakes/listener-bench.ts'
import { frameOf } from '../fakes/raw-client.ts'
import type { RequestHandler } from '../request-handler.ts'
import type { ClientMechanism } from './client-exchange.ts'
import { oauthBearerClient, plainClient, scramClient } from './client-mechanisms.ts'
import type { LoggedIn } from './login-exchange.ts'
import { OauthBearerServer } from './oauthbearer-server.ts'
import { PlainServer } from './plain-server.ts'
import type { LoginSettings } from './sasl-session.ts'
import { scramCredential } from './scram.ts'
import { ScramServer } from './scram-server.ts'

const HANDSHAKE = 17
const AUTHENTICATE = 36
const VERSIONS = { [METADATA]: 13, [HANDSHAKE]: 1, [API_VERSIONS]: 4, [AUTHENTICATE]: 2 } as const
const served = new Map(Object.entries(VERSIONS).map(([key, max]) => [Number(key), { min: 0, max }]))
const apiKeys = [...served].map(([apiKey, { min, max }]) => ({ apiKey, minVersion: min, maxVersion: max }))

/** Answers Metadata with the principal as the name of the cluster. */
const handler: RequestHandler = async ({ apiKey, apiVersion }, client) => {
  if (apiKey === API_VERSIONS) return [ApiVersionsResponse.encode({ errorCode: 0, apiKeys }, apiVersion)]
  if (apiKey === HANDSHAKE)
    return [SaslHandshakeResponse.encode({ errorCode: ErrorCode.ILLEGAL_SASL_STATE, mechanisms: [] }, apiVersion)]
  const clusterId = client.principal.name
  return [MetadataResponse.encode({ brokers: [], topics: [], clusterId, controllerId: -1 }, apiVersion)]
}

async function settings(
  o: { sessionMsMax?: number; tokens?: (token: string) => LoggedIn } = {},
): Promise<LoginSettings> {
  const { sessionMsMax = 0 } = o
  const credential = await scramCredential('SCRAM-SHA-512', 'secret')
  const begins = {
    PLAIN: () =>
      new PlainServer(user =>
        new Map([
          ['alice', 'secret'],
          ['bob', 'word'],
        ]).get(user),
      ),
    'SCRAM-SHA-512': () => new ScramServer('SCRAM-SHA-512', user => (user === 'alice' ? credential : undefined)),
    OAUTHBEARER: () =>
      new OauthBearerServer(async token => {
        if (!o.tokens) throw new Error('no tokens here')
        return o.tokens(token)
      }),
  }
  const mechanisms = new Map(Object.entries(begins).map(([name, begin]) => [name, { begin, sessionMsMax }]))
  return { mechanisms, requestBytesMax: 10_000, failureDelayMs: 50 }
}

interface Listening extends Started {
  readonly clock: Clock
}

async function listening(t: TestContext, login: LoginSettings, clock: Clock = systemClock): Promise<Listening> {
  return { ...(await start(t, handler, { security: { login }, served, clock })), clock }
}

/** A client with the clock of the listener. */
function connect(t: TestContext, { server, clock }: Listening, login: ClientMechanism) {
  const times = { connectTimeoutMs: 5000, requestTimeoutMs: 5000 }
  const options = { host: '127.0.0.1', port: server.port, clientId: 'test', ...times, clock, login }
  return BrokerConnection.connect(options).then(connection => {
    t.after(() => connection.close())
    return connection
  })
}

const whoAmI = async (connection: BrokerConnection) =>
  (await connection.send(MetadataApi, { topics: [] })).response.clusterId

const alice = { user: 'alice', password: 'secret' }
const failure = (kind: ConnectionError['kind'], message: RegExp) => (error: unknown) => {
  assert.ok(error instanceof ConnectionError, String(error))
  assert.equal(error.kind, kind)
  assert.match(error.message, message)
  assert.doesNotMatch(error.message, /secret|hunter2/)
  return true
}

test('each mechanism makes the principal', async t => {
  const listener = await listening(t, await settings({ tokens: token => ({ name: `of ${token}` }) }))
  assert.equal(await whoAmI(await connect(t, listener, plainClient(alice))), 'alice')
  assert.equal(await whoAmI(await connect(t, listener, scramClient('SCRAM-SHA-512', alice))), 'alice')
  const extensions = new Map([['traceId', '1']])
  assert.equal(
    await whoAmI(
      await connect(
        t,
        listener,
        oauthBearerClient(async () => 'a.b.c', extensions),
      ),
    ),
    'of a.b.c',
  )
})

test('wrong passwords, unknown users, bad tokens and other mechanisms fail as a login, and say no more', async t => {
  const listener = await listening(t, await settings())
  const refused = async (login: ClientMechanism, message: RegExp) =>
    await assert.rejects(connect(t, listener, login), failure('login', message))
  const wrong = { user: 'alice', password: 'hunter2' }
  await refused(plainClient(wrong), /Invalid username or password/)
  await refused(plainClient({ user: 'eve', password: 'secret' }), /Invalid username or password/)
  const scram = /due to invalid credentials with SASL mechanism SCRAM-SHA-512/
  await refused(scramClient('SCRAM-SHA-512', wrong), scram)
  await refused(scramClient('SCRAM-SHA-512', { user: 'bob', password: 'word' }), scram)
  await refused(
    oauthBearerClient(async () => 'a.b.c'),
    /invalid_token/,
  )
  await refused(scramClient('SCRAM-SHA-256', alice), /offers PLAIN, SCRAM-SHA-512, OAUTHBEARER/)
  assert.ok(listener.logger.lines.every(line => !/secret|hunter2/.test(line)))
  assert.equal(listener.logger.lines.filter(line => line.includes('a login failed')).length, 6)
})

test('a failed login is answered after the delay, then the connection closes', async t => {
  const clock = new ManualClock()
  const listener = await listening(t, await settings(), clock)
  const failed = assert.rejects(
    connect(t, listener, plainClient({ user: 'alice', password: 'no' })),
    failure('login', /Invalid/),
  )
  while (!listener.logger.lines.some(line => line.includes('a login failed'))) await tick()
  assert.equal(listener.server.connectionCount, 1)
  await clock.advance(50)
  await failed
  while (listener.server.connectionCount > 0) await tick()
})

test('before the login everything but ApiVersions and SaslHandshake closes, unanswered', async t => {
  const listener = await listening(t, await settings())
  for (const first of [request(1), request(1, { key: AUTHENTICATE, version: 0 })]) {
    const client = await listener.connect()
    await client.write(first)
    await client.closed
    assert.equal(client.unread, 0)
  }
  const client = await listener.connect()
  await client.write(request(1, { key: API_VERSIONS, version: 0 }))
  assert.equal((await client.next()).readInt32BE(0), 1)
  await client.write(request(2))
  await client.closed
})

test('before the login requests are small, and there is not for ever time', async t => {
  const clock = new ManualClock()
  const listener = await listening(t, await settings(), clock)
  const [large, slow] = [await listener.connect(), await listener.connect()]
  await large.write(request(1, { key: API_VERSIONS, version: 0, body: Buffer.alloc(10_001) }))
  await large.closed
  while (listener.server.connectionCount !== 1) await tick()
  await clock.advance(29_999)
  assert.equal(listener.server.connectionCount, 1)
  await clock.advance(1)
  await slow.closed
})

test('after a handshake of version 0 tokens are bare', async t => {
  const listener = await listening(t, await settings())
  const handshake = request(1, {
    key: HANDSHAKE,
    version: 0,
    body: SaslHandshakeRequest.encode({ mechanism: 'PLAIN' }, 0),
  })
  const client = await listener.connect()
  await client.write(handshake)
  assert.equal((await client.next()).readInt16BE(4), 0)
  await client.write(frameOf(Buffer.from('\0alice\0secret')))
  assert.equal((await client.next()).length, 0)
  await client.write(request(2, { version: 5 }))
  assert.match((await client.next()).toString(), /alice/)

  const other = await listener.connect()
  await other.write(handshake)
  await other.next()
  await other.write(frameOf(Buffer.from('\0alice\0hunter2')))
  await other.closed
  assert.equal(other.unread, 0)
})

test('a session is renewed before it ends, with what is under way in its order', async t => {
  const clock = new ManualClock()
  const listener = await listening(t, await settings({ sessionMsMax: 10_000 }), clock)
  const connection = await connect(t, listener, plainClient(alice))
  for (let round = 0; round < 4; round++) {
    await clock.advance(8500)
    assert.deepEqual(await Promise.all([whoAmI(connection), whoAmI(connection)]), ['alice', 'alice'])
  }
  // Had it not been renewed, this request would have found its session over.
  await clock.advance(10_001)
  assert.equal(await whoAmI(connection), 'alice')
  assert.ok(connection.isOpen)
})

test('a session that is over ends with the next request, and not before', async t => {
  const clock = new ManualClock()
  const listener = await listening(t, await settings({ sessionMsMax: 10_000 }), clock)
  const client = await listener.connect()
  await client.write(
    request(1, { key: HANDSHAKE, version: 0, body: SaslHandshakeRequest.encode({ mechanism: 'PLAIN' }, 0) }),
  )
  await client.next()
  await client.write(frameOf(Buffer.from('\0alice\0secret')))
  await client.next()
  await clock.advance(10_000)
  await client.write(request(2))
  await client.next()
  await clock.advance(1)
  assert.equal(listener.server.connectionCount, 1)
  await client.write(request(3))
  await client.closed
  assert.equal(client.unread, 0)
})

test('the life of a token bounds the session, and a renewal must be for the same user with the same mechanism', async t => {
  const clock = new ManualClock()
  let name = 'alice'
  const tokens = () => ({ name, expiresMs: clock.nowMs() + 5000 })
  const listener = await listening(t, await settings({ sessionMsMax: 10_000, tokens }), clock)
  const connection = await connect(
    t,
    listener,
    oauthBearerClient(async () => 'a.b.c'),
  )
  await clock.advance(4250)
  assert.equal(await whoAmI(connection), 'alice')
  name = 'mallory'
  await clock.advance(4250)
  const renewal = assert.rejects(whoAmI(connection), failure('login', /Cannot change principals.*from User.alice/))
  while (!listener.logger.lines.some(line => line.includes('a login failed'))) await tick()
  await clock.advance(50)
  await renewal
  assert.equal(connection.isOpen, false)
})

test('a login that waits for its token ends with the connection, or with the patience of its caller', async t => {
  const listener = await listening(t, await settings())
  const never = oauthBearerClient(() => new Promise<string>(() => {}))
  const stop = new AbortController()
  const times = { connectTimeoutMs: 5000, requestTimeoutMs: 5000, signal: stop.signal }
  const options = { host: '127.0.0.1', port: listener.server.port, clientId: 'test', clock: systemClock, login: never }
  const connecting = BrokerConnection.connect({ ...options, ...times })
  while (listener.server.connectionCount === 0) await tick()
  stop.abort(new Error('enough'))
  await assert.rejects(connecting, /enough/)
  const other = assert.rejects(BrokerConnection.connect({ ...options, ...times, signal: undefined }), ConnectionError)
  while (listener.server.connectionCount === 0) await tick()
  await listener.server.close(0)
  await other
})

test('a handshake that renews nothing is an ordinary request, and another mechanism fails the renewal', async t => {
  const clock = new ManualClock()
  const handshake = (id: number, mechanism: string) =>
    request(id, { key: HANDSHAKE, version: 0, body: SaslHandshakeRequest.encode({ mechanism }, 0) })
  for (const sessionMsMax of [0, 10_000]) {
    const listener = await listening(t, await settings({ sessionMsMax }), clock)
    const client = await listener.connect()
    await client.write(handshake(1, 'PLAIN'))
    await client.next()
    await client.write(frameOf(Buffer.from('\0alice\0secret')))
    await client.next()
    await client.write(handshake(2, 'SCRAM-SHA-512'))
    const answer = await client.next()
    assert.equal(answer.readInt16BE(4), sessionMsMax === 0 ? ErrorCode.ILLEGAL_SASL_STATE : 0)
    if (sessionMsMax === 0) continue
    await client.write(frameOf(Buffer.from('n,,n=alice,r=abc')))
    while (!listener.logger.lines.some(line => line.includes('a login failed'))) await tick()
    await clock.advance(50)
    await client.closed
    assert.equal(client.unread, 0)
  }
})
