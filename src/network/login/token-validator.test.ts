/** Tokens: claims, signatures, keys that change; tokens for clients. */
import { deepEqual, equal, match, rejects } from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { type CryptoKey, exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose'
import { ManualClock } from '../../core/clock.ts'
import { silentLogger } from '../../core/logger.ts'
import { JsonWebKeys } from './json-web-keys.ts'
import { TokenSource } from './token-source.ts'
import { type TokenDemands, tokenValidator } from './token-validator.ts'

interface Key {
  readonly id: string
  readonly privateKey: CryptoKey
  readonly jwk: object
}

async function makeKey(id: string): Promise<Key> {
  const { publicKey, privateKey } = await generateKeyPair('ES256', { extractable: true })
  return { id, privateKey, jwk: { ...(await exportJWK(publicKey)), kid: id, alg: 'ES256' } }
}

const sign = (key: Key, claims: JWTPayload): Promise<string> =>
  new SignJWT(claims).setProtectedHeader({ alg: 'ES256', kid: key.id }).sign(key.privateKey)

async function world(t: TestContext, o: Partial<TokenDemands> = {}) {
  const clock = new ManualClock()
  const key = await makeKey('one')
  const folder = await mkdtemp(join(tmpdir(), 'lockstep-keys-'))
  t.after(() => rm(folder, { recursive: true }))
  const file = join(folder, 'keys.json')
  const publish = (...keys: Key[]) => writeFile(file, JSON.stringify({ keys: keys.map(({ jwk }) => jwk) }))
  await publish(key)
  const keys = new JsonWebKeys({
    url: pathToFileURL(file),
    refreshMs: 60_000,
    retryBackoffMs: 100,
    retryBackoffMaxMs: 10_000,
    clock,
    logger: silentLogger,
  })
  const nowS = clock.nowMs() / 1000
  const validate = tokenValidator({
    keys,
    audiences: [],
    issuer: undefined,
    clockSkewSeconds: 30,
    subjectClaim: 'sub',
    scopeClaim: 'scope',
    clock,
    ...o,
  })
  const claims = { sub: 'alice', iat: nowS, exp: nowS + 60 }
  return { clock, key, publish, validate, claims, nowS, file }
}

test('a good token names its user and ends with its life', async t => {
  const { key, validate, claims, nowS } = await world(t)
  deepEqual(await validate(await sign(key, claims)), { name: 'alice', expiresMs: (nowS + 60) * 1000 })
  deepEqual((await validate(await sign(key, { ...claims, sub: ' alice ', scope: ['a', 'b'] }))).name, 'alice')
})

test('times count with the clock skew', async t => {
  const { key, validate, claims, nowS } = await world(t)
  await validate(await sign(key, { ...claims, exp: nowS - 29 }))
  await rejects(validate(await sign(key, { ...claims, exp: nowS - 31 })), /"exp" claim/)
  await validate(await sign(key, { ...claims, nbf: nowS + 29 }))
  await rejects(validate(await sign(key, { ...claims, nbf: nowS + 31 })), /"nbf" claim/)
})

test('claims that are missing or of another form are refused', async t => {
  const { key, validate, claims } = await world(t)
  const { exp, iat, sub } = claims
  for (const bad of [
    { sub, iat },
    { sub, exp },
    { exp, iat },
    { ...claims, sub: ' ' },
    { ...claims, scope: ['a', 'a'] },
    { ...claims, scope: '' },
    { ...claims, scope: [1] as unknown as string[] },
  ])
    await rejects(validate(await sign(key, bad)))
})

test('audience, issuer and names of claims can be demanded', async t => {
  const demands = {
    audiences: ['kafka', 'lockstep'],
    issuer: 'https://issuer',
    subjectClaim: 'email',
    scopeClaim: 'scp',
  }
  const { key, validate, claims } = await world(t, demands)
  const good = { ...claims, aud: ['other', 'lockstep'], iss: 'https://issuer', email: 'a@b', scp: ['x'] }
  equal((await validate(await sign(key, good))).name, 'a@b')
  for (const bad of [{ aud: 'other' }, { iss: 'https://other' }, { email: '' }, { scp: ['x', 'x'] }])
    await rejects(validate(await sign(key, { ...good, ...bad })))
})

test('signatures of others, and tokens without one, are refused', async t => {
  const { key, validate, claims } = await world(t)
  await rejects(validate(await sign({ ...(await makeKey('one')), id: 'one' }, claims)), /signature/)
  const [, payload] = (await sign(key, claims)).split('.')
  const header = Buffer.from('{"alg":"none"}').toString('base64url')
  await rejects(validate(`${header}.${payload}.`))
  await rejects(validate('nonsense'))
})

test('a new key is found when a token names it, an old one goes with the next look', async t => {
  const { clock, key, publish, validate, claims } = await world(t)
  const next = await makeKey('two')
  const [before, after] = [await sign(key, claims), await sign(next, claims)]
  await validate(before)
  await publish(next)
  await rejects(validate(after), 'looked for at most once a second')
  await clock.advance(1000)
  await validate(after)
  await clock.advance(1000)
  await rejects(validate(before))
})

test('keys that cannot be loaded refuse tokens until they can', async t => {
  const { clock, key, publish, validate, claims, file } = await world(t)
  const token = await sign(key, claims)
  await rm(file)
  await rejects(validate(token), /cannot be loaded/)
  await publish(key)
  await validate(token)
  await rm(file)
  await clock.advance(20_000)
  await validate(token)
})

test('a client gets its token with client credentials, keeps it while it is fresh, and tells why it has none', async t => {
  const { clock, key, claims, nowS } = await world(t)
  const asked: string[] = []
  let status = 200
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', chunk => chunks.push(chunk))
    request.on('end', async () => {
      asked.push(`${request.headers.authorization} ${Buffer.concat(chunks)}`)
      const token = await sign(key, { ...claims, exp: nowS + 100 * asked.length })
      response.writeHead(status).end(JSON.stringify({ access_token: token }))
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  const address = server.address()
  const url = new URL(`http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}/token?x=y`)
  const source = new TokenSource({ url, clientId: 'me', clientSecret: 'hunter2', scope: 'kafka', clock })
  const [one, same] = await Promise.all([source.token(), source.token()])
  equal(one, same)
  equal(await source.token(), one)
  deepEqual(asked, [`Basic ${Buffer.from('me:hunter2').toString('base64')} grant_type=client_credentials&scope=kafka`])
  await clock.advance(80_000)
  equal((await source.token()) === one, false)
  status = 401
  await clock.advance(100_000)
  await rejects(source.token(), error => {
    match(String(error), /no token from http:\/\/127.0.0.1:\d+: the answer is 401/)
    return !String(error).includes('hunter2')
  })
})
