// What the pictures of the operator's page show: two nodes, one the source of the other, with mirrors, groups, ACLs and faults of every kind.
import { Kafka, logLevel, Partitioners } from 'kafkajs'
import { patientKafkaJs } from '../../test/clients/kafkajs.ts'
import { eventually } from '../../test/eventually.ts'
import type { LockstepNode } from '../../test/lockstep-process.ts'
import { createUnreachableLink, type PageWorld, startPageWorld, TOPICS, write } from '../../test/page/page-world.ts'
import { MirrorLink } from '../../test/scenarios/mirror-link.ts'

/** Topics that get no mirror before a picture makes one. */
const NOT_MIRRORED = ['shipping.events']
const GROUPS: Readonly<Record<string, string>> = {
  'billing-service': 'orders',
  'fraud-detection': 'payments',
  'web-analytics': 'clicks.web',
}

const CONFLICT = 'reporting'

export interface Scene extends PageWorld {
  readonly close: () => Promise<void>
}

/** Goes on writing until it is closed. */
export async function startScene(): Promise<Scene> {
  const world = await startPageWorld(
    Object.keys(TOPICS).filter(topic => !NOT_MIRRORED.includes(topic)),
    {
      'authorizer.class.name': 'org.apache.kafka.metadata.authorizer.StandardAuthorizer',
      'super.users': 'User:ANONYMOUS',
    },
  )
  try {
    await createUnreachableLink(world.node, 'old-site')
    await commitGroups(world)
    await world.link.alter({
      'acl.sync.enable': 'true',
      'acl.filters':
        '{"aclFilters":[{"resourceFilter":{"resourceType":"any","patternType":"any"},"accessFilter":{"operation":"any","permissionType":"any"}}]}',
    })
    await createAcls(world)
    await world.link.must('pause', ['audit-log'])
    await world.link.must('failover', ['customer-profiles'])
    await world.source.rest.call('DELETE', '/topics/inventory.stock-levels')
    await pairUp(world)
  } catch (error) {
    await world.close()
    throw error
  }
  const writing = setInterval(() => {
    for (const topic of ['orders', 'payments', 'clicks.web'])
      void write(world.producer, topic, 40 + Math.round(Math.random() * 60)).catch(() => {})
  }, 700)
  return {
    ...world,
    close: () => {
      clearInterval(writing)
      return world.close()
    },
  }
}

/** A bidirectional link of both; a topic that was failed over at the other end and may be restored here. */
async function pairUp({ source, node }: PageWorld): Promise<void> {
  const configs = { 'metadata.max.age.ms': '1000' }
  const remote = ({ bootstrap, clusterId }: LockstepNode) => ({ bootstrap, clusterId, configs })
  // A node that has just started publishes its status a moment later.
  const there = await eventually(() => MirrorLink.createSide(source, 'twin', remote(node)))
  const here = await MirrorLink.createSide(node, 'twin', remote(source))
  for (const topic of ['invoices', 'returns'])
    await node.rest.call('POST', '/topics', { topic_name: topic, partitions_count: 2 })
  await source.rest.call('POST', '/topics', { topic_name: 'stock', partitions_count: 2 })
  const producer = patientKafkaJs(node.bootstrap).producer({ createPartitioner: Partitioners.DefaultPartitioner })
  await producer.connect()
  for (const topic of ['invoices', 'returns']) await write(producer, topic, 100)
  for (const topic of ['invoices', 'returns']) await there.mirror(topic)
  await here.mirror('stock')
  for (const topic of ['invoices', 'returns'])
    await eventually(async () => {
      const { mirror_lags: lags } = await there.describe(topic)
      if (lags.some(({ lag, log_end_offset: end }) => lag !== 0 || end === 0)) throw new Error('not in step')
    })
  await there.failOver(['invoices', 'returns'])
  for (const topic of ['invoices', 'returns']) await write(producer, topic, 37)
  await producer.disconnect()
}

async function commitGroups({ source, node }: PageWorld): Promise<void> {
  const adminOf = async ({ bootstrap }: LockstepNode) => {
    const admin = new Kafka({ brokers: [bootstrap], logLevel: logLevel.NOTHING }).admin()
    await admin.connect()
    return admin
  }
  const [here, there] = [await adminOf(node), await adminOf(source)]
  // Somebody has used it here: the link leaves it alone.
  await here.setOffsets({ groupId: CONFLICT, topic: 'payments', partitions: [{ partition: 0, offset: '3' }] })
  for (const [groupId, topic] of [...Object.entries(GROUPS), [CONFLICT, 'payments'] as const])
    await there.setOffsets({ groupId, topic, partitions: [0, 1].map(partition => ({ partition, offset: '12' })) })
  await Promise.all([here.disconnect(), there.disconnect()])
}

async function createAcls({ source }: PageWorld): Promise<void> {
  const entry = { host: '*', permission: 'ALLOW' }
  const read = { ...entry, operation: 'READ', pattern_type: 'LITERAL' }
  await source.rest.call('POST', '/acls:batch', {
    data: [
      { ...read, resource_type: 'TOPIC', resource_name: 'orders', principal: 'User:billing' },
      { ...read, resource_type: 'GROUP', resource_name: 'billing-service', principal: 'User:billing' },
      {
        ...read,
        resource_type: 'TOPIC',
        resource_name: 'clicks.',
        pattern_type: 'PREFIXED',
        principal: 'User:analytics',
      },
      { ...read, resource_type: 'TOPIC', resource_name: 'payments', principal: 'User:fraud' },
      { ...read, operation: 'WRITE', resource_type: 'TOPIC', resource_name: 'audit-log', principal: 'User:audit' },
    ],
  })
}
