/** Reading of node properties: defaults, Kafka's names, refusals that list everything at once. */
import { deepStrictEqual, match, strictEqual, throws } from 'node:assert/strict'
import { test } from 'node:test'
import { allowAll } from '../metadata/authorizer.ts'
import { emptyImage } from '../metadata/metadata-image.ts'
import { parseSettings } from './settings.ts'
import { SettingsError } from './settings-error.ts'

const settingsOf = (entries: Record<string, string>) => parseSettings(new Map(Object.entries(entries)))

function problemsOf(entries: Record<string, string>): readonly string[] {
  try {
    settingsOf(entries)
  } catch (error) {
    if (error instanceof SettingsError) return error.problems
    throw error
  }
  return []
}

test('an empty file gives a standalone node on 9092 with REST on loopback', () => {
  const settings = settingsOf({})
  strictEqual(settings.nodeId, 1)
  deepStrictEqual(settings.listeners.listen, [{ name: 'PLAINTEXT', host: '', port: 9092, protocol: 'PLAINTEXT' }])
  const { endpoint, ...rest } = settings.rest
  deepStrictEqual(endpoint, { name: 'REST', host: '127.0.0.1', port: 8090, protocol: 'PLAINTEXT' })
  deepStrictEqual(rest, {
    usersFile: undefined,
    anonymousAllowed: true,
    anonymousHosts: new Set(['localhost']),
    advertisedUrl: undefined,
    metricsOpen: false,
  })
  deepStrictEqual(settings.warnings, [])
})

test('the authorizer is the standard one or none, and super users have a type', () => {
  strictEqual(settingsOf({}).authorizer, allowAll)
  const standard = { 'authorizer.class.name': 'org.apache.kafka.metadata.authorizer.StandardAuthorizer' }
  const { authorizer } = settingsOf({ ...standard, 'super.users': 'User:admin' })
  const ask = { operation: 'ALTER', resource: 'CLUSTER', name: 'kafka-cluster' } as const
  strictEqual(authorizer.allows(emptyImage('c'), { principal: 'User:admin', host: '::1' }, ask), true)
  strictEqual(authorizer.allows(emptyImage('c'), { principal: 'User:bob', host: '::1' }, ask), false)
  match(problemsOf({ ...standard, 'super.users': 'admin' }).join(), /super.users: "admin" is not of the form User:name/)
  match(problemsOf({ 'authorizer.class.name': 'x.Y' }).join(), /the only authorizer is/)
  match(settingsOf(standard).warnings.join(), /nobody may do anything/)
})

test("Kafka's combined-mode file is understood; its controller listener is left out", () => {
  const settings = settingsOf({
    'process.roles': 'broker,controller',
    'node.id': '7',
    'controller.quorum.voters': '7@localhost:9093',
    listeners: 'PLAINTEXT://127.0.0.1:19092,CONTROLLER://127.0.0.1:19093',
    'advertised.listeners': 'PLAINTEXT://example.org:19092',
    'controller.listener.names': 'CONTROLLER',
    'listener.security.protocol.map': 'CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT',
    'log.dirs': '/var/lib/kafka',
    'num.network.threads': '3',
    'num.io.threads': '8',
  })
  strictEqual(settings.nodeId, 7)
  deepStrictEqual(settings.listeners.listen, [
    { name: 'PLAINTEXT', host: '127.0.0.1', port: 19092, protocol: 'PLAINTEXT' },
  ])
  strictEqual(settings.listeners.advertised.get('PLAINTEXT')?.host, 'example.org')
  strictEqual(settings.dataDirectory, '/var/lib/kafka')
  strictEqual(settings.warnings.length, 1)
  match(settings.warnings[0] ?? '', /no effect.*num\.io\.threads, num\.network\.threads/)
})

test('an unknown name is refused with the nearest known one', () => {
  deepStrictEqual(problemsOf({ 'log.dir.s': '/x' }), ['unknown property "log.dir.s"; did you mean "log.dirs"?'])
  match(problemsOf({ 'rest.listener': 'http://127.0.0.1:1' })[0] ?? '', /did you mean "rest\.listeners"/)
})

test('all problems are listed at once', () => {
  const problems = problemsOf({
    'node.id': 'one',
    'rest.listeners': 'https://0.0.0.0:8090',
    'log.dirs': '/a,/b',
    'process.roles': 'controller',
  })
  strictEqual(problems.length, 4, problems.join('\n'))
})

test('a node that joins listens where the other brokers look for it', () => {
  const joining = {
    'process.roles': 'broker',
    'node.id': '1001',
    listeners: 'CLIENTS://:9092',
    'controller.listener.names': 'CONTROLLER',
    'controller.quorum.bootstrap.servers': 'a:9093',
    'inter.broker.listener.name': 'INTERNAL',
    'listener.security.protocol.map': 'CONTROLLER:PLAINTEXT,INTERNAL:PLAINTEXT,CLIENTS:PLAINTEXT',
  }
  const [problem, ...others] = problemsOf(joining)
  match(problem ?? '', /under INTERNAL, and listeners has CLIENTS alone/)
  deepStrictEqual(others, [])
  const both = settingsOf({ ...joining, listeners: 'CLIENTS://:9092,INTERNAL://:9094' })
  strictEqual(both.joined?.brokers.name, 'INTERNAL')
})

test('REST off loopback needs to know who may do what, or the word of the operator', () => {
  const away = { 'rest.listeners': 'http://0.0.0.0:8090' }
  match(problemsOf(away)[0] ?? '', /not a loopback address/)
  match(problemsOf({ 'rest.listeners': 'http://10.0.0.1:8090' })[0] ?? '', /not a loopback address/)
  match(problemsOf({ 'rest.listeners': 'ftp://127.0.0.1:8090' })[0] ?? '', /must look like/)
  const users = settingsOf({ ...away, 'rest.users': '/etc/users' })
  deepStrictEqual([users.rest.usersFile, users.rest.anonymousAllowed], ['/etc/users', false])
  match(users.warnings.join(), /in the clear/)
  const class_ = 'org.apache.kafka.metadata.authorizer.StandardAuthorizer'
  strictEqual(settingsOf({ ...away, 'authorizer.class.name': class_ }).rest.anonymousAllowed, false)
  strictEqual(settingsOf({ ...away, 'rest.allow.anonymous': 'true' }).rest.anonymousAllowed, true)
  strictEqual(settingsOf({ 'rest.listeners': 'http://[::1]:80' }).rest.endpoint.host, '::1')
  strictEqual(settingsOf({ 'rest.users': '/etc/users' }).rest.anonymousAllowed, false)
})

test('REST with https needs a key, of its own or that of all listeners', () => {
  const https = { 'rest.listeners': 'https://127.0.0.1:8443' }
  match(problemsOf(https)[0] ?? '', /listener REST: TLS needs ssl.keystore/)
  strictEqual(settingsOf({ ...https, 'listener.name.rest.ssl.keystore.location': '/k' }).rest.endpoint.protocol, 'SSL')
  strictEqual(settingsOf({ ...https, 'ssl.keystore.location': '/k' }).rest.endpoint.protocol, 'SSL')
})

test('a listener needs a protocol, and what the protocol needs', () => {
  match(problemsOf({ listeners: 'CLIENT://:9092' })[0] ?? '', /CLIENT has no entry/)
  deepStrictEqual(problemsOf({ listeners: 'CLIENT://:9092', 'listener.security.protocol.map': 'CLIENT:PLAINTEXT' }), [])
  match(problemsOf({ listeners: 'SASL_SSL://:9092' }).join(), /TLS needs ssl.keystore.*sasl.enabled.mechanisms must/)
  const sasl = { listeners: 'SASL_PLAINTEXT://:9092' }
  deepStrictEqual(problemsOf({ ...sasl, 'listener.name.sasl_plaintext.sasl.enabled.mechanisms': 'SCRAM-SHA-512' }), [])
  match(problemsOf({ ...sasl, 'sasl.enabled.mechanisms': 'GSSAPI' })[0] ?? '', /GSSAPI is not supported/)
  match(problemsOf({ ...sasl, 'sasl.enabled.mechanisms': 'PLAIN' })[0] ?? '', /PLAIN needs plain.sasl.jaas.config/)
  match(problemsOf({ ...sasl, 'sasl.enabled.mechanisms': 'OAUTHBEARER' })[0] ?? '', /jwks.endpoint.url/)
})

test('classes that decide who somebody is are refused, those of Kafka are known', () => {
  match(problemsOf({ 'principal.builder.class': 'com.acme.Builder' })[0] ?? '', /principal.builder.class: com.acme/)
  const kafka = 'org.apache.kafka.common.security.authenticator.DefaultKafkaPrincipalBuilder'
  deepStrictEqual(problemsOf({ 'principal.builder.class': kafka }), [])
  const handler = 'listener.name.plaintext.plain.sasl.server.callback.handler.class'
  match(problemsOf({ [handler]: 'com.acme.Ldap' })[0] ?? '', /com.acme.Ldap cannot be run here/)
})

test('a broken JAAS text is refused without its secrets', () => {
  const plain = { listeners: 'SASL_PLAINTEXT://:9092', 'sasl.enabled.mechanisms': 'PLAIN' }
  const jaas = 'listener.name.sasl_plaintext.plain.sasl.jaas.config'
  const module = 'org.apache.kafka.common.security.plain.PlainLoginModule'
  deepStrictEqual(problemsOf({ ...plain, [jaas]: `${module} required user_a="hunter2";` }), [])
  for (const text of [`${module} required user_a="hunter2"`, `${module} required user_a hunter2;`, 'hunter2', ''])
    throws(
      () => settingsOf({ ...plain, [jaas]: text }),
      error => error instanceof SettingsError && /PLAIN/.test(error.message) && !error.message.includes('hunter2'),
    )
})

test('a cluster id must be a Kafka uuid', () => {
  match(problemsOf({ 'cluster.id': 'my-cluster' })[0] ?? '', /22 characters/)
  strictEqual(settingsOf({ 'cluster.id': '4L6g3nShT-eMCtK--X86sw' }).clusterId, '4L6g3nShT-eMCtK--X86sw')
})

test('a secret is not repeated in the message that refuses it', () => {
  throws(
    () => settingsOf({ 'ssl.key.passwords': 'hunter2' }),
    error => error instanceof SettingsError && !error.message.includes('hunter2'),
  )
})
