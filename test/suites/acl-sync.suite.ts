/** ACLs of a real Kafka with an authorizer appear on a node with one, go again, and bind its clients after a failover. */
import { deepStrictEqual, match, ok, strictEqual } from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { eventually } from '../eventually.ts'
import { JavaDriver } from '../java/driver.ts'
import { KafkaCluster } from '../kafka/cluster.ts'
import type { LockstepNode } from '../lockstep-process.ts'
import { Opened } from '../opened.ts'
import { skipWithout } from '../requirements.ts'
import { chosenDestination, type Destination, startDestination } from '../scenarios/destination.ts'
import { MirrorLink } from '../scenarios/mirror-link.ts'

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
let node: LockstepNode
/** Where the ACLs are to appear. */
let here: { readonly bootstrap: string }
let driver: JavaDriver
let link: MirrorLink

before(async () => {
  if (skip !== false) return
  const [there, destination, java] = await opened.all<[KafkaCluster, Destination, JavaDriver]>([
    KafkaCluster.start({ version: '4.3.1', properties: secured }),
    startDestination(chosenDestination(), secured),
    JavaDriver.start({ version: '4.3.1' }),
  ])
  source = there
  node = destination.node
  here = destination.joined ?? node
  driver = java
  const { bootstrap, clusterId } = source
  const configs = { 'acl.sync.enable': 'true', 'acl.sync.ms': '1000', 'acl.filters': JSON.stringify(everything) }
  link = await MirrorLink.create(node, 'west', { bootstrap, clusterId, configs })
})
after(() => opened.close())

const ask = (side: { bootstrap: string }, args: object) =>
  driver.call('admin-security', { bootstrap: side.bootstrap, ...args })
const aclsOf = (side: { bootstrap: string }) => ask(side, { op: 'acls', filter: [] })

test('every kind of ACL is created as it is at the source, and goes when it goes there; local ones stay', {
  skip,
}, async () => {
  const local: Acl = ['TOPIC', 'local', 'LITERAL', 'User:local', '*', 'READ', 'ALLOW']
  await ask(here, { op: 'create-acls', acls: [local] })
  // The link must find it here before it finds it there, or it would be the link's own.
  await eventually(async () => match(JSON.stringify(await aclsOf(here)), /User:local/))
  await ask(source, { op: 'create-acls', acls })
  await ask(source, { op: 'create-acls', acls: [local] })
  // Kafka answers before its broker has heard of them.
  const wanted = await eventually(async () => {
    const there = (await aclsOf(source)) as string[][]
    strictEqual(there.length, acls.length + 1)
    return there
  })
  match(JSON.stringify(wanted), /größe/)
  await eventually(async () => deepStrictEqual(await aclsOf(here), wanted))
  const owned = (await node.rest.call('GET', `/links/${link.name}/acls`)) as { data: { principal: string }[] }
  strictEqual(owned.data.length, acls.length)
  await node.crash()
  await ask(source, { op: 'delete-acls', filters: [[]] })
  await eventually(async () => match(JSON.stringify(await aclsOf(here)), /User:local/))
  await eventually(async () => ok(!/User:(writer|reader|\*|größe)/.test(JSON.stringify(await aclsOf(here)))))
  match(JSON.stringify(await aclsOf(here)), /User:local/)
})
