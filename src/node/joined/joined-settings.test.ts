/** What a node that joins must be told, and what of it is refused. */
import { deepStrictEqual, match, strictEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { joinedSettings, peerSecurity } from './joined-settings.ts'

const plain = {
  'process.roles': 'broker',
  'node.id': '1001',
  'controller.listener.names': 'CONTROLLER',
  'listener.security.protocol.map': 'CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT',
  'controller.quorum.bootstrap.servers': 'a:9093, [::1]:9094',
}

function read(entries: Record<string, string>) {
  const problems: string[] = []
  const settings = joinedSettings(new Map(Object.entries(entries)), problems)
  return { settings, problems }
}

test('controllers are named by address, or by id and address', () => {
  const { settings, problems } = read(plain)
  deepStrictEqual(problems, [])
  deepStrictEqual(settings.addresses.bootstrap, [
    { host: 'a', port: 9093 },
    { host: '::1', port: 9094 },
  ])
  deepStrictEqual(settings.controllers, { name: 'CONTROLLER', protocol: 'PLAINTEXT', login: undefined })
  deepStrictEqual(settings.brokers, { name: 'PLAINTEXT', protocol: 'PLAINTEXT', login: undefined })
  strictEqual(settings.requestTimeoutMs, 2000)
  const { 'controller.quorum.bootstrap.servers': _, ...rest } = plain
  const voters = read({ ...rest, 'controller.quorum.voters': '3000@c:1,3001@d:2' })
  deepStrictEqual([...voters.settings.addresses.voters.keys()], [3000, 3001])
  match(read(rest).problems.join(), /must name its controllers/)
})

test('a missing id, listener name or address is told', () => {
  const { problems } = read({ 'controller.quorum.bootstrap.servers': 'a' })
  deepStrictEqual(
    problems.map(text => text.split(':')[0]?.split(' ')[0]),
    ['node.id', 'controller.quorum.bootstrap.servers', 'process.roles=broker', 'controller.listener.names'],
  )
})

test('a login needs a mechanism that we have, a user and a password', async () => {
  const secured = { ...plain, 'listener.security.protocol.map': 'CONTROLLER:SASL_PLAINTEXT' }
  match(read(secured).problems.join(), /GSSAPI is not supported/)
  const mechanism = { 'sasl.mechanism.controller.protocol': 'PLAIN' }
  match(read({ ...secured, ...mechanism }).problems.join(), /sasl.jaas.config of CONTROLLER/)
  const module_ = 'org.apache.kafka.common.security.plain.PlainLoginModule required'
  const jaas = { 'listener.name.controller.plain.sasl.jaas.config': `${module_} username="m" password="secret";` }
  const { settings, problems } = read({ ...secured, ...mechanism, ...jaas })
  deepStrictEqual(problems, [])
  deepStrictEqual(await peerSecurity(settings.controllers, new Map()), {
    tls: undefined,
    login: { mechanism: 'PLAIN', user: 'm', password: 'secret' },
  })
})

test('other brokers are reached under inter.broker.listener.name, with a login of its own', () => {
  const secured = {
    ...plain,
    'listener.security.protocol.map': 'CONTROLLER:PLAINTEXT,INTERNAL:SASL_SSL',
    'inter.broker.listener.name': 'internal',
    'sasl.mechanism.inter.broker.protocol': 'SCRAM-SHA-256',
    'listener.name.internal.scram-sha-256.sasl.jaas.config':
      'org.apache.kafka.common.security.scram.ScramLoginModule required username="m" password="secret";',
  }
  const { settings, problems } = read(secured)
  deepStrictEqual(problems, [])
  deepStrictEqual(settings.brokers, {
    name: 'INTERNAL',
    protocol: 'SASL_SSL',
    login: { mechanism: 'SCRAM-SHA-256', user: 'm', password: 'secret' },
  })
  match(read({ ...secured, 'inter.broker.listener.name': 'other' }).problems.join(), /OTHER has no entry/)
})
