/** Topics of a real Kafka become mirrors by themselves: filters changed live, ACLs that hide topics, deletions here, a thousand topics, and explanations. */
import { deepStrictEqual, match, ok, strictEqual } from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { eventually } from '../eventually.ts'
import { JavaDriver } from '../java/driver.ts'
import { sourceVersion } from '../kafka/jars.ts'
import { skipWithout } from '../requirements.ts'
import { chosenDestination } from '../scenarios/destination.ts'
import { waitUntilInStep } from '../scenarios/equality.ts'
import { type MirrorWorld, startMirrorWorld } from '../scenarios/mirror-world.ts'

const skip = skipWithout('java')
const filters = (...rows: readonly [name: string, patternType: string, filterType: string][]) =>
  JSON.stringify({ topicFilters: rows.map(([name, patternType, filterType]) => ({ name, patternType, filterType })) })

/** Everybody may do what no ACL says; the broker is one of them. */
const properties = {
  'authorizer.class.name': 'org.apache.kafka.metadata.authorizer.StandardAuthorizer',
  'allow.everyone.if.no.acl.found': 'true',
}
/** Brokers of small machines that follow a thousand topics have no time for anything else. */
const MANY = sourceVersion() === '3.9.2' || chosenDestination() ? 100 : 1000
let world: MirrorWorld
/** Knows the commands about ACLs. */
let java: JavaDriver

before(async () => {
  if (skip !== false) return
  world = await startMirrorWorld(sourceVersion(), {
    properties,
    link: { 'auto.create.mirror.topics.interval.ms': '1000' },
  })
  java = await JavaDriver.start({ version: '4.3.1' })
})
after(async () => {
  await java?.close()
  await world?.close()
})

interface Explanation {
  readonly mirrored: boolean
  readonly conclusion: string
  readonly conditions: readonly { readonly name: string; readonly answer: string; readonly detail: string }[]
}

interface SourceTopic {
  readonly source_topic_name: string
  readonly mirrored: boolean
  readonly mirror_status: string | null
  readonly reason: string | null
}

async function explain(topic: string): Promise<Explanation> {
  return (await world.node.rest.call('GET', `/links/${world.link.name}/explain?topic=${topic}`)) as Explanation
}

async function listed(): Promise<Map<string, SourceTopic>> {
  const answer = await world.node.rest.call('GET', `/links/${world.link.name}/source-topics`)
  return new Map((answer as { data: SourceTopic[] }).data.map(topic => [topic.source_topic_name, topic]))
}

const isMirrored = (topic: string) => eventually(() => world.link.waitForStatus(topic, 'ACTIVE'))

const ask = (args: object) => java.call('admin-security', { bootstrap: world.sides.source.bootstrap, ...args })

test('topics that a filter includes appear with their data, and filters changed on a live link count at once', {
  skip,
}, async () => {
  const { sides, link } = world
  for (const topic of ['orders', 'orders-secret', 'payments']) await sides.source.createTopic(topic, { partitions: 2 })
  await sides.source.produce('orders', { generate: { count: 50 } })
  const first = filters(['orders', 'PREFIXED', 'INCLUDE'], ['orders-secret', 'LITERAL', 'EXCLUDE'])
  await link.alter({ 'auto.create.mirror.topics.enable': 'true', 'auto.create.mirror.topics.filters': first })
  await isMirrored('orders')
  await waitUntilInStep(sides, 'orders')
  const topics = await listed()
  deepStrictEqual(
    ['orders', 'orders-secret', 'payments'].map(topic => topics.get(topic)?.reason),
    [null, 'EXCLUDED', 'NOT_INCLUDED'],
  )
  await link.alter({ 'auto.create.mirror.topics.filters': filters(['payments', 'LITERAL', 'INCLUDE']) })
  await isMirrored('payments')
})

test('a mirror deleted here comes back, its deletion says so, and a promoted one stays writable', {
  skip,
}, async () => {
  const { node, link, sides } = world
  const report = (await node.rest.call('DELETE', '/topics/payments?report=true')) as { comes_back: unknown[] }
  deepStrictEqual(report.comes_back, [{ link_name: link.name, source_topic_name: 'payments', within_ms: 1000 }])
  await isMirrored('payments')
  await waitUntilInStep(sides, 'payments')
  await link.failOver(['payments'])
  const { mirrored, conclusion } = await explain('payments')
  strictEqual(mirrored, false)
  match(conclusion, /is not mirrored any more/)
  strictEqual((await listed()).get('payments')?.mirror_status, 'STOPPED')
})

test('a topic that ACLs hide is not mirrored until they let the link see it', { skip }, async () => {
  const { sides, link } = world
  await sides.source.createTopic('hidden')
  const deny = ['TOPIC', 'hidden', 'LITERAL', 'User:ANONYMOUS', '*', 'ALL', 'DENY']
  await ask({ op: 'create-acls', acls: [deny] })
  await eventually(async () => {
    const { conditions } = await explain('hidden')
    ok(conditions.some(({ name, answer }) => name === 'SOURCE_TOPIC_EXISTS' && answer === 'NO'))
  })
  await link.alter({ 'auto.create.mirror.topics.filters': filters(['hidden', 'LITERAL', 'INCLUDE']) })
  await eventually(async () => strictEqual((await listed()).get('hidden')?.reason, 'SOURCE_TOPIC_NOT_FOUND'))
  await ask({ op: 'delete-acls', filters: [[]] })
  await isMirrored('hidden')
})

test('a topic that is here already, and one that is never mirrored, are explained', { skip }, async () => {
  const { sides, link } = world
  for (const side of [sides.source, sides.mirror]) await side.createTopic('both')
  await link.alter({ 'auto.create.mirror.topics.filters': filters(['both', 'LITERAL', 'INCLUDE']) })
  await eventually(async () => strictEqual((await listed()).get('both')?.reason, 'TOPIC_EXISTS'))
  match((await explain('both')).conclusion, /already exists/)
  match((await explain('__consumer_offsets')).conclusion, /never mirrored/)
  const missing = await explain('no-such-topic')
  strictEqual(missing.mirrored, false)
  ok(missing.conditions.some(({ name, answer }) => name === 'INCLUDED_BY_FILTER' && answer === 'NO'))
})

test('as many topics as a large source has appear', { skip }, async () => {
  const { sides, link, node } = world
  const topics = Array.from({ length: MANY }, (_, index) => ({ name: `many-${index}`, partitions: 1 }))
  const { driver, bootstrap } = sides.source
  for (let at = 0; at < MANY; at += 250)
    await driver.call('create-topics', { bootstrap, topics: topics.slice(at, at + 250) })
  await link.alter({ 'auto.create.mirror.topics.filters': filters(['many-', 'PREFIXED', 'INCLUDE']) })
  await eventually(
    async () => {
      const answer = (await node.rest.call('GET', '/topics')) as { data: { topic_name: string }[] }
      strictEqual(answer.data.filter(topic => topic.topic_name.startsWith('many-')).length, MANY)
    },
    { timeoutMs: 240_000, intervalMs: 500 },
  )
})
