// KafkaJS: administration, groups and transactions; run by the conformance suite of other clients.
import { type Admin, type Kafka, Partitioners } from 'kafkajs'
import { patientKafkaJs } from '../clients/kafkajs.ts'
import { eventually } from '../eventually.ts'
import type { Scenario } from './scenario.ts'
import type { Side } from './side.ts'

const kafkaOf = (side: Side): Kafka => patientKafkaJs(side.bootstrap, { clientId: 'kafkajs' })

async function withAdmin<T>(side: Side, work: (admin: Admin) => Promise<T>): Promise<T> {
  const admin = kafkaOf(side).admin()
  await admin.connect()
  try {
    return await work(admin)
  } finally {
    await admin.disconnect()
  }
}

const administration: Scenario = {
  name: 'KafkaJS administers topics, configs and ACLs',
  run: (side, seen) =>
    withAdmin(side, async admin => {
      const topic = 'js-admin'
      // It would wait for leaders, and give up where the broker has not heard of the topic yet.
      const waitForLeaders = false
      await seen.step('create', () => admin.createTopics({ waitForLeaders, topics: [{ topic, numPartitions: 2 }] }))
      await seen.step('create again', () => admin.createTopics({ waitForLeaders, topics: [{ topic }] }))
      await seen.step('grow', () => admin.createPartitions({ topicPartitions: [{ topic, count: 3 }] }))
      await seen.settles(
        'metadata',
        async () => (await admin.fetchTopicMetadata({ topics: [topic] })).topics,
        topics => topics[0]?.partitions.length === 3,
      )
      await side.write(topic, 5, { partition: 0 })
      await seen.step('offsets', async () =>
        (await admin.fetchTopicOffsets(topic)).toSorted((a, b) => a.partition - b.partition),
      )
      await seen.step('delete records', () =>
        admin.deleteTopicRecords({ topic, partitions: [{ partition: 0, offset: '2' }] }),
      )
      const resource = { type: 2, name: topic }
      const retention = [{ name: 'retention.ms', value: '123456' }]
      await seen.step('alter configs', () =>
        admin.alterConfigs({ validateOnly: false, resources: [{ ...resource, configEntries: retention }] }),
      )
      await seen.settles(
        'configs',
        async () => {
          const names = ['retention.ms', 'cleanup.policy']
          const asked = { ...resource, configNames: names }
          const { resources } = await admin.describeConfigs({ includeSynonyms: true, resources: [asked] })
          return resources.map(({ errorCode, configEntries }) => ({
            errorCode,
            configEntries: configEntries.toSorted((a, b) => a.configName.localeCompare(b.configName)),
          }))
        },
        found => JSON.stringify(found).includes('123456'),
      )
      const acl = {
        // Its enumerations of ACLs cannot be imported by name: a topic, taken literally, to read, allowed.
        resourceType: 2,
        resourceName: topic,
        resourcePatternType: 3,
        principal: 'User:alice',
        host: '*',
        operation: 3,
        permissionType: 3,
      }
      await seen.step('create acls', () => admin.createAcls({ acl: [acl] }))
      await seen.settles(
        'acls',
        async () => (await admin.describeAcls(acl)).resources,
        found => found.length > 0,
      )
      await seen.step('cluster', async () => {
        const { brokers, controller } = await admin.describeCluster()
        return { brokers: brokers.map(({ nodeId }) => nodeId), controller }
      })
      await seen.step('delete', () => admin.deleteTopics({ topics: [topic] }))
    }),
}

const groups: Scenario = {
  name: 'KafkaJS reads in groups',
  async run(side, seen) {
    await side.createTopics({ name: 'js-group', partitions: 2 })
    await side.write('js-group', 6, { partition: 0 })
    await side.write('js-group', 4, { partition: 1 })
    const read = async (count: number) => {
      const consumer = kafkaOf(side).consumer({ groupId: 'js-group', maxWaitTimeInMs: 200 })
      const values: string[] = []
      await consumer.connect()
      await consumer.subscribe({ topic: 'js-group', fromBeginning: true })
      await consumer.run({
        eachMessage: async ({ partition, message }) => {
          values.push(`${partition}@${message.offset} ${message.value}`)
        },
      })
      await eventually(
        () => {
          if (values.length < count) throw new Error(`${values.length} of ${count}`)
        },
        { timeoutMs: 90_000 },
      )
      await consumer.disconnect()
      return values.toSorted()
    }
    await seen.step('read', () => read(10))
    await side.write('js-group', 2, { partition: 1 })
    await seen.step('read on', () => read(2))
    await withAdmin(side, async admin => {
      const fetch = () => admin.fetchOffsets({ groupId: 'js-group', topics: ['js-group'] })
      await seen.step('offsets', fetch)
      await seen.step('described', async () => {
        const { groups: found } = await admin.describeGroups(['js-group', 'js-nobody'])
        return found.map(({ groupId, state, protocolType, members }) => [groupId, state, protocolType, members.length])
      })
      await seen.step('listed', async () =>
        (await admin.listGroups()).groups.filter(({ groupId }) => groupId.startsWith('js-')),
      )
      await seen.step('set offsets', () =>
        admin.setOffsets({ groupId: 'js-group', topic: 'js-group', partitions: [{ partition: 0, offset: '1' }] }),
      )
      await seen.step('reset offsets', () =>
        admin.resetOffsets({ groupId: 'js-group', topic: 'js-group', earliest: true }),
      )
      await seen.step('offsets then', fetch)
      await seen.step('delete', () => admin.deleteGroups(['js-group']))
      await seen.step('delete again', () => admin.deleteGroups(['js-group']))
    })
  },
}

const transactions: Scenario = {
  name: 'KafkaJS writes in transactions',
  async run(side, seen) {
    await side.createTopics({ name: 'js-transactions' })
    const producer = kafkaOf(side).producer({
      transactionalId: 'js-transactions',
      idempotent: true,
      maxInFlightRequests: 1,
      createPartitioner: Partitioners.DefaultPartitioner,
    })
    await producer.connect()
    const send = async (value: string, end: 'commit' | 'abort') => {
      const transaction = await producer.transaction()
      await transaction.send({ topic: 'js-transactions', messages: [{ value }] })
      const topics = [{ topic: 'js-transactions', partitions: [{ partition: 0, offset: '7' }] }]
      if (end === 'commit') await transaction.sendOffsets({ consumerGroupId: 'js-transactions', topics })
      await transaction[end]()
    }
    await seen.step('commit', () => send('committed', 'commit'))
    await seen.step('abort', () => send('aborted', 'abort'))
    await seen.step('commit again', () => send('committed too', 'commit'))
    await producer.disconnect()
    await side.ended('js-transactions')
    await seen.step('read', async () => {
      const read = { topic: 'js-transactions', isolation: 'read_committed', content: true }
      const { 0: partition } = await side.java<Record<string, { records: unknown[][] }>>('consume', read)
      return partition?.records.map(row => row[7])
    })
    await seen.settles(
      'offsets',
      () => side.groups<object>('offsets', { group: 'js-transactions' }),
      found => Object.keys(found).length > 0,
    )
  },
}

export const kafkaJsScenarios: readonly Scenario[] = [administration, groups, transactions]
