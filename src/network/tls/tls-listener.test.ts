/** TLS over real sockets, both ends ours: trust, host names, client certificates, renewal of keys, and what each failure is called. */
import assert from 'node:assert/strict'
import { createServer } from 'node:net'
import { type TestContext, test } from 'node:test'
import { connect as connectTls } from 'node:tls'
import { systemClock } from '../../core/clock.ts'
import { MetadataApi, MetadataResponse } from '../../protocol/messages/03-metadata.ts'
import { ApiVersionsResponse } from '../../protocol/messages/18-api-versions.ts'
import { BrokerConnection, type ConnectOptions } from '../broker-connection.ts'
import { ConnectionError } from '../connection-error.ts'
import { API_VERSIONS, METADATA, type Started, start } from '../fakes/listener-bench.ts'
import type { ServerTls } from '../listener-security.ts'
import type { RequestHandler } from '../request-handler.ts'
import { makeAuthority, type TestIdentity } from './fakes/test-certificates.ts'
import { principalMapping } from './principal-mapping.ts'

const apiKeys = [
  { apiKey: METADATA, minVersion: 0, maxVersion: 13 },
  { apiKey: API_VERSIONS, minVersion: 0, maxVersion: 4 },
]

/** Answers Metadata with the principal as the name of the cluster; topics that are asked for make the answer large. */
const handler: RequestHandler = async ({ apiKey, apiVersion }, client) => {
  if (apiKey === API_VERSIONS) return [ApiVersionsResponse.encode({ errorCode: 0, apiKeys }, apiVersion)]
  const clusterId = client.principal.name
  return [MetadataResponse.encode({ brokers: [], topics: [], clusterId, controllerId: -1 }, apiVersion)]
}

interface Demands {
  readonly clientAuth?: 'none' | 'requested' | 'required'
  readonly rules?: string
  readonly identifies?: boolean
}

function serverTls(host: TestIdentity, trusted: TestIdentity, demands: Demands = {}): ServerTls {
  const { clientAuth = 'none', rules = 'DEFAULT', identifies = true } = demands
  const certificates = { key: host.key, cert: host.certificate, ca: trusted.certificate }
  return {
    options: { ...certificates, requestCert: clientAuth !== 'none', rejectUnauthorized: clientAuth === 'required' },
    identifies,
    principalNameOf: principalMapping(rules),
  }
}

function world() {
  const made = makeAuthority()
  const client = made.issue({
    name: [
      ['O', 'Org'],
      ['CN', 'client'],
    ],
  })
  return { ...made, client, stranger: makeAuthority() }
}

async function connect(t: TestContext, port: number, o: Partial<ConnectOptions>): Promise<BrokerConnection> {
  const times = { connectTimeoutMs: 5000, requestTimeoutMs: 5000 }
  const connection = await BrokerConnection.connect({
    host: '127.0.0.1',
    port,
    clientId: 'test',
    ...times,
    clock: systemClock,
    ...o,
  })
  t.after(() => connection.close())
  return connection
}

const trusting = (authority: TestIdentity, own?: TestIdentity, checksHost = true): Partial<ConnectOptions> => ({
  tls: {
    options: { ca: authority.certificate, ...(own ? { key: own.key, cert: own.certificate } : {}) },
    checksHost,
  },
})

const whoAmI = async (connection: BrokerConnection) =>
  (await connection.send(MetadataApi, { topics: [] })).response.clusterId

const failure = (kind: ConnectionError['kind'], message: RegExp) => (error: unknown) => {
  assert.ok(error instanceof ConnectionError, String(error))
  assert.match(error.message, message)
  assert.equal(error.kind, kind)
  return true
}

const listening = (t: TestContext, tls: ServerTls): Promise<Started> => start(t, handler, { security: { tls } })

test('a client without a certificate is anonymous, also where one is requested', async t => {
  const { host, authority } = world()
  for (const clientAuth of ['none', 'requested'] as const) {
    const { server } = await listening(t, serverTls(host, authority, { clientAuth }))
    assert.equal(await whoAmI(await connect(t, server.port, trusting(authority))), 'ANONYMOUS')
  }
})

test('a certificate names the principal by the rules; with a login it does not', async t => {
  const { host, authority, client } = world()
  const named = async (demands: Demands) => {
    const { server } = await listening(t, serverTls(host, authority, { clientAuth: 'required', ...demands }))
    return await whoAmI(await connect(t, server.port, trusting(authority, client)))
  }
  assert.equal(await named({}), 'CN=client,O=Org')
  assert.equal(await named({ rules: 'RULE:^CN=(.*?),.*$/$1/U' }), 'CLIENT')
  assert.equal(await named({ identifies: false }), 'ANONYMOUS')
  await assert.rejects(named({ rules: 'RULE:^CN=other.*$/x/' }))
})

test('a client that should show a trusted certificate and does not is refused', async t => {
  const { host, authority, stranger } = world()
  const foreign = stranger.issue({ name: [['CN', 'client']] })
  const expired = makeAuthority()
  const required = await listening(t, serverTls(host, authority, { clientAuth: 'required' }))
  await assert.rejects(
    connect(t, required.server.port, trusting(authority)),
    failure('tls', /wants a certificate|refuses our/),
  )
  for (const own of [foreign, expired.issue({ name: [['CN', 'client']], days: -1 })]) {
    await assert.rejects(connect(t, required.server.port, trusting(authority, own)), ConnectionError)
    const requested = await listening(t, serverTls(host, authority, { clientAuth: 'requested' }))
    await assert.rejects(connect(t, requested.server.port, trusting(authority, own)), ConnectionError)
    assert.match(requested.logger.lines.join(), /a client certificate is refused/)
  }
})

test('a client trusts what it was told to, for the host that it asked for', async t => {
  const { host, authority, stranger, issue } = world()
  const { server } = await listening(t, serverTls(host, authority))
  await assert.rejects(connect(t, server.port, trusting(stranger.authority)), failure('tls', /is not trusted here/))
  const dnsLookup = async () => ['127.0.0.1']
  const elsewhere = { host: 'kafka.example', dnsLookup }
  await assert.rejects(
    connect(t, server.port, { ...trusting(authority), ...elsewhere }),
    failure('tls', /is for another host/),
  )
  assert.ok(await connect(t, server.port, { ...trusting(authority, undefined, false), ...elsewhere }))
  assert.ok(await connect(t, server.port, { ...trusting(authority), host: 'localhost', dnsLookup }))
  const old = await listening(t, serverTls(issue({ name: [['CN', 'x']], hosts: ['127.0.0.1'], days: -1 }), authority))
  await assert.rejects(connect(t, old.server.port, trusting(authority)), failure('tls', /has expired/))
})

test('TLS and plain ends do not understand each other, and say so', async t => {
  const { host, authority } = world()
  const secure = await listening(t, serverTls(host, authority))
  await assert.rejects(connect(t, secure.server.port, {}), ConnectionError)
  const plain = await start(t, handler)
  await assert.rejects(connect(t, plain.server.port, trusting(authority)), ConnectionError)
  const closing = createServer(socket => socket.destroy())
  await new Promise<void>(resolve => closing.listen(0, '127.0.0.1', resolve))
  t.after(() => closing.close())
  const address = closing.address()
  const port = typeof address === 'object' && address ? address.port : 0
  await assert.rejects(
    connect(t, port, trusting(authority)),
    failure('tls', /closed the connection|ECONNRESET|disconnected/),
  )
})

test('keys that are changed hold for new connections, the old ones go on', async t => {
  const { host, authority, stranger } = world()
  const { server } = await listening(t, serverTls(host, authority))
  const before = await connect(t, server.port, trusting(authority))
  server.changeSecurity({ tls: serverTls(stranger.host, stranger.authority) })
  assert.equal(await whoAmI(await connect(t, server.port, trusting(stranger.authority))), 'ANONYMOUS')
  await assert.rejects(connect(t, server.port, trusting(authority)), failure('tls', /not trusted/))
  assert.equal(await whoAmI(before), 'ANONYMOUS')
})

test('large answers come whole through TLS, in memory that the connection chose', async t => {
  const { host, authority } = world()
  const big = Buffer.alloc(3 << 20, 'x').toString()
  const answering: RequestHandler = async (request, client) => {
    if (request.apiKey === API_VERSIONS) return await handler(request, client)
    const topics = [{ errorCode: 0, name: big.slice(0, 30_000), partitions: [] }]
    const many = Array.from({ length: 100 }, () => topics).flat()
    return MetadataResponse.encodeChunks(
      { brokers: [], topics: many, clusterId: 'c', controllerId: -1 },
      request.apiVersion,
    )
  }
  const { server } = await start(t, answering, { security: { tls: serverTls(host, authority) } })
  const connection = await connect(t, server.port, trusting(authority))
  const answers = await Promise.all([1, 2, 3].map(() => connection.send(MetadataApi, { topics: [] })))
  for (const { response } of answers) assert.equal(response.topics.length, 100)
})

test('the listener closes while a handshake is under way, and connections in use are let end', async t => {
  const { host, authority } = world()
  const { server, connect: open } = await listening(t, serverTls(host, authority))
  const idle = await open()
  const secured = connectTls({ host: '127.0.0.1', port: server.port, ca: authority.certificate })
  await new Promise<void>(resolve => secured.once('secureConnect', () => resolve()))
  const gone = new Promise<void>(resolve => secured.once('close', () => resolve()))
  secured.on('error', () => {})
  secured.resume()
  await server.close()
  await Promise.all([idle.closed, gone])
})
