/** Logins of REST over injected requests: SCRAM users, the users file, ACLs, what failures cost; and certificates over https. */
import { deepStrictEqual, match, ok, rejects, strictEqual, throws } from 'node:assert/strict'
import { mkdtemp, rm, utimes, writeFile } from 'node:fs/promises'
import { request as httpsRequest, type RequestOptions } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { ManualClock, systemClock } from '../../core/clock.ts'
import { silentLogger } from '../../core/logger.ts'
import { hashPassword } from '../../core/password-hash.ts'
import { AclPattern, AclPermission } from '../../metadata/acl.ts'
import { AclOperation, AclResource, CLUSTER_NAME } from '../../metadata/authorizer.ts'
import { imageWithAcls, numberedAcl } from '../../metadata/fakes/random-acls.ts'
import { emptyImage, type MetadataImage, scramCredentialKey } from '../../metadata/metadata-image.ts'
import { StandardAuthorizer } from '../../metadata/standard-authorizer.ts'
import { type ListenerSecurity, openListener } from '../../network/listener-security.ts'
import { scramCredential } from '../../network/login/scram.ts'
import { makeAuthority } from '../../network/tls/fakes/test-certificates.ts'
import { principalMapping } from '../../network/tls/principal-mapping.ts'
import { FAKE_CLUSTER_ID, FakeEngine, fakeContext } from '../../rest/fakes/fake-engine.ts'
import { buildRestApplication } from '../../rest/server.ts'
import { Passwords } from './passwords.ts'
import { restAccess } from './rest-access.ts'
import { RestLogin, type RestLoginOptions } from './rest-login.ts'
import { parseUsers, UsersFile } from './users-file.ts'

const CLUSTERS = '/kafka/v3/clusters'
/** Needs DESCRIBE on the cluster. */
const LINKS = `/kafka/v3/clusters/${FAKE_CLUSTER_ID}/links`
const TOPICS = `/kafka/v3/clusters/${FAKE_CLUSTER_ID}/topics`

const basic = (user: string, password: string) => ({
  authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`,
})

const mayDescribe = (principal: string) =>
  numberedAcl(
    {
      resourceType: AclResource.CLUSTER,
      resourceName: CLUSTER_NAME,
      patternType: AclPattern.LITERAL,
      principal,
      host: '127.0.0.1',
      operation: AclOperation.DESCRIBE,
      permissionType: AclPermission.ALLOW,
    },
    1,
  )

async function withScramUser(user: string, password: string, base = emptyImage('c')): Promise<MetadataImage> {
  const credential = await scramCredential('SCRAM-SHA-512', password)
  const entry = { user, mechanism: 2, ...credential }
  return { ...base, scramCredentials: new Map([[scramCredentialKey(user, 2), entry]]) }
}

interface Options extends Partial<RestLoginOptions> {
  readonly image?: MetadataImage
  readonly acls?: boolean
}

async function application(t: TestContext, options: Options = {}, tls?: ListenerSecurity) {
  const { image = emptyImage('c'), acls = false } = options
  const login = new RestLogin({
    passwords: new Passwords({ file: undefined, image: () => image }),
    security: () => tls ?? openListener,
    anonymousAllowed: false,
    metricsOpen: false,
    clock: new ManualClock(),
    logger: silentLogger,
    ...options,
  })
  const authorizer = new StandardAuthorizer({ superUsers: new Set(['User:root']), allowIfNoAcl: false })
  const context = fakeContext(new FakeEngine(), {
    login,
    ...(acls ? { access: restAccess({ image }, authorizer) } : {}),
  })
  const app = await buildRestApplication(context, tls?.tls?.options)
  t.after(() => app.close())
  return app
}

test('without a login the answer is 401 with a challenge, but health answers anybody', async t => {
  const app = await application(t)
  const answer = await app.inject(CLUSTERS)
  deepStrictEqual([answer.statusCode, answer.json().error_code], [401, 40101])
  match(String(answer.headers['www-authenticate']), /^Basic realm/)
  const codes = await Promise.all(
    ['/healthz', '/readyz', '/openapi.json', '/metrics', '/no/such/path'].map(
      async url => (await app.inject(url)).statusCode,
    ),
  )
  deepStrictEqual(codes, [200, 200, 200, 401, 401])
  const open = await application(t, { metricsOpen: true })
  strictEqual((await open.inject('/metrics')).statusCode, 200)
})

test('SCRAM users log in with their password, and what is right once is right until the credential changes', async t => {
  const credential = await withScramUser('alice', 'secret')
  let image = credential
  const app = await application(t, { passwords: new Passwords({ file: undefined, image: () => image }) })
  const headers = basic('alice', 'secret')
  strictEqual((await app.inject({ url: CLUSTERS, headers })).statusCode, 200)
  strictEqual((await app.inject({ url: CLUSTERS, headers })).statusCode, 200)
  image = await withScramUser('alice', 'other')
  const clock = systemClock
  const late = await application(t, { passwords: new Passwords({ file: undefined, image: () => image }), clock })
  strictEqual((await late.inject({ url: CLUSTERS, headers })).statusCode, 401)
})

test('a wrong password, an unknown user and another scheme are refused, with nothing of the password in the answer', async t => {
  const app = await application(t, { image: await withScramUser('alice', 'secret'), clock: systemClock })
  for (const headers of [basic('alice', 'hunter2'), basic('bob', 'secret'), { authorization: 'Bearer hunter2' }]) {
    const answer = await app.inject({ url: CLUSTERS, headers })
    strictEqual(answer.statusCode, 401)
    ok(!answer.body.includes('hunter2'))
  }
})

test('each failure of an address waits longer, and beyond ten that wait the next is not looked at', async t => {
  const clock = new ManualClock()
  const app = await application(t, { clock })
  const answered: number[] = []
  const attempt = async () => {
    answered.push((await app.inject({ url: CLUSTERS, headers: basic('a', 'b') })).statusCode)
  }
  const waiting = Array.from({ length: 10 }, attempt)
  while (clock.pending < 10) await new Promise(resolve => setImmediate(resolve))
  const limited = await app.inject({ url: CLUSTERS, headers: basic('a', 'b') })
  deepStrictEqual([limited.statusCode, limited.headers['retry-after']], [429, '1'])
  await clock.advance(99)
  strictEqual(answered.length, 0)
  await clock.advance(1)
  strictEqual(answered.length, 1)
  await clock.advance(5000)
  await Promise.all(waiting)
  deepStrictEqual(answered, new Array(10).fill(401))
})

test('ACLs decide what who logged in may do; who did not is asked to', async t => {
  const image = imageWithAcls([mayDescribe('User:alice')], await withScramUser('alice', 'secret'))
  const app = await application(t, { image, acls: true, anonymousAllowed: true })
  const headers = basic('alice', 'secret')
  strictEqual((await app.inject({ url: LINKS, headers })).statusCode, 200)
  const payload = { topic_name: 't' }
  const denied = await app.inject({ method: 'POST', url: TOPICS, headers, payload })
  deepStrictEqual([denied.statusCode, denied.json().error_code], [403, 40301])
  match(denied.json().message, /User:alice lacks CREATE on topic "t"/)
  strictEqual((await app.inject(LINKS)).statusCode, 401)
  strictEqual((await app.inject({ url: LINKS, headers, remoteAddress: '10.0.0.1' })).statusCode, 403)
})

test('the users file holds passwords or hashes, and is read again when it changes', async t => {
  const folder = await mkdtemp(join(tmpdir(), 'lockstep-users-'))
  t.after(() => rm(folder, { recursive: true }))
  const path = join(folder, 'users')
  await writeFile(path, `# operators\nalice: plain: text\nbob: ${await hashPassword('hashed')}\n`)
  const clock = new ManualClock()
  const file = await UsersFile.open(path, { clock, logger: silentLogger })
  const image = await withScramUser('carol', 'secret')
  const passwords = new Passwords({ file, image: () => image })
  const outcomes = () =>
    Promise.all(
      (
        [
          ['alice', 'plain: text'],
          ['bob', 'hashed'],
          ['bob', 'plain'],
          // Where there is a file, SCRAM users do not count.
          ['carol', 'secret'],
        ] as const
      ).map(([user, password]) => passwords.matches(user, password)),
    )
  deepStrictEqual(await outcomes(), [true, true, false, false])
  await writeFile(path, 'alice: changed\n')
  await utimes(path, 1, 1)
  await clock.advance(2000)
  strictEqual(await passwords.matches('alice', 'plain: text'), false)
  strictEqual(await passwords.matches('alice', 'changed'), true)
  await writeFile(path, 'broken')
  await clock.advance(2000)
  strictEqual(await passwords.matches('alice', 'changed'), true)
  await rejects(UsersFile.open(join(folder, 'absent'), { clock, logger: silentLogger }), /rest.users: .*absent/)
})

test('what a users file gets wrong is told by line, without what is in it', () => {
  throws(() => parseUsers('a: b\nsecret'), /^RangeError: line 2 is not of the form user: password$/)
  throws(() => parseUsers('a: scrypt:1:2'), /line 1 is not of the form scrypt/)
  throws(() => parseUsers('a: b\na: c'), /line 2 names a user/)
})

test('over https a client certificate names the client, by the rules; a stranger is refused', async t => {
  const authority = makeAuthority()
  const host = authority.issue({ name: [['CN', 'rest']], hosts: ['127.0.0.1', 'localhost'] })
  const client = authority.issue({
    name: [
      ['O', 'Org'],
      ['CN', 'alice'],
    ],
  })
  const foreign = makeAuthority().issue({ name: [['CN', 'alice']] })
  const ca = authority.authority.certificate
  const tls: ListenerSecurity = {
    tls: {
      options: { key: host.key, cert: host.certificate, ca, requestCert: true, rejectUnauthorized: false },
      identifies: true,
      principalNameOf: principalMapping('RULE:^CN=([^,]+).*$/$1/,DEFAULT'),
    },
  }
  const image = imageWithAcls([mayDescribe('User:alice')])
  const app = await application(t, { image, acls: true, clock: systemClock }, tls)
  await app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = app.server.address() as AddressInfo
  const status = (identity?: { key: string; certificate: string }) =>
    httpsStatus({ port, path: LINKS, ca, ...(identity ? { key: identity.key, cert: identity.certificate } : {}) })
  deepStrictEqual([await status(client), await status(), await status(foreign)], [200, 401, 401])
})

function httpsStatus(options: RequestOptions & { ca: string }): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const request = httpsRequest({ host: '127.0.0.1', agent: false, ...options }, response => {
      response.resume()
      response.on('end', () => resolve(response.statusCode))
    })
    request.on('error', reject)
    request.end()
  })
}
