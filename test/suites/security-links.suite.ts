// Links to a real Kafka with TLS, logins and tokens: every way in, every failure by its name, secrets that change and that nobody sees.
import { doesNotMatch, match, ok, strictEqual } from 'node:assert/strict'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import type { ClientSecurity } from '../clients/client-record.ts'
import { jaasConfig, javaProperties } from '../clients/client-security.ts'
import { eventually } from '../eventually.ts'
import { JavaDriver } from '../java/driver.ts'
import { KafkaCluster } from '../kafka/cluster.ts'
import { LockstepNode } from '../lockstep-process.ts'
import { Opened } from '../opened.ts'
import { skipWithout } from '../requirements.ts'
import { RestError } from '../rest-client.ts'
import { MirrorLink } from '../scenarios/mirror-link.ts'
import { ADMIN, Credentials, SECRETS } from '../security/credentials.ts'
import { addScramUser } from '../security/scram-users.ts'
import {
  BRIEF_SESSION_MS,
  type ListenerName,
  listenerPorts,
  securedProperties,
  WAYS,
} from '../security/secured-listeners.ts'
import { TokenIssuer } from '../security/token-issuer.ts'

const skip = skipWithout('java')
const opened = new Opened()
let java: JavaDriver
let kafka: KafkaCluster
let node: LockstepNode
let credentials: Credentials
let issuer: TokenIssuer
let ports: Record<ListenerName, number>
let tokenPort: number

const allowed = 'org.apache.kafka.sasl.oauthbearer.allowed.urls'

before(async () => {
  if (skip !== false) return
  credentials = await opened.add(Credentials.make())
  issuer = await opened.add(TokenIssuer.start())
  ports = await listenerPorts()
  tokenPort = (await listenerPorts()).SECURE
  const secured = securedProperties(credentials)
  const properties = {
    ...secured,
    'listener.security.protocol.map': `${secured['listener.security.protocol.map']},TOKENS:SASL_PLAINTEXT`,
    'listener.name.tokens.sasl.enabled.mechanisms': 'OAUTHBEARER',
    'listener.name.tokens.oauthbearer.sasl.jaas.config':
      'org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required;',
    'listener.name.tokens.oauthbearer.sasl.server.callback.handler.class':
      'org.apache.kafka.common.security.oauthbearer.OAuthBearerValidatorCallbackHandler',
    'listener.name.tokens.oauthbearer.sasl.oauthbearer.jwks.endpoint.url': issuer.keysUrl,
    'listener.name.tokens.oauthbearer.sasl.oauthbearer.expected.audience': 'kafka',
    'listener.name.tokens.oauthbearer.sasl.oauthbearer.expected.issuer': 'suite',
  }
  const jvmArguments = ['-Xmx512m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1', `-D${allowed}=${issuer.keysUrl}`]
  const quiet = '-Dorg.slf4j.simpleLogger.defaultLogLevel=warn'
  const env = { LINK_PASSWORD: ADMIN.password }
  ;[java, kafka, node] = await opened.all<[JavaDriver, KafkaCluster, LockstepNode]>([
    JavaDriver.start({ version: '4.3.1' }),
    KafkaCluster.start({
      version: '4.3.1',
      properties,
      listeners: { ...ports, TOKENS: tokenPort },
      jvmArguments: [...jvmArguments, quiet],
    }),
    LockstepNode.start({ env }),
  ])
  await addScramUser(java, kafka.bootstrap, ADMIN)
  // Once a broker knows of this, what came before it is in force.
  await java.call('create-topics', { bootstrap: kafka.bootstrap, topics: [{ name: 'later', partitions: 1 }] })
})
after(() => opened.close())

/** As it stands in a property. */
const reference = (what: string): string => `\${${what}}`

/** Link properties by which a client of that kind gets in. */
const configsOf = (security: ClientSecurity): Record<string, string> => javaProperties(security)

const at = (listener: ListenerName) => ({ bootstrap: `127.0.0.1:${ports[listener]}`, clusterId: kafka.clusterId })

/** Mirrors a topic of its own over the link, and sees its records arrive. */
async function mirrors(link: MirrorLink): Promise<void> {
  const topic = `over-${link.name}`
  const bootstrap = kafka.bootstrap
  await java.call('create-topics', { bootstrap, topics: [{ name: topic, partitions: 1 }] })
  await java.call('produce', { bootstrap, topic, generate: { count: 20 } })
  await link.mirror(topic)
  await seesEnd(link, topic, 20)
}

const seesEnd = (link: MirrorLink, topic: string, end: number) =>
  eventually(
    async () => {
      const { mirror_lags: lags, mirror_status: status } = await link.describe(topic)
      strictEqual(status, 'ACTIVE')
      strictEqual(lags[0]?.log_end_offset, end)
    },
    { timeoutMs: 90_000 },
  )

const tokenConfigs = (secret: string): Record<string, string> => ({
  'security.protocol': 'SASL_PLAINTEXT',
  'sasl.mechanism': 'OAUTHBEARER',
  'sasl.oauthbearer.token.endpoint.url': issuer.tokenUrl,
  'sasl.jaas.config': `org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required clientId="admin" clientSecret="${secret}";`,
})

for (const way of WAYS) {
  test(`a link gets in with ${way.name}`, { skip }, async () => {
    const name = way.name.replaceAll(/[^A-Za-z0-9]+/g, '-').toLowerCase()
    await mirrors(
      await MirrorLink.create(node, name, { ...at(way.listener), configs: configsOf(way.security(credentials)) }),
    )
  })
}

test('a link gets in with tokens of an endpoint', { skip }, async () => {
  const remote = { bootstrap: `127.0.0.1:${tokenPort}`, clusterId: kafka.clusterId }
  await mirrors(await MirrorLink.create(node, 'tokens', { ...remote, configs: tokenConfigs('hush-s3cret') }))
  ok(issuer.given > 0)
})

test('a session that is short goes on: the link renews it', { skip }, async () => {
  const security = WAYS[2]?.security(credentials) ?? ({} as ClientSecurity)
  const link = await MirrorLink.create(node, 'brief', { ...at('BRIEF'), configs: configsOf(security) })
  await mirrors(link)
  const beganMs = performance.now()
  let end = 20
  while (performance.now() - beganMs < 3 * BRIEF_SESSION_MS) {
    await java.call('produce', { bootstrap: kafka.bootstrap, topic: 'over-brief', generate: { count: 1 } })
    end++
    await seesEnd(link, 'over-brief', end)
  }
  await eventually(async () => strictEqual((await link.describeLink()).link_error, 'NO_ERROR'))
})

/** What REST says when a link is created that cannot get in. */
async function refusal(listener: ListenerName, configs: Record<string, string>): Promise<string> {
  try {
    await MirrorLink.create(node, 'refused', { ...at(listener), configs })
    return 'created'
  } catch (error) {
    if (!(error instanceof RestError)) throw error
    return JSON.stringify(error.answer.body)
  }
}

test('what keeps a link out is told by its name, and without secrets', { skip }, async () => {
  const [, scram, plain, mutual] = WAYS.map(way => way.security(credentials))
  if (!scram || !plain || !mutual) throw new Error('ways are missing')
  const wrong = { user: 'admin', password: 'wrong-s3cret' }
  const told = async (expected: RegExp, listener: ListenerName, configs: Record<string, string>) => {
    const text = await refusal(listener, configs)
    match(text, expected)
    doesNotMatch(text, /s3cret|PRIVATE KEY/)
  }
  await told(/AUTHENTICATION_ERROR.*invalid credentials/, 'SECURE', configsOf({ ...scram, ...wrong }))
  await told(/AUTHENTICATION_ERROR.*Invalid username or password/, 'LOGIN', configsOf({ ...plain, ...wrong }))
  await told(/AUTHENTICATION_ERROR.*offers SCRAM/, 'SECURE', configsOf({ ...scram, mechanism: 'PLAIN' }))
  await told(/TLS_ERROR.*not trusted/, 'SECURE', configsOf({ ...scram, caFile: credentials.file('stranger-ca.pem') }))
  const stranger = { certificateFile: credentials.file('stranger.pem'), keyFile: credentials.file('stranger-key.pem') }
  await told(/TLS_ERROR/, 'MUTUAL', configsOf({ ...mutual, ...stranger }))
  const { certificateFile: _, keyFile: __, ...nobody } = mutual
  await told(/TLS_ERROR/, 'MUTUAL', configsOf(nobody))
  await told(/40002.*sasl.jaas.config/, 'SECURE', { ...configsOf(scram), 'sasl.jaas.config': 'wrong-s3cret' })
  const missing = { ...configsOf(scram), 'sasl.jaas.config': reference('file:/nowhere:password') }
  await told(/AUTHENTICATION_ERROR.*ENOENT/, 'SECURE', missing)
})

test('credentials in a file are looked up at every connect: revoked and restored', { skip }, async () => {
  const file = await credentials.write('link.properties', `password=${ADMIN.password}\n`)
  const { user } = ADMIN
  const text = (password: string) =>
    jaasConfig({ protocol: 'SASL_SSL', caFile: '', mechanism: 'SCRAM-SHA-512', user, password })
  const inFile = reference(`file:${file}:password`)
  const link = await MirrorLink.create(node, 'file', {
    ...at('SECURE'),
    configs: {
      ...configsOf(WAYS[1]?.security(credentials) ?? ({} as ClientSecurity)),
      'sasl.jaas.config': text(inFile),
      'availability.check.ms': '500',
      'request.timeout.ms': '5000',
    },
  })
  await mirrors(link)
  await credentials.write('link.properties', 'password=wrong-s3cret\n')
  const failed = await link.waitForState('FAILED')
  strictEqual(failed.link_error, 'AUTHENTICATION_ERROR')
  doesNotMatch(failed.link_error_message ?? '', /s3cret/)
  await link.alter({ 'sasl.jaas.config': text(reference('env:LINK_PASSWORD')) })
  await link.waitForState('ACTIVE')
  await java.call('produce', { bootstrap: kafka.bootstrap, topic: 'over-file', generate: { count: 5 } })
  await seesEnd(link, 'over-file', 25)
})

test('secrets survive a restart, and are nowhere to be seen', { skip }, async () => {
  const listed = (await node.rest.call('GET', '/links/scram-sha-512-over-tls/configs')) as {
    data: { name: string; value: unknown; is_sensitive: boolean }[]
  }
  const secret = listed.data.find(({ name }) => name === 'sasl.jaas.config')
  strictEqual(secret?.value, null)
  strictEqual(secret?.is_sensitive, true)
  const seen = node.output + JSON.stringify(listed)
  await node.stop()
  const folder = join(node.dataDirectory, '__lockstep_state-0')
  const stored = await Promise.all((await readdir(folder)).map(async name => readFile(join(folder, name), 'latin1')))
  ok(stored.join('').includes('sealed:1:'))
  for (const text of [...SECRETS, 'wrong-s3cret', 'hush-s3cret']) {
    ok(!seen.includes(text), `${text} was shown`)
    ok(!stored.join('').includes(text), `${text} is stored`)
  }
  await node.start()
  await java.call('produce', { bootstrap: kafka.bootstrap, topic: 'over-plain', generate: { count: 5 } })
  await eventually(async () => {
    const answer = (await node.rest.call('GET', '/links/plain/mirrors/over-plain')) as {
      mirror_lags: { log_end_offset: number }[]
    }
    strictEqual(answer.mirror_lags[0]?.log_end_offset, 25)
  })
})
