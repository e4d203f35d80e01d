/** ACLs of a real Kafka with an authorizer appear on a node with one, go again, and bind its clients after a failover. */
import { deepStrictEqual, match, ok, strictEqual } from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { eventually } from '../eventually.ts'
import { JavaDriver } from '../java/driver.ts'
import { KafkaCluster } from '../kafka/cluster.ts'
import { sourceVersion } from '../kafka/jars.ts'
import type { LockstepNode } from '../lockstep-process.ts'
import { Opened } from '../opened.ts'
import { skipWithout } from '../requirements.ts'
import { chosenDestination, type Destination, startDestination } from '../scenarios/destination.ts'
import { MirrorLink } from '../scenarios/mirror-link.ts'
import { TopicSide } from '../scenarios/topic-side.ts'

const skip = skipWithout('java')
/** Resource type, name, pattern type, principal, host, operation, permission. */
type Acl = readonly [string, string, string, string, string, string, string]
const secured = {
  'authorizer.class.name': 'org.apache.kafka.metadata.authorizer.StandardAuthorizer',
  'super.users': 'User:ANONYMOUS',
}
const everything = { aclFilters: [{ resourceFilter: { resourceType: 'any', patternType: 'any' } }] }
const acls: readonly Acl[] = [
  ['TOPIC', 'orders', 'LITERAL', 'User:writer', '*', 'WRITE', 'ALLOW'],
  ['TOPIC', 'ord', 'PREFIXED', 'User:reader', '10.1.2.3', 'READ', 'ALLOW'],
  ['GROUP', '*', 'LITERAL', 'User:*', '*', 'READ', 'DENY'],
  ['TRANSACTIONAL_ID', 'tx-', 'PREFIXED', 'User:writer', '*', 'ALL', 'ALLOW'],
  ['CLUSTER', 'kafka-cluster', 'LITERAL', 'User:größe', '*', 'IDEMPOTENT_WRITE', 'ALLOW'],
]
const opened = new Opened()
let source: KafkaCluster
let there: TopicSide
let node: LockstepNode
/** Where the ACLs are to appear. */
let here: TopicSide
let link: MirrorLink

before(async () => {
  if (skip !== false) return
  const plan = chosenDestination()
  const [cluster, { node: started, joined, login }, driver] = await opened.all<[KafkaCluster, Destination, JavaDriver]>(
    [
      KafkaCluster.start({ version: sourceVersion(), properties: secured }),
      startDestination(plan, plan?.security === 'SASL_SSL' ? {} : secured),
      JavaDriver.start({ version: '4.3.1' }),
    ],
  )
  source = cluster
  node = started
  there = new TopicSide(driver, { bootstrap: source.bootstrap, dataDirectory: '' })
  here = new TopicSide(driver, { bootstrap: joined?.bootstrap ?? node.bootstrap, login, dataDirectory: '' })
  const { bootstrap, clusterId } = source
  const configs = { 'acl.sync.enable': 'true', 'acl.sync.ms': '1000', 'acl.filters': JSON.stringify(everything) }
  link = await MirrorLink.create(node, 'west', { bootstrap, clusterId, configs })
})
after(() => opened.close())

const ask = (side: TopicSide, args: object) => side.call('admin-security', args)
/** But for those that let a node be one. */
const aclsOf = async (side: TopicSide) =>
  ((await ask(side, { op: 'acls', filter: [] })) as string[]).filter(acl => !acl.includes('User:lockstep'))

test('every kind of ACL is created as it is at the source, and goes when it goes there; local ones stay', {
  skip,
}, async () => {
  const local: Acl = ['TOPIC', 'local', 'LITERAL', 'User:local', '*', 'READ', 'ALLOW']
  await ask(here, { op: 'create-acls', acls: [local] })
  // The link must find it here before it finds it there, or it would be the link's own.
  await eventually(async () => match(JSON.stringify(await aclsOf(here)), /User:local/))
  await ask(there, { op: 'create-acls', acls })
  await ask(there, { op: 'create-acls', acls: [local] })
  // Kafka answers before its broker has heard of them.
  const wanted = await eventually(async () => {
    const found = await aclsOf(there)
    strictEqual(found.length, acls.length + 1)
    return found
  })
  match(JSON.stringify(wanted), /größe/)
  await eventually(async () => deepStrictEqual(await aclsOf(here), wanted))
  await eventually(async () => {
    const owned = (await node.rest.call('GET', `/links/${link.name}/acls`)) as { data: { principal: string }[] }
    strictEqual(owned.data.length, acls.length)
  })
  await node.crash()
  await ask(there, { op: 'delete-acls', filters: [[]] })
  await eventually(async () => match(JSON.stringify(await aclsOf(here)), /User:local/))
  await eventually(async () => ok(!/User:(writer|reader|\*|größe)/.test(JSON.stringify(await aclsOf(here)))))
  match(JSON.stringify(await aclsOf(here)), /User:local/)
})
