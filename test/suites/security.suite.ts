// Listeners with TLS and logins: real clients log in to a node, and to a Kafka with the same properties, with the same outcomes.
import { deepStrictEqual, doesNotMatch, match, ok, rejects, strictEqual } from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, before, test } from 'node:test'
import { connect } from 'node:tls'
import { Kafka, logLevel, Partitioners } from 'kafkajs'
import { makeAuthority } from '../../src/network/tls/fakes/test-certificates.ts'
import type { ClientSecurity, ClientWriter } from '../clients/client-record.ts'
import { javaProperties } from '../clients/client-security.ts'
import { confluentWriter } from '../clients/confluent.ts'
import { javaWriter } from '../clients/java.ts'
import { kafkaJsWriter } from '../clients/kafkajs.ts'
import { kcatWriter } from '../clients/kcat.ts'
import { platformaticWriter } from '../clients/platformatic.ts'
import { eventually } from '../eventually.ts'
import { JavaDriver, JavaError } from '../java/driver.ts'
import { KafkaCluster } from '../kafka/cluster.ts'
import { LockstepNode } from '../lockstep-process.ts'
import { Opened } from '../opened.ts'
import { skipWithout, type Tool } from '../requirements.ts'
import { ADMIN, Credentials, GUEST, SECRETS } from '../security/credentials.ts'
import { addScramUser, deleteScramUser, describeScramUser } from '../security/scram-users.ts'
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
let node: LockstepNode
let credentials: Credentials
let issuer: TokenIssuer
/** Address of the listener for tokens. */
let tokens: string
/** Addresses of the listeners, of PLAINTEXT too. */
let lockstep: Record<ListenerName | 'PLAINTEXT', string>
let kafka: Record<ListenerName | 'PLAINTEXT', string>

before(async () => {
  if (skip !== false) return
  credentials = await opened.add(Credentials.make())
  const [ours, theirs] = [await listenerPorts(), await listenerPorts()]
  const properties = securedProperties(credentials)
  const users = ['SCRAM-SHA-256', 'SCRAM-SHA-512'].map(
    mechanism => `${mechanism}=[name=${ADMIN.user},password=${ADMIN.password}]`,
  )
  issuer = await opened.add(TokenIssuer.start())
  const tokenPort = (await listenerPorts()).SECURE
  tokens = `127.0.0.1:${tokenPort}`
  const own = {
    'lockstep.bootstrap.scram.users': users.join(';'),
    'lockstep.tls.reload.interval.ms': '200',
    'listener.security.protocol.map': `${properties['listener.security.protocol.map']},TOKENS:SASL_PLAINTEXT`,
    'listener.name.tokens.sasl.enabled.mechanisms': 'OAUTHBEARER',
    'listener.name.tokens.oauthbearer.sasl.oauthbearer.jwks.endpoint.url': issuer.keysUrl,
    'listener.name.tokens.oauthbearer.sasl.oauthbearer.expected.audience': 'kafka',
    'listener.name.tokens.oauthbearer.sasl.oauthbearer.expected.issuer': 'suite',
  }
  const [driver, started, cluster] = await opened.all<[JavaDriver, LockstepNode, KafkaCluster]>([
    JavaDriver.start({ version: '4.3.1' }),
    LockstepNode.start({ properties: { ...properties, ...own }, listeners: { ...ours, TOKENS: tokenPort } }),
    KafkaCluster.start({ version: '4.3.1', properties, listeners: theirs }),
  ])
  java = driver
  node = started
  lockstep = addresses(ours, node.bootstrap)
  kafka = addresses(theirs, cluster.bootstrap)
  await addScramUser(java, cluster.bootstrap, ADMIN)
  for (const bootstrap of [node.bootstrap, cluster.bootstrap]) {
    await addScramUser(java, bootstrap, GUEST)
    await java.call('create-topics', { bootstrap, topics: [{ name: 'secured', partitions: 1 }] })
  }
})
after(() => opened.close())

function addresses(ports: Record<ListenerName, number>, plaintext: string) {
  const secured = Object.entries(ports).map(([name, port]) => [name, `127.0.0.1:${port}`])
  return { PLAINTEXT: plaintext, ...Object.fromEntries(secured) } as Record<ListenerName | 'PLAINTEXT', string>
}

const writers: readonly { name: string; needs: readonly Tool[]; writer: () => ClientWriter }[] = [
  { name: 'Java', needs: ['java'], writer: () => javaWriter(java) },
  { name: 'kcat', needs: ['java', 'kcat'], writer: () => kcatWriter },
  { name: 'confluent-kafka', needs: ['java', 'python'], writer: () => confluentWriter },
  { name: 'KafkaJS', needs: ['java'], writer: () => kafkaJsWriter },
  { name: '@platformatic/kafka', needs: ['java'], writer: () => platformaticWriter },
]

const write = (writer: ClientWriter, bootstrap: string, security: ClientSecurity, value: string) =>
  writer.write({
    bootstrap,
    topic: 'secured',
    codec: 'none',
    acks: 'all',
    idempotent: false,
    records: [{ key: 'k', value, headers: [], timestamp: Date.now() }],
    security,
    // Whoever may not write need not wait long.
    patienceMs: value === 'never' ? 3000 : 20_000,
  })

type Consumed = Record<string, { records: (string | null)[][] }>

/** Values of the topic, read as the administrator. */
async function values(): Promise<(string | null | undefined)[]> {
  const properties = javaProperties(WAYS[0]?.security(credentials))
  const args = { bootstrap: lockstep.SECURE, topic: 'secured', content: true, properties }
  const consumed = await java.call<Consumed>('consume', args)
  return consumed['0']?.records.map(row => row[7]) ?? []
}

for (const { name, needs, writer } of writers) {
  test(`${name} logs in every way, and writes`, { skip: skipWithout(...needs) }, async () => {
    for (const way of WAYS)
      await write(writer(), lockstep[way.listener], way.security(credentials), `${name} ${way.name}`)
    const written = await values()
    for (const way of WAYS) ok(written.includes(`${name} ${way.name}`), `${name} ${way.name}`)
  })

  test(`${name} does not get in with a wrong password`, { skip: skipWithout(...needs) }, async () => {
    for (const way of WAYS.slice(1, 3)) {
      const security = way.security(credentials, { user: ADMIN.user, password: 'wrong' })
      await rejects(write(writer(), lockstep[way.listener], security, 'never'))
    }
    ok(!(await values()).includes('never'))
  })
}

/** What a Java client gets, by the class of the exception and the words of the broker. */
async function outcome(bootstrap: string, security: ClientSecurity, patienceMs = 30_000): Promise<string> {
  try {
    const properties = { ...javaProperties(security), 'max.block.ms': String(patienceMs) }
    await java.call('produce', { bootstrap, topic: 'secured', records: [{ value: 'tried' }], properties })
    return 'written'
  } catch (error) {
    if (!(error instanceof JavaError)) throw error
    // Kafka tells mechanisms in no order.
    const sorted = (list: string) => list.slice(1, -1).split(', ').sort().join(' ')
    return `${error.javaClass}: ${error.message.split('\n')[0]}`.replaceAll(/\[[^\]]*\]/g, sorted)
  }
}

test('Java clients are told the same by Lockstep and by Kafka', { skip }, async () => {
  const stranger = { certificateFile: credentials.file('stranger.pem'), keyFile: credentials.file('stranger-key.pem') }
  const told: string[] = []
  for (const way of WAYS) {
    const tries = [
      way.security(credentials),
      way.security(credentials, GUEST),
      way.security(credentials, { user: 'admin', password: 'wrong' }),
      way.security(credentials, { user: 'nobody', password: 'wrong' }),
      {
        ...way.security(credentials),
        mechanism: way.listener === 'LOGIN' ? ('SCRAM-SHA-256' as const) : ('PLAIN' as const),
      },
    ]
    const untrusting = { ...way.security(credentials), caFile: credentials.file('stranger-ca.pem') }
    if (way.listener !== 'LOGIN') tries.push(untrusting)
    for (const security of tries.filter((_, index) => way.listener !== 'MUTUAL' || index % 5 === 0)) {
      const [ofLockstep, ofKafka] = await Promise.all([
        outcome(lockstep[way.listener], security),
        outcome(kafka[way.listener], security),
      ])
      strictEqual(ofLockstep, ofKafka, way.name)
      told.push(ofLockstep)
    }
  }
  ok(told.some(text => text === 'written'))
  ok(told.some(text => text.startsWith('TopicAuthorizationException')))
  ok(told.some(text => text.startsWith('SaslAuthenticationException')))
  ok(told.some(text => text.startsWith('UnsupportedSaslMechanismException')))
  ok(told.some(text => text.startsWith('SslAuthenticationException')))
  const mutual = WAYS[3]?.security(credentials)
  if (mutual) match(await outcome(kafka.MUTUAL, { ...mutual, ...stranger }), /^SslAuthenticationException/)
  // Node cannot send the alert that tells a client so: the connection just closes (docs/security.md).
  if (mutual) match(await outcome(lockstep.MUTUAL, { ...mutual, ...stranger }, 3000), /^TimeoutException|^SslAuth/)
})

test('tokens of an issuer log in, of Java and of others; tokens of strangers do not', { skip }, async () => {
  const allowed = 'org.apache.kafka.sasl.oauthbearer.allowed.urls'
  await java.call('set-property', { name: allowed, value: issuer.tokenUrl })
  const login = (user: string) => ({
    'security.protocol': 'SASL_PLAINTEXT',
    'sasl.mechanism': 'OAUTHBEARER',
    'sasl.login.callback.handler.class': 'org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginCallbackHandler',
    'sasl.oauthbearer.token.endpoint.url': issuer.tokenUrl,
    'sasl.jaas.config': `org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required clientId="${user}" clientSecret="x";`,
  })
  const produce = (user: string) =>
    java.call('produce', { bootstrap: tokens, topic: 'secured', records: [{ value: user }], properties: login(user) })
  await produce(ADMIN.user)
  await rejects(
    produce('guest'),
    error => error instanceof JavaError && error.javaClass === 'TopicAuthorizationException',
  )
  const withToken = async (token: string) => {
    const kafka = new Kafka({
      clientId: 'suite',
      brokers: [tokens],
      logLevel: logLevel.NOTHING,
      retry: { retries: 0 },
      sasl: { mechanism: 'oauthbearer', oauthBearerProvider: async () => ({ value: token }) },
    })
    const producer = kafka.producer({ createPartitioner: Partitioners.DefaultPartitioner })
    try {
      await producer.connect()
      await producer.send({ topic: 'secured', messages: [{ value: 'by token' }] })
    } finally {
      await producer.disconnect()
    }
  }
  await withToken(await issuer.token(ADMIN.user))
  await rejects(withToken(await issuer.token(ADMIN.user, -3600)))
  const stranger = await opened.add(TokenIssuer.start())
  await rejects(withToken(await stranger.token(ADMIN.user)))
  const written = await values()
  ok(written.includes(ADMIN.user) && written.includes('by token'))
})

test("users of SCRAM are made, shown and deleted by Kafka's own tool", { skip }, async () => {
  const carol = { user: 'carol', password: 'carol-s3cret' }
  const shown: string[] = []
  for (const at of [lockstep, kafka]) {
    await addScramUser(java, at.PLAINTEXT, carol)
    shown.push(await describeScramUser(java, at.PLAINTEXT, carol.user))
    for (const way of WAYS.slice(0, 2))
      match(await outcome(at.SECURE, way.security(credentials, carol)), /^TopicAuthorizationException/)
    await deleteScramUser(java, at.PLAINTEXT, carol.user)
    const refused = await outcome(at.SECURE, WAYS[0]?.security(credentials, carol) ?? ({} as ClientSecurity))
    match(refused, /^SaslAuthenticationException/)
  }
  strictEqual(shown[0], shown[1])
  doesNotMatch(shown.join(), /s3cret/)
})

test('a session is renewed by the client, again and again, on one connection', { skip }, async () => {
  const admin = javaProperties(WAYS[2]?.security(credentials))
  const metric = (name: string) => java.call<number>('admin-metric', { bootstrap: lockstep.BRIEF, admin, name })
  const describe = () => java.call('describe-topic', { bootstrap: lockstep.BRIEF, admin, topic: 'secured' })
  await describe()
  await eventually(
    async () => {
      await describe()
      ok((await metric('successful-reauthentication-total')) >= 3)
    },
    { timeoutMs: 30 * BRIEF_SESSION_MS, intervalMs: BRIEF_SESSION_MS / 10 },
  )
  strictEqual(await metric('failed-reauthentication-total'), 0)
})

/** Does the listener show a certificate of this authority? */
function shows(address: string, authority: string): Promise<boolean> {
  const [host, port] = address.split(':')
  return new Promise(resolve => {
    const socket = connect({ host, port: Number(port), ca: readFileSync(credentials.file(authority)) })
    socket.once('error', () => resolve(false))
    socket.once('secureConnect', () => {
      socket.destroy()
      resolve(true)
    })
  })
}

test('a host key that is replaced, or named anew, is shown to new clients', { skip }, async () => {
  strictEqual(await shows(lockstep.SECURE, 'ca.pem'), true)
  await credentials.replaceHost()
  await eventually(async () => strictEqual(await shows(lockstep.SECURE, 'new-ca.pem'), true))
  strictEqual(await shows(lockstep.SECURE, 'ca.pem'), false)
  const way = WAYS[1]?.security(credentials) ?? ({} as ClientSecurity)
  await write(javaWriter(java), lockstep.SECURE, { ...way, caFile: credentials.file('new-ca.pem') }, 'renewed')

  const { authority, host } = makeAuthority()
  await credentials.write('third-ca.pem', authority.certificate)
  const file = await credentials.write('third.pem', host.key + host.certificate)
  const setting = `listener.name.secure.ssl.keystore.location=${file}`
  const broker = ['--bootstrap-server', lockstep.PLAINTEXT, '--entity-type', 'brokers', '--entity-name', '1']
  const args = [...broker, '--alter', '--add-config', setting]
  const answer = await java.call<{ status: number; err: string }>('run-tool', {
    tool: 'kafka.admin.ConfigCommand',
    args,
  })
  strictEqual(answer.status, 0, answer.err)
  await eventually(async () => strictEqual(await shows(lockstep.SECURE, 'third-ca.pem'), true))
})

test('stores of keytool serve as well', { skip }, async () => {
  const { keyStore, trustStore, password } = await credentials.makeStores()
  const [port = 0] = Object.values(await listenerPorts())
  const stores = await LockstepNode.start({
    listeners: { STORES: port },
    properties: {
      'listener.security.protocol.map': 'PLAINTEXT:PLAINTEXT,STORES:SSL',
      'listener.name.stores.ssl.keystore.location': keyStore,
      'listener.name.stores.ssl.keystore.password': password,
      'listener.name.stores.ssl.truststore.location': trustStore,
      'listener.name.stores.ssl.truststore.password': password,
      'listener.name.stores.ssl.client.auth': 'required',
    },
  })
  try {
    const properties = {
      'security.protocol': 'SSL',
      'ssl.keystore.location': keyStore,
      'ssl.keystore.password': password,
      'ssl.truststore.location': trustStore,
      'ssl.truststore.password': password,
    }
    const bootstrap = `127.0.0.1:${port}`
    await java.call('create-topics', { bootstrap: stores.bootstrap, topics: [{ name: 't', partitions: 1 }] })
    await java.call('produce', { bootstrap, topic: 't', records: [{ key: 'a', value: 'b' }], properties })
    const consumed = await java.call<Consumed>('consume', { bootstrap, topic: 't', content: true, properties })
    deepStrictEqual(
      consumed['0']?.records.map(row => row[7]),
      ['b'],
    )
  } finally {
    await stores.close()
  }
})

test('no secret is shown: not in the log, not by describing configs', { skip }, async () => {
  const answer = await java.call<{ out: string }>('run-tool', {
    tool: 'kafka.admin.ConfigCommand',
    args: [
      '--bootstrap-server',
      lockstep.PLAINTEXT,
      '--entity-type',
      'brokers',
      '--entity-name',
      '1',
      '--describe',
      '--all',
    ],
  })
  match(answer.out, /listener.name.login.plain.sasl.jaas.config/)
  for (const secret of SECRETS) {
    ok(!answer.out.includes(secret), secret)
    ok(!node.output.includes(secret), secret)
  }
  match(node.output, /a login failed/)
})
