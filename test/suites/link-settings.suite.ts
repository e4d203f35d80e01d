// Settings of links over a real Kafka: every link error by its name, preflights, what heals by itself or by a change, throttles, deletion.
import { deepStrictEqual, doesNotMatch, match, ok, rejects, strictEqual } from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { javaProperties } from '../clients/client-security.ts'
import { eventually } from '../eventually.ts'
import { freePorts } from '../free-port.ts'
import { JavaDriver } from '../java/driver.ts'
import { KafkaCluster } from '../kafka/cluster.ts'
import { sourceVersion } from '../kafka/jars.ts'
import type { LockstepNode } from '../lockstep-process.ts'
import { Opened } from '../opened.ts'
import { skipWithout } from '../requirements.ts'
import { RestError } from '../rest-client.ts'
import { chosenDestination, type Destination, startDestination } from '../scenarios/destination.ts'
import { MirrorLink } from '../scenarios/mirror-link.ts'
import { ADMIN, Credentials, GUEST } from '../security/credentials.ts'
import { addScramUser, deleteScramUser } from '../security/scram-users.ts'
import { type ListenerName, listenerPorts, securedProperties, WAYS } from '../security/secured-listeners.ts'

const skip = skipWithout('java')
const opened = new Opened()
let java: JavaDriver
let kafka: KafkaCluster
let node: LockstepNode
/** Of clients of the node's cluster. */
let login: Configs
let credentials: Credentials
let ports: Record<ListenerName, number>
let hiddenPort = 0
let closedPort = 0

before(async () => {
  if (skip !== false) return
  credentials = await opened.add(Credentials.make())
  ports = await listenerPorts()
  ;[hiddenPort = 0, closedPort = 0] = await freePorts(2)
  const secured = securedProperties(credentials)
  const map = `${secured['listener.security.protocol.map']},HIDDEN:PLAINTEXT`
  const [driver, source, destination] = await opened.all<[JavaDriver, KafkaCluster, Destination]>([
    JavaDriver.start({ version: '4.3.1' }),
    KafkaCluster.start({
      version: sourceVersion(),
      properties: { ...secured, 'listener.security.protocol.map': map },
      listeners: { ...ports, HIDDEN: hiddenPort },
      // Clients of this listener are sent where nobody listens.
      advertised: { HIDDEN: `127.0.0.1:${closedPort}` },
    }),
    startDestination(chosenDestination()),
  ])
  java = driver
  kafka = source
  node = destination.node
  login = destination.login ? javaProperties(destination.login) : {}
  await addScramUser(java, kafka.bootstrap, ADMIN)
})
after(() => opened.close())

type Configs = Record<string, string>

const quick = { 'availability.check.ms': '500', 'request.timeout.ms': '5000' }
const wayOf = (listener: ListenerName) => WAYS.find(way => way.listener === listener)?.security(credentials)
/** Bootstrap and security of a listener. */
function at(listener: ListenerName, authority = 'ca.pem'): Configs {
  const way = wayOf(listener)
  const security = way && { ...way, caFile: credentials.file(authority) }
  if (!security) throw new Error(`nobody gets in at ${listener}`)
  return { ...javaProperties(security), 'bootstrap.servers': `127.0.0.1:${ports[listener]}` }
}
const plain = (password: string, user: string = ADMIN.user): Configs => ({
  ...at('LOGIN'),
  'sasl.mechanism': 'PLAIN',
  'sasl.jaas.config': `org.apache.kafka.common.security.plain.PlainLoginModule required username="${user}" password="${password}";`,
})

interface Check {
  readonly name: string
  readonly state: string
  readonly message: string
  readonly hint: string | null
}

async function preflight(configs: Configs, more: object = {}): Promise<{ ok: boolean; results: Check[] }> {
  const entries = Object.entries(configs).map(([name, value]) => ({ name, value }))
  const body = { configs: entries, ...more }
  return (await node.rest.call('POST', '/links:preflight?link_name=flight', body)) as { ok: boolean; results: Check[] }
}

/** The one check that failed, and everything that was said. */
async function failed(configs: Configs, more: object = {}): Promise<{ name: string; text: string }> {
  const { ok: isOk, results } = await preflight(configs, more)
  const found = results.filter(({ state }) => state === 'FAILED')
  strictEqual(found.length, 1, JSON.stringify(results))
  strictEqual(isOk, false)
  ok(found[0]?.hint !== '')
  const text = JSON.stringify(results)
  doesNotMatch(text, /s3cret|PRIVATE KEY/)
  return { name: found[0]?.name ?? '', text }
}

const open = (): Configs => ({ 'bootstrap.servers': kafka.bootstrap })

test('a preflight of a good link passes, of a guest it warns of what he may not see', { skip }, async () => {
  const good = await preflight({ ...at('SECURE'), 'consumer.offset.sync.enable': 'true' })
  deepStrictEqual([good.ok, good.results.filter(({ state }) => state === 'FAILED')], [true, []])
  const stateOf = (answer: { results: Check[] }, name: string) =>
    answer.results.find(check => check.name === name)?.state
  for (const name of ['DNS', 'TCP', 'TLS', 'LOGIN', 'API_VERSIONS', 'CLUSTER_ID', 'ADVERTISED_LISTENERS'])
    strictEqual(stateOf(good, name), 'PASSED', name)
  const guest = await preflight({ ...plain(GUEST.password, GUEST.user), 'acl.sync.enable': 'true' })
  strictEqual(guest.ok, true)
  strictEqual(stateOf(guest, 'DESCRIBE_TOPICS'), 'WARNING')
  strictEqual(stateOf(guest, 'ACLS'), 'WARNING')
  strictEqual(stateOf(guest, 'STATUS_TOPIC'), 'WARNING')
})

test('preflights tell names, ports, certificates, logins, clusters and advertised listeners apart', {
  skip,
}, async () => {
  const told = async (configs: Configs, expected: string, more: object = {}) =>
    strictEqual((await failed(configs, more)).name, expected)
  await told({ 'bootstrap.servers': `${'a'.repeat(64)}.invalid:9092` }, 'DNS')
  await told({ 'bootstrap.servers': `127.0.0.1:${closedPort}` }, 'TCP')
  await told(at('SECURE', 'stranger-ca.pem'), 'TLS')
  await told(plain('wrong-s3cret'), 'LOGIN')
  await told({ ...open(), 'acl.sync.mss': '1' }, 'PROPERTIES')
  await told(open(), 'CLUSTER_ID', { source_cluster_id: 'another' })
  await told({ ...login, 'bootstrap.servers': node.bootstrap }, 'CLUSTER_ID')
  await told({ 'bootstrap.servers': `127.0.0.1:${hiddenPort}` }, 'ADVERTISED_LISTENERS')
})

test('creation refuses what a preflight finds, with the error of the link', { skip }, async () => {
  const hidden = { bootstrap: `127.0.0.1:${hiddenPort}`, clusterId: kafka.clusterId }
  const refused = await MirrorLink.create(node, 'hidden', hidden).then(
    () => 'created',
    error => (error instanceof RestError ? JSON.stringify(error.answer.body) : String(error)),
  )
  match(refused, /INVALID_BOOTSTRAP_INTERNAL_ENDPOINT_ERROR.*127\.0\.0\.1/)
})

/** A link that was not validated, so that its error is that of its first probe. */
async function unchecked(name: string, configs: Configs): Promise<MirrorLink> {
  const entries = Object.entries({ ...quick, ...configs }).map(([key, value]) => ({ name: key, value }))
  const query = `link_name=${name}&validate_link=false`
  await node.rest.call('POST', `/links?${query}`, { source_cluster_id: kafka.clusterId, configs: entries })
  return MirrorLink.of(node, name)
}

const seesError = (link: MirrorLink, error: string) =>
  eventually(async () => strictEqual((await link.describeLink()).link_error, error))

test('links without validation show each error at their first probe, and delete at once', { skip }, async () => {
  const cases: readonly (readonly [string, Configs, string])[] = [
    ['dns', { 'bootstrap.servers': `${'a'.repeat(64)}.invalid:9092` }, 'UNRESOLVABLE_BOOTSTRAP_ERROR'],
    ['tcp', { 'bootstrap.servers': `127.0.0.1:${closedPort}` }, 'BOOTSTRAP_TCP_CONNECTION_FAILED_ERROR'],
    ['tls', at('SECURE', 'stranger-ca.pem'), 'TLS_ERROR'],
    ['login', plain('wrong-s3cret'), 'AUTHENTICATION_ERROR'],
    ['hidden', { 'bootstrap.servers': `127.0.0.1:${hiddenPort}` }, 'INVALID_BOOTSTRAP_INTERNAL_ENDPOINT_ERROR'],
    ['self', { ...login, 'bootstrap.servers': node.bootstrap }, 'CLUSTER_ID_MISMATCH'],
  ]
  for (const [name, configs, error] of cases) {
    const link = await unchecked(`wrong-${name}`, configs)
    await seesError(link, error)
    await node.rest.call('DELETE', `/links/wrong-${name}`)
  }
})

/** In batches of 50, so that a fetch need not bring everything at once. */
async function produce(topic: string, generate: object): Promise<void> {
  await java.call('produce', { bootstrap: kafka.bootstrap, topic, generate, batch: 50 })
}

async function createTopic(name: string, partitions = 1): Promise<void> {
  await java.call('create-topics', { bootstrap: kafka.bootstrap, topics: [{ name, partitions }] })
}

const seesEnd = (link: MirrorLink, topic: string, end: number) =>
  eventually(async () => {
    const { mirror_lags: lags } = await link.describe(topic)
    strictEqual(
      lags.reduce((sum, lag) => sum + (lag.log_end_offset ?? 0), 0),
      end,
    )
  })

test('a user that is revoked and restored, and a bootstrap server that moves, cost the mirror nothing', {
  skip,
}, async () => {
  await createTopic('moving')
  await produce('moving', { count: 10 })
  const link = await unchecked('moving', at('SECURE'))
  await seesError(link, 'NO_ERROR')
  await eventually(() => link.mirror('moving'))
  await seesEnd(link, 'moving', 10)
  await deleteScramUser(java, kafka.bootstrap, ADMIN.user)
  strictEqual((await link.waitForState('FAILED')).link_error, 'AUTHENTICATION_ERROR')
  await produce('moving', { count: 10 })
  await addScramUser(java, kafka.bootstrap, ADMIN)
  await link.waitForState('ACTIVE')
  await seesEnd(link, 'moving', 20)
  // The same cluster elsewhere, with another way in.
  await link.alter({ ...at('MUTUAL'), 'security.protocol': 'SSL' })
  await produce('moving', { count: 10 })
  await seesEnd(link, 'moving', 30)
  await link.alter({ 'bootstrap.servers': `127.0.0.1:${closedPort}` })
  await seesError(link, 'BOOTSTRAP_TCP_CONNECTION_FAILED_ERROR')
  await link.alter({ 'bootstrap.servers': `127.0.0.1:${closedPort},127.0.0.1:${ports.MUTUAL}` })
  await seesError(link, 'NO_ERROR')
  await produce('moving', { count: 10 })
  await seesEnd(link, 'moving', 40)
})

test('certificate files are read again when they have changed', { skip }, async () => {
  const [good, stranger] = await Promise.all(
    ['ca.pem', 'stranger-ca.pem'].map(name => readFile(credentials.file(name), 'utf8')),
  )
  const write = (text: string | undefined) => credentials.write('link-trust.pem', text ?? '')
  await write(good)
  const { 'ssl.truststore.certificates': _, ...configs } = at('SECURE')
  const trust = { 'ssl.truststore.location': credentials.file('link-trust.pem') }
  const link = await unchecked('certified', { ...configs, ...trust })
  await seesError(link, 'NO_ERROR')
  await write(stranger)
  await seesError(link, 'TLS_ERROR')
  await write(good)
  await seesError(link, 'NO_ERROR')
  await node.rest.call('DELETE', '/links/certified')
})

test('without the key of its secrets a link is FAILED and says so, and its mirrors go on when the key is back', {
  skip,
}, async () => {
  const keyFile = join(node.dataDirectory, 'lockstep-secret.key')
  const key = await readFile(keyFile, 'utf8')
  await createTopic('sealed')
  const link = await unchecked('sealed', at('SECURE'))
  await seesError(link, 'NO_ERROR')
  await eventually(() => link.mirror('sealed'))
  await node.stop()
  await writeFile(keyFile, `${Buffer.alloc(32, 7).toString('base64')}\n`)
  await node.start()
  if (chosenDestination()) {
    // It leaves the links of the cluster to other nodes then, and there is none.
    const unkept = /lockstep\.secret\.key\.file of this node does not have/
    await eventually(() => rejects(node.rest.call('GET', '/links/sealed'), unkept))
  } else {
    const blind = await link.waitForState('FAILED')
    strictEqual(blind.link_error, 'AUTHENTICATION_ERROR')
    match(blind.link_error_message ?? '', /was encrypted with key [0-9a-f]+, which this node does not have/)
  }
  await node.stop()
  await writeFile(keyFile, key)
  await node.start()
  await produce('sealed', { count: 10 })
  await link.waitForState('ACTIVE')
  await seesEnd(link, 'sealed', 10)
})

test('a throttled link keeps to its rate, and a bound that is taken away lets it go', { skip }, async () => {
  const [records, valueBytes] = [3000, 1000]
  await createTopic('throttled', 4)
  await produce('throttled', { count: records, valueBytes, random: true, keys: 100 })
  const bytesPerSecond = 600_000
  const link = await unchecked('throttled', { ...open(), 'mirror.max.bytes.per.second': String(bytesPerSecond) })
  await seesError(link, 'NO_ERROR')
  const beganMs = performance.now()
  await eventually(() => link.mirror('throttled'))
  await seesEnd(link, 'throttled', records)
  const seconds = (performance.now() - beganMs) / 1000
  ok((records * valueBytes) / seconds < 2 * bytesPerSecond, `mirrored in ${seconds} s`)
  const metrics = String((await node.rest.request('GET', '/metrics')).body)
  const heldBack = /^lockstep_fetch_throttle_seconds\{link="throttled"\} (.+)$/m.exec(metrics)?.[1]
  ok(Number(heldBack) > 1, heldBack)
  await link.alter({ 'mirror.max.bytes.per.second': '1' })
  await produce('throttled', { count: records, valueBytes, random: true, keys: 100 })
  await node.rest.call('DELETE', '/links/throttled/configs/mirror.max.bytes.per.second')
  await seesEnd(link, 'throttled', 2 * records)
})

test('a link with mirrors is deleted only with force, which fails them over and says which', { skip }, async () => {
  await createTopic('kept')
  await createTopic('paused')
  const link = await unchecked('doomed', open())
  await seesError(link, 'NO_ERROR')
  for (const topic of ['kept', 'paused']) await eventually(() => link.mirror(topic))
  await link.must('pause', ['paused'])
  const path = '/links/doomed'
  const { status, body } = await node.rest.request('DELETE', `/kafka/v3/clusters/${node.clusterId}${path}`)
  deepStrictEqual([status, (body as { error_code: number }).error_code], [403, 40301])
  const dry = await node.rest.call('DELETE', `${path}?force=true&validate_only=true&report=true`)
  deepStrictEqual((dry as { failed_over: string[] }).failed_over, ['kept', 'paused'])
  strictEqual((await link.describe('kept')).mirror_status, 'ACTIVE')
  const report = await node.rest.call('DELETE', `${path}?force=true&report=true`)
  deepStrictEqual((report as { failed_over: string[] }).failed_over, ['kept', 'paused'])
  const write = { bootstrap: node.bootstrap, properties: login, admin: login, generate: { count: 1 } }
  for (const topic of ['kept', 'paused']) await eventually(() => java.call('produce', { ...write, topic }))
  strictEqual((await node.rest.request('GET', `/kafka/v3/clusters/${node.clusterId}${path}`)).status, 404)
})
