/** The login of a Kafka broker that follows partitions, request by request as its fetcher threads send it, and its renewal. */
import { deepStrictEqual, strictEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { ManualClock } from '../../core/clock.ts'
import { SaslHandshakeRequest, SaslHandshakeResponse } from '../../protocol/messages/17-sasl-handshake.ts'
import { ApiVersionsResponse } from '../../protocol/messages/18-api-versions.ts'
import { SaslAuthenticateRequest, SaslAuthenticateResponse } from '../../protocol/messages/36-sasl-authenticate.ts'
import { RequestHeader } from '../../protocol/messages/header.ts'
import { start } from '../fakes/listener-bench.ts'
import { frameOf } from '../fakes/raw-client.ts'
import { PlainServer } from './plain-server.ts'

const FETCH = 1
/** Kafka numbers the requests of a login downwards from here. */
const LOGIN_CORRELATION = 2_147_483_640

const sent = (of: { key: number; version: number; correlationId: number; clientId: string | null; body?: Buffer }) =>
  frameOf(
    RequestHeader.encode(
      {
        requestApiKey: of.key,
        requestApiVersion: of.version,
        correlationId: of.correlationId,
        clientId: of.clientId,
      },
      // Flexible from SaslAuthenticate 2 and Fetch 12 on.
      of.key === 36 || of.key === FETCH ? 2 : 1,
    ),
    of.body ?? Buffer.alloc(0),
  )

test('a fetcher of Kafka logs in with ApiVersions 0 first, and renews its login on the same connection', async t => {
  const clock = new ManualClock()
  const begin = () => new PlainServer(user => (user === 'broker' ? 'secret' : undefined))
  const login = {
    mechanisms: new Map([['PLAIN', { begin, sessionMsMax: 10_000 }]]),
    requestBytesMax: 10_000,
    failureDelayMs: 0,
  }
  const principals: string[] = []
  const listener = await start(
    t,
    async ({ apiKey, apiVersion, body }, client) => {
      principals.push(client.principal.name)
      return apiKey === 18 ? [ApiVersionsResponse.encode({ errorCode: 0, apiKeys: [] }, apiVersion)] : [body]
    },
    {
      security: { login },
      served: new Map([1, 17, 18, 36].map(key => [key, { min: 0, max: key === FETCH ? 18 : 4 }])),
      clock,
    },
  )
  const client = await listener.connect()
  const ask = async (request: Buffer) => {
    await client.write(request)
    return await client.next()
  }
  const logIn = async (first: number) => {
    const shared = { clientId: null }
    const mechanism = SaslHandshakeRequest.encode({ mechanism: 'PLAIN' }, 1)
    const handshake = await ask(sent({ ...shared, key: 17, version: 1, correlationId: first, body: mechanism }))
    strictEqual(handshake.readInt32BE(), first)
    strictEqual(SaslHandshakeResponse.decode(handshake.subarray(4), 1).errorCode, 0)
    const token = SaslAuthenticateRequest.encode({ authBytes: Buffer.from('\0broker\0secret') }, 2)
    const authenticated = await ask(sent({ ...shared, key: 36, version: 2, correlationId: first + 1, body: token }))
    // A flexible answer: correlation id and no tags before it.
    const { errorCode, sessionLifetimeMs } = SaslAuthenticateResponse.decode(authenticated.subarray(5), 2)
    deepStrictEqual([errorCode, sessionLifetimeMs], [0, 10_000n])
  }

  const versions = await ask(sent({ key: 18, version: 0, correlationId: LOGIN_CORRELATION, clientId: null }))
  strictEqual(versions.readInt32BE(), LOGIN_CORRELATION)
  strictEqual(ApiVersionsResponse.decode(versions.subarray(4), 0).errorCode, 0)
  await logIn(LOGIN_CORRELATION + 1)
  const fetch = { key: FETCH, version: 18, clientId: 'broker-2-fetcher-0' }
  strictEqual((await ask(sent({ ...fetch, correlationId: 0 }))).readInt32BE(), 0)

  await clock.advance(9000)
  await logIn(LOGIN_CORRELATION)
  await clock.advance(9000)
  strictEqual((await ask(sent({ ...fetch, correlationId: 1 }))).readInt32BE(), 1)
  deepStrictEqual(principals, ['ANONYMOUS', 'broker', 'broker'])
})
