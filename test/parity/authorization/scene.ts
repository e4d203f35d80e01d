// The users, topics and ACLs over which the authorization cases are asked; made on both nodes by the super user before the first case.
import { strictEqual } from 'node:assert/strict'
import { AclPattern, AclPermission, ALL_OPERATIONS, ANY } from '../../../src/metadata/acl.ts'
import {
  AclOperation,
  type AclOperationName,
  AclResource,
  type AclResourceName,
  CLUSTER_NAME,
} from '../../../src/metadata/authorizer.ts'
import { MetadataApi } from '../../../src/protocol/messages/03-metadata.ts'
import { CreateTopicsApi } from '../../../src/protocol/messages/19-create-topics.ts'
import { InitProducerIdApi } from '../../../src/protocol/messages/22-init-producer-id.ts'
import { DescribeAclsApi } from '../../../src/protocol/messages/29-describe-acls.ts'
import { CreateAclsApi, type CreateAclsRequestInput } from '../../../src/protocol/messages/30-create-acls.ts'
import { eventually } from '../../eventually.ts'
import type { AccessPeer } from './logged-in.ts'

/** `admin` is a super user; `bob` is mentioned in no ACL. */
export const USERS = ['bob', 'alice', 'carol', 'erin', 'dave', 'admin'] as const
export type User = (typeof USERS)[number]

/** A name per kind of access that alice has. */
export const TOPICS = [
  'read',
  'write',
  'describe',
  'delete',
  'alter',
  'see-configs',
  'set-configs',
  'hidden',
  'team.one',
  'denied',
  'everybody',
  'elsewhere',
] as const

/** Names that requests use though there is no such topic. */
export const ABSENT = ['absent', 'team.absent', 'not a name'] as const

type Creation = CreateAclsRequestInput['creations'][number]
type Grant = readonly [AclResourceName, string, AclOperationName | 'ALL']

const entry = ([resource, name, operation]: Grant, changes: Partial<Creation>): Creation => ({
  resourceType: AclResource[resource],
  resourceName: name,
  resourcePatternType: AclPattern.LITERAL,
  principal: 'User:alice',
  host: '*',
  operation: operation === 'ALL' ? ALL_OPERATIONS : AclOperation[operation],
  permissionType: AclPermission.ALLOW,
  ...changes,
})

const grants = (user: User, ...list: Grant[]): Creation[] => list.map(one => entry(one, { principal: `User:${user}` }))
const prefixed = { resourcePatternType: AclPattern.PREFIXED }
const deny = { permissionType: AclPermission.DENY }

const acls: readonly Creation[] = [
  ...grants(
    'alice',
    ['TOPIC', 'read', 'READ'],
    ['TOPIC', 'write', 'WRITE'],
    ['TOPIC', 'describe', 'DESCRIBE'],
    ['TOPIC', 'delete', 'DELETE'],
    ['TOPIC', 'alter', 'ALTER'],
    ['TOPIC', 'see-configs', 'DESCRIBE_CONFIGS'],
    ['TOPIC', 'set-configs', 'ALTER_CONFIGS'],
    ['TOPIC', 'denied', 'ALL'],
    ['TOPIC', 'new-one', 'CREATE'],
    ['GROUP', 'read', 'READ'],
    ['GROUP', 'describe', 'DESCRIBE'],
    ['GROUP', 'delete', 'DELETE'],
    ['GROUP', 'see-configs', 'DESCRIBE_CONFIGS'],
    ['GROUP', 'set-configs', 'ALTER_CONFIGS'],
    ['TRANSACTIONAL_ID', 'write', 'WRITE'],
    ['TRANSACTIONAL_ID', 'describe', 'DESCRIBE'],
  ),
  entry(['TOPIC', 'team.', 'ALL'], prefixed),
  entry(['GROUP', 'team.', 'ALL'], prefixed),
  entry(['TRANSACTIONAL_ID', 'team.', 'ALL'], prefixed),
  entry(['TOPIC', 'denied', 'READ'], deny),
  entry(['TOPIC', 'denied', 'DESCRIBE'], { ...deny, principal: 'User:*' }),
  entry(['TOPIC', 'elsewhere', 'ALL'], { host: '10.9.8.7' }),
  entry(['TOPIC', 'everybody', 'READ'], { principal: 'User:*' }),
  ...grants(
    'carol',
    ['CLUSTER', CLUSTER_NAME, 'DESCRIBE'],
    ['CLUSTER', CLUSTER_NAME, 'CREATE'],
    ['CLUSTER', CLUSTER_NAME, 'DESCRIBE_CONFIGS'],
  ),
  ...grants(
    'dave',
    ['CLUSTER', CLUSTER_NAME, 'ALTER'],
    ['CLUSTER', CLUSTER_NAME, 'ALTER_CONFIGS'],
    ['CLUSTER', CLUSTER_NAME, 'DELETE'],
    ['CLUSTER', CLUSTER_NAME, 'CLUSTER_ACTION'],
    ['CLUSTER', CLUSTER_NAME, 'IDEMPOTENT_WRITE'],
  ),
  ...grants('erin', ['TOPIC', '*', 'ALL'], ['GROUP', '*', 'ALL'], ['TRANSACTIONAL_ID', '*', 'ALL']),
  entry(['TOPIC', 'team.', 'WRITE'], { ...prefixed, ...deny, principal: 'User:erin' }),
]

/** Creates topics and ACLs, and waits until the node's broker knows them. */
export async function setScene(peer: AccessPeer): Promise<void> {
  const topics = TOPICS.map(name => ({ name, numPartitions: 1, replicationFactor: 1, assignments: [], configs: [] }))
  await eventually(async () => {
    const created = await peer.askAs('admin', { api: CreateTopicsApi, request: { topics }, version: 7 })
    if (created === 'closed') throw new Error('CreateTopics: closed')
    for (const { name, errorCode } of created.topics) if (errorCode !== 36) strictEqual(errorCode, 0, name)
  })
  await eventually(async () => {
    const metadata = await peer.askAs('admin', { api: MetadataApi, request: { topics: null }, version: 12 })
    if (metadata === 'closed') throw new Error('Metadata: closed')
    for (const { name, topicId, partitions } of metadata.topics) {
      if (partitions.some(({ leaderId }) => leaderId < 0)) throw new Error(`${name} has no leader`)
      if (name !== null) peer.topicIds.set(name, topicId)
    }
    for (const name of TOPICS) if (!peer.topicIds.has(name)) throw new Error(`there is no ${name} yet`)
  })
  await eventually(async () => {
    const request = { transactionalId: null, transactionTimeoutMs: 1000 }
    const given = await peer.askAs('admin', { api: InitProducerIdApi, request, version: 5 })
    strictEqual(given !== 'closed' && given.errorCode, 0)
  })
  await addAcls(peer, acls)
}

/** Creates the entries and waits until all of them are in force. */
export async function addAcls(peer: AccessPeer, creations: readonly Creation[]): Promise<void> {
  const before = await countAcls(peer)
  const created = await peer.askAs('admin', { api: CreateAclsApi, request: { creations: [...creations] }, version: 3 })
  if (created === 'closed') throw new Error('CreateAcls: closed')
  for (const { errorCode, errorMessage } of created.results) strictEqual(errorCode, 0, errorMessage ?? '')
  await eventually(async () => strictEqual(await countAcls(peer), before + creations.length))
}

const EVERY_ACL = {
  resourceTypeFilter: ANY,
  resourceNameFilter: null,
  patternTypeFilter: ANY,
  principalFilter: null,
  hostFilter: null,
  operation: ANY,
  permissionType: ANY,
}

export async function countAcls(peer: AccessPeer): Promise<number> {
  const described = await peer.askAs('admin', { api: DescribeAclsApi, request: EVERY_ACL, version: 3 })
  if (described === 'closed') throw new Error('DescribeAcls: closed')
  return described.resources.reduce((sum, { acls: entries }) => sum + entries.length, 0)
}

/** Properties of a node that asks for logins and judges by ACLs. */
export function securedProperties(): Record<string, string> {
  const users = USERS.map(user => `user_${user}="${user}"`).join(' ')
  const login = `org.apache.kafka.common.security.plain.PlainLoginModule required username="admin" password="admin" ${users};`
  return {
    'listener.security.protocol.map': 'PLAINTEXT:SASL_PLAINTEXT,CONTROLLER:PLAINTEXT',
    'sasl.enabled.mechanisms': 'PLAIN',
    'sasl.mechanism.inter.broker.protocol': 'PLAIN',
    'listener.name.plaintext.plain.sasl.jaas.config': login,
    'authorizer.class.name': 'org.apache.kafka.metadata.authorizer.StandardAuthorizer',
    'super.users': 'User:admin;User:ANONYMOUS',
    'offsets.topic.num.partitions': '4',
    'transaction.state.log.num.partitions': '4',
  }
}
