/** REST as the node starts it: https from a Kafka-style key store, SCRAM users of the cluster, ACLs, keys that are replaced while it runs. */
import { deepStrictEqual, notStrictEqual, rejects, strictEqual } from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { request as httpsRequest } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { TLSSocket } from 'node:tls'
import { TestNode } from '../../broker/fakes/test-node.ts'
import { ManualClock } from '../../core/clock.ts'
import { silentLogger } from '../../core/logger.ts'
import { AclPattern, AclPermission } from '../../metadata/acl.ts'
import { AclOperation, AclResource, CLUSTER_NAME } from '../../metadata/authorizer.ts'
import { StandardAuthorizer } from '../../metadata/standard-authorizer.ts'
import { saltedPassword } from '../../network/login/scram.ts'
import { makeAuthority, type TestIdentity } from '../../network/tls/fakes/test-certificates.ts'
import { FAKE_CLUSTER_ID, FakeEngine, fakeContext } from '../../rest/fakes/fake-engine.ts'
import { Startup } from '../startup.ts'
import { startRest } from './rest-server.ts'

const LINKS = `/kafka/v3/clusters/${FAKE_CLUSTER_ID}/links`

async function scene(t: TestContext) {
  const folder = await mkdtemp(join(tmpdir(), 'lockstep-rest-'))
  t.after(() => rm(folder, { recursive: true }))
  const { authority, host, issue } = makeAuthority()
  const keyStore = join(folder, 'rest.pem')
  const writeKey = (identity: TestIdentity) => writeFile(keyStore, identity.key + identity.certificate)
  await writeKey(host)
  await writeFile(join(folder, 'ca.pem'), authority.certificate)
  const node = await TestNode.start()
  t.after(() => node.close())
  const clock = new ManualClock()
  const startup = new Startup()
  t.after(() => startup.stop())
  const file = new Map([
    ['listener.name.rest.ssl.keystore.location', keyStore],
    ['listener.name.rest.ssl.truststore.location', join(folder, 'ca.pem')],
    ['listener.name.rest.ssl.client.auth', 'requested'],
    ['listener.name.rest.ssl.principal.mapping.rules', 'RULE:^CN=(.*)$/$1/'],
  ])
  const start = () =>
    startRest(
      {
        settings: {
          endpoint: { name: 'REST', host: '127.0.0.1', port: 0, protocol: 'SSL' },
          usersFile: undefined,
          anonymousAllowed: false,
          anonymousHosts: undefined,
          advertisedUrl: undefined,
          metricsOpen: false,
        },
        application: fakeContext(new FakeEngine()),
        controller: node.controller,
        authorizer: new StandardAuthorizer({ superUsers: new Set(), allowIfNoAcl: false }),
        nodeId: 1,
        file,
        tlsReloadMs: 1000,
        clock,
        logger: silentLogger,
      },
      startup,
    )
  return { node, clock, start, file, writeKey, issue, host, ca: authority.certificate }
}

interface Answer {
  readonly status: number | undefined
  /** Serial number of the server's certificate. */
  readonly serial: string | undefined
}

function ask(url: string, options: { ca: string; login?: string; identity?: TestIdentity }): Promise<Answer> {
  const { ca, login, identity } = options
  const headers = login === undefined ? {} : { authorization: `Basic ${Buffer.from(login).toString('base64')}` }
  const shown = identity ? { key: identity.key, cert: identity.certificate } : {}
  return new Promise((resolve, reject) => {
    const request = httpsRequest(`${url}${LINKS}`, { agent: false, ca, headers, ...shown }, response => {
      const { socket } = response
      const serial = socket instanceof TLSSocket ? socket.getPeerCertificate().serialNumber : undefined
      response.resume()
      response.on('end', () => resolve({ status: response.statusCode, serial }))
    })
    request.on('error', reject)
    request.end()
  })
}

async function addUser(node: TestNode, name: string, password: string): Promise<void> {
  const salt = randomBytes(16)
  const salted = await saltedPassword('SCRAM-SHA-256', password, { salt, iterations: 4096 })
  const credential = { name, mechanism: 1, iterations: 4096, salt, saltedPassword: salted }
  const [result] = await node.controller.scram.alterCredentials([], [credential])
  strictEqual(result?.errorCode, 0)
}

const mayDescribe = (name: string) => ({
  resourceType: AclResource.CLUSTER,
  resourceName: CLUSTER_NAME,
  patternType: AclPattern.LITERAL,
  principal: `User:${name}`,
  host: '127.0.0.1',
  operation: AclOperation.DESCRIBE,
  permissionType: AclPermission.ALLOW,
})

test('users that are added and ACLs that change count at once, for passwords and for certificates', async t => {
  const { node, start, issue, ca } = await scene(t)
  const url = await start()
  const status = async (options: { login?: string; identity?: TestIdentity }) =>
    (await ask(url, { ca, ...options })).status
  strictEqual(await status({}), 401)
  await addUser(node, 'alice', 'secret')
  const identity = issue({ name: [['CN', 'bob']] })
  deepStrictEqual([await status({ login: 'alice:secret' }), await status({ identity })], [403, 403])
  await node.controller.acls.createAcls([mayDescribe('alice'), mayDescribe('bob')])
  deepStrictEqual([await status({ login: 'alice:secret' }), await status({ identity })], [200, 200])
  await node.controller.acls.deleteAcls([mayDescribe('alice')])
  strictEqual(await status({ login: 'alice:secret' }), 403)
  await addUser(node, 'bob', 'other')
  strictEqual(await status({ login: 'bob:other' }), 200)
})

test('a replaced key store is used for new connections', async t => {
  const { start, clock, writeKey, issue, ca } = await scene(t)
  const url = await start()
  const { serial } = await ask(url, { ca })
  await writeKey(issue({ name: [['CN', 'next']], hosts: ['127.0.0.1'] }))
  let next = serial
  while (next === serial) {
    await clock.advance(1000)
    next = (await ask(url, { ca })).serial
  }
  notStrictEqual(next, serial)
})

test('a key store that is missing keeps the node from starting, and is named', async t => {
  const { start, file } = await scene(t)
  file.set('listener.name.rest.ssl.keystore.location', '/no/such/file')
  await rejects(start(), /listener REST: ssl.keystore.location: .*no such file/)
})
