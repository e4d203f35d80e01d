/** A node joins an Apache Kafka cluster with TLS, logins, ACLs and short sessions on every listener: with no more rights than it needs, and every client with its own. */
import { deepStrictEqual, doesNotMatch, match, ok, rejects, strictEqual } from 'node:assert/strict'
import { after, test } from 'node:test'
import { errorName } from '../../src/protocol/errors.ts'
import { MetadataApi } from '../../src/protocol/messages/03-metadata.ts'
import { CreateTopicsApi } from '../../src/protocol/messages/19-create-topics.ts'
import { AlterUserScramCredentialsApi } from '../../src/protocol/messages/51-alter-user-scram-credentials.ts'
import { javaProperties } from '../clients/client-security.ts'
import { askBroker } from '../clients/direct.ts'
import {
  confluentGroupReader,
  type GroupReader,
  kafkaJsGroupReader,
  platformaticGroupReader,
} from '../clients/group-reader.ts'
import { eventually } from '../eventually.ts'
import { JavaError } from '../java/driver.ts'
import { countAcls, setScene } from '../parity/authorization/scene.ts'
import { skipWithout, type Tool } from '../requirements.ts'
import { partitionsAt } from '../scenarios/broker-view.ts'
import { waitUntilInStep } from '../scenarios/equality.ts'
import { TopicSide } from '../scenarios/topic-side.ts'
import { casesOfAccess, judgement, LoggedInPeer } from '../security/access-in-cluster.ts'
import { checkSecured, lostConnections } from '../security/secured-check.ts'
import {
  allow,
  CLUSTER,
  NODE_ID,
  passwordOf,
  SESSION_MS,
  type SecuredCluster,
  startSecuredCluster,
} from '../security/secured-cluster.ts'
import {
  assertOnEveryBroker,
  isPublished,
  LEAST_RIGHTS,
  RECORDS,
  type SecuredMirror,
  startSecuredMirror,
  TOPIC,
} from '../security/secured-mirror.ts'

const skip = skipWithout('java')
let started: Promise<SecuredCluster> | undefined
after(async () => (await started?.catch(() => undefined))?.close())

function secured(): Promise<SecuredCluster> {
  started ??= startSecuredCluster()
  return started
}

const check = async (as: Parameters<typeof checkSecured>[1]) => checkSecured(await secured(), as)

test('the check says which rights are missing, one after the other, and what grants them', { skip }, async () => {
  const { grant } = await secured()
  match((await check({ user: 'lockstep', password: 'wrong' })).problems, /login|refuse/i)
  match(
    (await check({ user: 'lockstep' })).problems,
    /lacks CLUSTER_ACTION on the cluster; grant it with kafka-acls --add/,
  )
  await grant(allow('lockstep', CLUSTER, 'CLUSTER_ACTION'))
  await eventually(async () => match((await check({ user: 'lockstep' })).problems, /lacks ALTER on the cluster/))
  await grant(allow('lockstep', CLUSTER, 'ALTER'))
  await grant(LEAST_RIGHTS)
  await eventually(async () => {
    const { problems, warnings } = await check({ user: 'lockstep' })
    strictEqual(problems, '')
    match(warnings, /without CREATE on the cluster, ACLs of single topics/)
  })
})

test('the check logs in to the Kafka brokers, too, and tells that their ACLs would not be kept to', {
  skip,
}, async () => {
  const { nodeProperties } = await secured()
  const login = 'listener.name.plaintext.scram-sha-256.sasl.jaas.config'
  const wrong = { [login]: nodeProperties('lockstep', 'wrong')[login] ?? '' }
  const { problems } = await check({ user: 'lockstep', ...wrong })
  match(problems, /^broker 1 cannot be reached under its listener PLAINTEXT: .*\nbroker 2 cannot be reached/)
  const open = await check({ user: 'lockstep', 'authorizer.class.name': '', 'rest.allow.anonymous': 'true' })
  strictEqual(open.problems, '')
  match(open.warnings, /the cluster has \d+ ACLs/)
})

test('a node without a right that it cannot do without does not start, and says why', { skip }, async () => {
  const { grant, join: joinAs } = await secured()
  await grant(allow('bob', CLUSTER, 'ALTER'))
  await rejects(joinAs('bob'), /lacks CLUSTER_ACTION on the cluster; grant it with kafka-acls/)
})

let mirroring: Promise<SecuredMirror> | undefined

function mirrored(): Promise<SecuredMirror> {
  mirroring ??= secured().then(startSecuredMirror)
  return mirroring
}

/** Of the first partition of the mirror's topic. */
const commitAtSource = ({ there: { driver, bootstrap } }: SecuredMirror, group: string) =>
  driver.call('admin-groups', { bootstrap, op: 'alter-offsets', group, offsets: { [`${TOPIC}-0`]: 7 } })

test('with the least rights the node mirrors onto every Kafka broker, syncs groups, and publishes what it mirrors', {
  skip,
}, async () => {
  const [of, { admin }] = [await mirrored(), await secured()]
  await assertOnEveryBroker(of)
  await commitAtSource(of, 'synced-group')
  await eventually(async () => {
    const offsets = await admin<object>('admin-groups', { op: 'offsets', group: 'synced-group' })
    match(JSON.stringify(offsets), new RegExp(`${TOPIC}-0"?:\\[?7`))
  })
  await isPublished(of)
})

test('what a right is missing for is refused with the right and the command that grants it', { skip }, async () => {
  const of = await mirrored()
  await of.there.createTopic('elsewhere', { partitions: 1 })
  await rejects(of.link.mirror('elsewhere'), /lacks CREATE on the topic elsewhere; grant it with kafka-acls/)
  await commitAtSource(of, 'private-group')
  await eventually(async () => {
    const groups = JSON.stringify(await of.node.rest.call('GET', `/links/${of.link.name}/groups`))
    match(groups, /lacks READ on the group private-group; grant it with kafka-acls/)
  })
})

/** Those that renew their logins; kcat has librdkafka 2.0, which does not. */
const groupReaders: readonly { reader: GroupReader; needs: readonly Tool[] }[] = [
  { reader: confluentGroupReader, needs: ['java', 'python'] },
  { reader: kafkaJsGroupReader, needs: ['java'] },
  { reader: platformaticGroupReader, needs: ['java'] },
]

for (const { reader, needs } of groupReaders)
  test(`${reader.name} logs in at the node and reads what its ACLs let it read`, {
    skip: skipWithout(...needs),
  }, async () => {
    const { node } = await mirrored()
    const { grant, loginOf } = await secured()
    const group = `alices-${reader.name.replaceAll(/[^a-z-]/gi, '')}`
    await grant([
      ...allow('alice', ['TOPIC', 'mirrors.', 'PREFIXED'], 'READ', 'WRITE'),
      ...allow('alice', ['GROUP', 'alices-', 'PREFIXED'], 'READ'),
    ])
    const reading = { bootstrap: node.bootstrap, topic: TOPIC, group, count: RECORDS }
    strictEqual(new Set(await reader.read({ ...reading, security: loginOf('alice') })).size, RECORDS)
  })

test('the node refuses whom a Kafka broker refuses, with the same errors', { skip }, async () => {
  const { node } = await mirrored()
  const { cluster, java, loginOf } = await secured()
  const outcome = async (bootstrap: string, user: string) => {
    try {
      const side = new TopicSide(java, { bootstrap, dataDirectory: '', login: loginOf(user) })
      return Object.keys(await side.consume(TOPIC))
    } catch (error) {
      if (error instanceof JavaError) return error.javaClass
      throw error
    }
  }
  for (const user of ['alice', 'bob', 'nobody'])
    deepStrictEqual(await outcome(node.bootstrap, user), await outcome(cluster.node(1).address, user))
  match(String(await outcome(node.bootstrap, 'bob')), /TopicAuthorization/)
  match(String(await outcome(node.bootstrap, 'nobody')), /SaslAuthentication/)
})

test('of every user it answers, refuses and shows what a Kafka broker does', { skip }, async () => {
  const { node } = await mirrored()
  const { cluster, loginOf } = await secured()
  // Some cases name broker 1, which is another one than whoever is asked.
  const kafka = new LoggedInPeer('kafka', cluster.node(2).address, loginOf)
  const lockstep = new LoggedInPeer('lockstep', node.bootstrap, loginOf)
  try {
    await setScene(kafka)
    for (const [name, id] of kafka.topicIds) lockstep.topicIds.set(name, id)
    await eventually(async () => strictEqual(await countAcls(lockstep), await countAcls(kafka)))
    const surprises = []
    for (const { name, users, askAs } of casesOfAccess)
      for (const user of users) {
        const [theirs, ours] = [await askAs(user, kafka), await askAs(user, lockstep)].map(judgement)
        if (theirs !== ours) surprises.push({ name, user, theirs, ours })
      }
    deepStrictEqual(surprises, [])
  } finally {
    for (const peer of [kafka, lockstep]) peer.close()
  }
})

test('what is passed on counts with the rights of the client', { skip }, async () => {
  const { node } = await mirrored()
  const { grant, loginOf } = await secured()
  await grant(allow('alice', ['TOPIC', 'alices.', 'PREFIXED'], 'CREATE'))
  const plan = { numPartitions: 1, replicationFactor: 2, assignments: [], configs: [] }
  const create = (user: string, name: string) =>
    askBroker(
      node.bootstrap,
      async connection => {
        const { response } = await connection.send(CreateTopicsApi, { topics: [{ name, ...plan }] }, { version: 7 })
        return errorName(response.topics[0]?.errorCode ?? -1)
      },
      loginOf(user),
    )
  await eventually(async () => match(await create('alice', 'alices.own'), /^(NONE|TOPIC_ALREADY_EXISTS)$/))
  strictEqual(await create('alice', 'somebodys'), 'TOPIC_AUTHORIZATION_FAILED')
  strictEqual(await create('bob', 'alices.other'), 'TOPIC_AUTHORIZATION_FAILED')
})

test('a SCRAM user that is made through the node can log in at it and at the Kafka brokers', { skip }, async () => {
  const { node } = await mirrored()
  const { java, cluster, loginOf } = await secured()
  const admin = javaProperties(loginOf('admin'))
  await java.call('admin-security', {
    ...{ bootstrap: node.bootstrap, admin, op: 'alter-scram' },
    upsert: [['frida', 'SCRAM-SHA-256', 4096, passwordOf('frida')]],
  })
  for (const address of [node.bootstrap, cluster.node(1).address])
    await eventually(() =>
      askBroker(
        address,
        async connection => ok(connection.versionFor(AlterUserScramCredentialsApi.key) !== undefined),
        loginOf('frida'),
      ),
    )
})

test('sessions that end are renewed both ways, and mirroring does not notice', { skip }, async () => {
  const of = await mirrored()
  const { cluster, loginOf } = await secured()
  const { address } = cluster.node(1)
  const [before] = await partitionsAt(address, TOPIC, loginOf('admin'))
  const lost = () => lostConnections([of.node, ...cluster.nodes])
  const lostBefore = lost()
  const beganMs = performance.now()
  while (performance.now() - beganMs < 1.5 * SESSION_MS) {
    await of.there.produce(TOPIC, { generate: { count: 1 } })
    const [here] = of.replicas
    ok(here)
    await waitUntilInStep({ source: of.there, mirror: here }, TOPIC)
  }
  strictEqual(lost(), lostBefore, 'connections that were closed at the end of a session')
  deepStrictEqual(await partitionsAt(address, TOPIC, loginOf('admin')), [before])
  deepStrictEqual([before?.leader, before?.isr.length], [NODE_ID, 3])
  await assertOnEveryBroker(of)
  for (const { output } of cluster.nodes) doesNotMatch(output, /SaslAuthenticationException|session expired/i)
})

test('clients of a listener that the node does not have see neither it nor its mirrors, until their promote', {
  skip,
}, async () => {
  const { link, there } = await mirrored()
  const { cluster, java, loginOf } = await secured()
  const later = 'mirrors.later'
  await there.createTopic(later)
  await there.produce(later, { generate: { count: RECORDS } })
  await link.mirror(later)
  const place = { bootstrap: cluster.node(1).addressOf('CLIENTS'), dataDirectory: '' }
  const seen = () =>
    askBroker(
      place.bootstrap,
      async connection => {
        const request = { topics: [{ name: later }], allowAutoTopicCreation: false }
        const { response } = await connection.send(MetadataApi, request, { version: 12 })
        const [partition] = response.topics[0]?.partitions ?? []
        return [response.brokers.map(({ nodeId }) => nodeId).sort(), errorName(partition?.errorCode ?? -1)]
      },
      loginOf('alice'),
    )
  await eventually(async () => deepStrictEqual(await seen(), [[1, 2], 'LISTENER_NOT_FOUND']))
  await link.must('promote', [later])
  await link.waitForStatus(later, 'STOPPED')
  await eventually(async () => deepStrictEqual(await seen(), [[1, 2], 'NONE']))
  const clients = new TopicSide(java, { ...place, login: loginOf('alice') })
  await eventually(() => clients.produce(later, { idempotent: false, records: [{ value: 'a record of alice' }] }))
  strictEqual((await clients.consume(later))['0']?.records.length, RECORDS + 1)
})

test('with the node dead the Kafka brokers refuse writes: by ACL, and by size whoever is above ACLs', {
  skip,
}, async () => {
  const [{ node, replicas }, { cluster, java, loginOf }] = [await mirrored(), await secured()]
  const write = async (bootstrap: string, user: string) => {
    const side = new TopicSide(java, { bootstrap, dataDirectory: '', login: loginOf(user) })
    const properties = { 'max.block.ms': '20000', 'delivery.timeout.ms': '20000', 'request.timeout.ms': '10000' }
    const args = { acks: '1', idempotent: false, properties, records: [{ value: 'longer than ten bytes' }] } as const
    return await side.produce(TOPIC, args).then(
      () => 'written',
      error => (error instanceof JavaError ? error.javaClass : String(error)),
    )
  }
  match(await write(node.bootstrap, 'admin'), /PolicyViolation/)
  match(await write(node.bootstrap, 'alice'), /TopicAuthorization/)
  await node.kill()
  await eventually(async () => {
    const [partition] = await partitionsAt(cluster.node(1).address, TOPIC, loginOf('admin'))
    ok([1, 2].includes(partition?.leader ?? -1))
  })
  match(await write(cluster.bootstrap, 'alice'), /TopicAuthorization/)
  match(await write(cluster.bootstrap, 'admin'), /RecordTooLarge/)
  ok(((await replicas[0]?.consume(TOPIC))?.['0']?.records.length ?? 0) >= RECORDS)
})
