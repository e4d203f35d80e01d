/** Incidents of a real source that need ways in of their own: hidden APIs, rights that go and come back, clocks that differ by a day, a long outage. */
import { deepStrictEqual, match, ok, strictEqual } from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { eventually } from '../eventually.ts'
import { freePorts } from '../free-port.ts'
import { HiddenApisProxy } from '../hostile/hidden-apis-proxy.ts'
import { JavaDriver } from '../java/driver.ts'
import { KafkaCluster, shortSession } from '../kafka/cluster.ts'
import { LockstepNode } from '../lockstep-process.ts'
import { Opened } from '../opened.ts'
import { skipWithout } from '../requirements.ts'
import { assertEqualTopics, waitUntilInStep } from '../scenarios/equality.ts'
import { MirrorLink } from '../scenarios/mirror-link.ts'
import { TopicSide } from '../scenarios/topic-side.ts'
import { fillWithTransactions, openTransaction } from '../scenarios/transactions.ts'

const skip = skipWithout('java')
const opened = new Opened()
const DAY_MS = 24 * 60 * 60 * 1000
const quick = {
  'cluster.link.retry.timeout.ms': '1500',
  'metadata.max.age.ms': '1000',
  'request.timeout.ms': '2000',
  'availability.check.ms': '500',
  'replica.fetch.backoff.ms': '100',
}
const USER = { user: 'link', password: 'link-s3cret' } as const
const loginModule = 'org.apache.kafka.common.security.plain.PlainLoginModule required'
let java: JavaDriver
let kafka: KafkaCluster
let proxy: HiddenApisProxy
/** Their clocks are a day ahead of the source's, and a day behind. */
let ahead: LockstepNode
let behind: LockstepNode
let source: TopicSide
/** Links of the first: through the proxy, as a user with ACLs, as one who may do everything. */
let old: MirrorLink
let guarded: MirrorLink
let open: MirrorLink

/** The wall clock of a process, as if its machine's were wrong. */
const shiftedBy = (ms: number) => ({
  NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(`const now=Date.now;Date.now=()=>now()+${ms}`)}`,
})

const acl = (topic: string, operation: string, permission: 'ALLOW' | 'DENY') =>
  ['TOPIC', topic, 'LITERAL', `User:${USER.user}`, '*', operation, permission] as const

async function security(args: object): Promise<void> {
  await java.call('admin-security', { bootstrap: kafka.bootstrap, ...args })
}

before(async () => {
  if (skip !== false) return
  const [hidden = 0, shown = 0, login = 0] = await freePorts(3)
  const retention = { 'log.retention.check.interval.ms': '100', 'log.initial.task.delay.ms': '100' }
  ;[java, kafka, ahead, behind, proxy] = await opened.all<
    [JavaDriver, KafkaCluster, LockstepNode, LockstepNode, HiddenApisProxy]
  >([
    JavaDriver.start({ version: '4.3.1' }),
    KafkaCluster.start({
      version: '4.3.1',
      properties: {
        ...shortSession,
        'listener.security.protocol.map':
          'PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,HIDDEN:PLAINTEXT,LOGIN:SASL_PLAINTEXT',
        'listener.name.login.sasl.enabled.mechanisms': 'PLAIN',
        'listener.name.login.plain.sasl.jaas.config': `${loginModule} user_${USER.user}="${USER.password}";`,
        'authorizer.class.name': 'org.apache.kafka.metadata.authorizer.StandardAuthorizer',
        'super.users': 'User:ANONYMOUS',
      },
      listeners: { HIDDEN: hidden, LOGIN: login },
      advertised: { HIDDEN: `127.0.0.1:${shown}` },
    }),
    LockstepNode.start({ env: shiftedBy(DAY_MS), properties: retention }),
    LockstepNode.start({ env: shiftedBy(-DAY_MS), properties: retention }),
    HiddenApisProxy.start(shown, hidden),
  ])
  source = new TopicSide(java, { bootstrap: kafka.bootstrap, dataDirectory: kafka.node(1).dataDirectory })
  await security({
    op: 'create-acls',
    acls: ['READ', 'DESCRIBE', 'DESCRIBE_CONFIGS'].map(operation => acl('*', operation, 'ALLOW')),
  })
  old = await linkOf(ahead, 'old', { port: shown, configs: groupSync })
  guarded = await linkOf(ahead, 'guarded', {
    port: login,
    configs: {
      'security.protocol': 'SASL_PLAINTEXT',
      'sasl.mechanism': 'PLAIN',
      'sasl.jaas.config': `${loginModule} username="${USER.user}" password="${USER.password}";`,
    },
  })
  open = await linkOf(ahead, 'open', { port: Number(kafka.bootstrap.split(':')[1]) })
})
after(() => opened.close())

const groupSync = {
  'consumer.offset.sync.enable': 'true',
  'consumer.offset.sync.ms': '1000',
  'consumer.offset.group.filters': JSON.stringify({
    groupFilters: [{ name: '*', patternType: 'LITERAL', filterType: 'INCLUDE' }],
  }),
}

const linkOf = (node: LockstepNode, name: string, place: { port: number; configs?: Record<string, string> }) =>
  MirrorLink.create(node, name, { bootstrap: `127.0.0.1:${place.port}`, configs: { ...quick, ...place.configs } })

const sides = (node: LockstepNode = ahead) => ({ source, mirror: new TopicSide(java, node) })

/** A topic with some records, mirrored and in step. */
async function mirrored(link: MirrorLink, topic: string): Promise<void> {
  await source.createTopic(topic)
  await source.produce(topic, { batch: 10, generate: { count: 30 } })
  await link.mirror(topic)
  await waitUntilInStep(sides(), topic)
}

async function flows(topic: string): Promise<void> {
  await source.produce(topic, { generate: { count: 10 } })
  await waitUntilInStep(sides(), topic)
}

test('a source that hides what is newer than Kafka 2.1 is mirrored, followed and promoted', { skip }, async () => {
  const { mirror } = sides()
  await source.createTopic('veiled', { partitions: 2 })
  await fillWithTransactions(source, 'veiled')
  await source.produce('veiled', { codec: 'zstd', batch: 10, generate: { count: 100 } })
  await old.mirror('veiled')
  await assertEqualTopics(sides(), 'veiled')
  await source.endTransaction(openTransaction('veiled'), 'commit')
  const groups = (bootstrap: string, args: object) =>
    java.call('admin-groups', { bootstrap, group: 'readers', ...args })
  await groups(kafka.bootstrap, { op: 'alter-offsets', offsets: { 'veiled-0': 7, 'veiled-1': 11 } })
  await source.alterConfigs('veiled', { 'retention.ms': '172800000' })
  await source.createPartitions('veiled', 3)
  await eventually(() => source.produce('veiled', { partition: 2, generate: { count: 20 } }))
  await eventually(async () => {
    const { configs, partitions } = await mirror.describe('veiled')
    deepStrictEqual([configs['retention.ms'], partitions.length], ['172800000', 3])
    const offsets = JSON.stringify(await groups(ahead.bootstrap, { op: 'offsets' }))
    match(offsets, /veiled-0[^}]*\b7\b/)
    match(offsets, /veiled-1[^}]*\b11\b/)
  })
  await assertEqualTopics(sides(), 'veiled')
  await old.must('promote', ['veiled'])
  await old.waitForStatus('veiled', 'STOPPED')
  const ends = async (side: TopicSide) =>
    (await side.describe('veiled')).partitions.map(partition => partition.highWatermark)
  deepStrictEqual(await ends(mirror), await ends(source))
  await mirror.produce('veiled', { generate: { count: 5 } })
  deepStrictEqual(proxy.forbidden, [])
  strictEqual(proxy.used.get(1), 10, 'fetched by the newest version that was shown')
})

// Where ids are told, the id comes first. Empty, so that the log says nothing before the number does.
test('a topic that comes back with fewer partitions fails by its id, and where ids are hidden by their number', {
  skip,
}, async () => {
  const cases = [
    ['fewer-veiled', old, 'SOURCE_PARTITIONS_DECREASED'],
    ['fewer', open, 'SOURCE_TOPIC_ID_CHANGED'],
  ] as const
  await mirrored(old, 'beside')
  for (const [topic, link, error] of cases) {
    await source.createTopic(topic, { partitions: 2 })
    await link.mirror(topic)
    await waitUntilInStep(sides(), topic)
    // However long it takes until the new one is there, the old one is not believed to be gone for good.
    await link.alter({ 'cluster.link.retry.timeout.ms': '600000' })
    await source.deleteTopic(topic)
    await eventually(() => source.createTopic(topic))
    await link.alter({ 'cluster.link.retry.timeout.ms': quick['cluster.link.retry.timeout.ms'] })
    strictEqual((await link.waitForStatus(topic, 'FAILED')).mirror_topic_error, error)
    strictEqual((await sides().mirror.describe(topic)).partitions.length, 2)
  }
  await flows('beside')
})

test('a topic whose access is revoked fails by that name, alone, and goes on when it may be read and is resumed', {
  skip,
}, async () => {
  const revoked = { unreadable: 'READ', invisible: 'ALL' } as const
  for (const topic of ['readable', ...Object.keys(revoked)]) await mirrored(guarded, topic)
  for (const [topic, operation] of Object.entries(revoked)) {
    await security({ op: 'create-acls', acls: [acl(topic, operation, 'DENY')] })
    await source.produce(topic, { batch: 10, generate: { count: 20 } })
    const failed = await guarded.waitForStatus(topic, 'FAILED')
    strictEqual(failed.mirror_topic_error, 'AUTHORIZATION_ERROR', failed.reason ?? '')
  }
  await flows('readable')
  await guarded.waitForState('ACTIVE')
  const [refused] = await guarded.ask('resume', ['unreadable'])
  ok(refused?.error_code, 'it cannot be resumed before it may be read')
  for (const [topic, operation] of Object.entries(revoked)) {
    await security({ op: 'delete-acls', filters: [acl(topic, operation, 'DENY')] })
    await eventually(() => guarded.must('resume', [topic]))
    await assertEqualTopics(sides(), topic)
    await guarded.waitForStatus(topic, 'ACTIVE')
  }
})

async function logStart(side: TopicSide, topic: string): Promise<number> {
  return (await side.describe(topic)).partitions[0]?.logStart ?? -1
}

const hourly = { 'retention.ms': '3600000', 'segment.bytes': '1048576' }

/** A topic of the node itself, whose records its clock has expired: twice, so that a whole round of retention lies between. */
async function waitForRetention(node: LockstepNode): Promise<void> {
  const local = new TopicSide(java, node)
  await local.createTopic('local', { configs: hourly })
  for (let round = 0; round < 2; round++) {
    const { last } = await local.produce('local', { generate: { count: 10 } })
    await eventually(async () => strictEqual(await logStart(local, 'local'), (last['0'] ?? 0) + 1))
  }
}

test('clocks that differ by a day change nothing: log start and lag of a mirror follow the source alone', {
  skip,
}, async () => {
  const late = await linkOf(behind, 'late', { port: Number(kafka.bootstrap.split(':')[1]) })
  const appended = { ...hourly, 'message.timestamp.type': 'LogAppendTime' }
  const topics = { created: hourly, appended }
  const worlds = [
    [open, ahead],
    [late, behind],
  ] as const
  for (const [topic, configs] of Object.entries(topics)) {
    await source.createTopic(topic, { configs })
    await source.produce(topic, { batch: 100, generate: { count: 2_500, valueBytes: 1_000, random: true } })
    for (const [link, node] of worlds) {
      await link.mirror(topic, { 'segment.bytes': hourly['segment.bytes'] })
      await waitUntilInStep(sides(node), topic)
    }
  }
  await waitForRetention(ahead)
  for (const topic of Object.keys(topics)) {
    for (const [link, node] of worlds) {
      await assertEqualTopics(sides(node), topic)
      strictEqual(await logStart(new TopicSide(java, node), topic), 0)
      await eventually(async () => {
        const [lag] = (await link.describe(topic)).mirror_lags
        ok(lag?.lag === 0 && lag.lag_ms !== null && lag.lag_ms < DAY_MS / 2, JSON.stringify(lag))
      })
    }
    await source.deleteRecords(topic, { 0: 700 })
    for (const [, node] of worlds) await waitUntilInStep(sides(node), topic)
  }
  await open.failOver(['appended'])
  await sides().mirror.produce('appended', { generate: { count: 1 } })
})

test('a source that is away for longer than every timeout fails no mirror, by whatever way it is read', {
  skip,
}, async () => {
  await mirrored(open, 'steady')
  const topics = { beside: old, readable: guarded, steady: open }
  const broker = kafka.node(1)
  await broker.kill()
  for (const link of Object.values(topics)) await link.waitForState('UNAVAILABLE')
  // Not waiting for something: and then for as long as two of the longest of the timeouts.
  await delay(2 * Number(quick['request.timeout.ms']))
  for (const [topic, link] of Object.entries(topics)) await link.waitForStatus(topic, 'SOURCE_UNAVAILABLE')
  await broker.start()
  for (const [topic, link] of Object.entries(topics)) {
    await eventually(() => source.produce(topic, { batch: 10, generate: { count: 30 } }))
    await waitUntilInStep(sides(), topic)
    await link.waitForStatus(topic, 'ACTIVE')
    await link.waitForState('ACTIVE')
    ok((await link.history(topic)).every(({ mirror_status: status }) => status !== 'FAILED'))
  }
  deepStrictEqual(proxy.forbidden, [])
})
