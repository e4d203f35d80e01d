// @platformatic/kafka: administration, groups and transactions; run by the conformance suite of other clients.
import {
  Admin,
  Consumer,
  MessagesStreamModes,
  ProduceAcks,
  Producer,
  stringDeserializers,
  stringSerializers,
} from '@platformatic/kafka'
import { patientPlatformatic } from '../clients/platformatic.ts'
import type { Scenario } from './scenario.ts'
import type { Side } from './side.ts'

const options = (side: Side) => patientPlatformatic(side.bootstrap, 'platformatic')

const administration: Scenario = {
  name: '@platformatic/kafka administers topics and groups',
  async run(side, seen) {
    const admin = new Admin(options(side))
    const topic = 'plt-admin'
    await seen.step('create', async () =>
      (await admin.createTopics({ topics: [topic], partitions: 2, replicas: 1 })).map(({ name, partitions }) => [
        name,
        partitions,
      ]),
    )
    await seen.step('create again', () => admin.createTopics({ topics: [topic], partitions: 2, replicas: 1 }))
    await seen.settles(
      'list',
      async () => (await admin.listTopics()).filter(name => name.startsWith('plt-')),
      found => found.includes(topic),
    )
    await side.write(topic, 5, { partition: 0 })
    const offsets = () =>
      admin.listOffsets({ topics: [{ name: topic, partitions: [{ partitionIndex: 0, timestamp: -1n }] }] })
    await seen.step('offsets', async () =>
      (await offsets()).map(({ partitions }) => partitions.map(({ offset }) => offset)),
    )
    const group = { groupId: 'plt-admin', topics: [{ name: topic, partitionOffsets: [{ partition: 0, offset: 3n }] }] }
    await seen.step('alter offsets', () => admin.alterConsumerGroupOffsets(group))
    await seen.step('committed', () => admin.listConsumerGroupOffsets({ groups: ['plt-admin'] }))
    await seen.step('groups', async () =>
      [...(await admin.listGroups()).values()].filter(({ id }) => id.startsWith('plt-')),
    )
    await seen.step('describe', async () => {
      const found = await admin.describeGroups({ groups: ['plt-admin'] })
      return [...found.values()].map(({ id, state, protocolType }) => [id, state, protocolType])
    })
    await seen.step('delete group', () => admin.deleteGroups({ groups: ['plt-admin'] }))
    await seen.step('delete group again', () => admin.deleteGroups({ groups: ['plt-admin'] }))
    await seen.step('delete', () => admin.deleteTopics({ topics: [topic] }))
    await admin.close()
    // It repeats a question about a topic that is not there.
    const impatient = new Admin({ ...options(side), retries: 2 })
    await seen.step('delete again', () => impatient.deleteTopics({ topics: ['plt-nobody'] }))
    await impatient.close()
  },
}

const groups: Scenario = {
  name: '@platformatic/kafka writes, and reads in groups',
  async run(side, seen) {
    await side.createTopics({ name: 'plt-group', partitions: 2 })
    const producer = new Producer({ ...options(side), serializers: stringSerializers })
    const messages = Array.from({ length: 6 }, (_, index) => ({
      topic: 'plt-group',
      partition: index % 2,
      key: `k${index}`,
      value: `v${index}`,
    }))
    await seen.step('write', async () => {
      const { offsets } = await producer.send({ messages, acks: ProduceAcks.ALL, idempotent: true })
      return offsets?.map(({ partition, offset }) => [partition, offset]).toSorted()
    })
    await producer.close()
    const read = async (count: number) => {
      const consumer = new Consumer({
        ...options(side),
        groupId: 'plt-group',
        deserializers: stringDeserializers,
        sessionTimeout: 30_000,
        heartbeatInterval: 500,
        maxWaitTime: 100,
      })
      const mode = MessagesStreamModes.COMMITTED
      const stream = await consumer.consume({
        topics: ['plt-group'],
        mode,
        fallbackMode: 'earliest',
        autocommit: false,
      })
      const values: string[] = []
      for await (const message of stream) {
        values.push(`${message.partition}@${message.offset} ${message.value}`)
        await message.commit()
        if (values.length === count) break
      }
      await consumer.close(true)
      return values.toSorted()
    }
    await seen.step('read', () => read(6))
    await side.write('plt-group', 2, { partition: 1 })
    await seen.step('read on', () => read(2))
    await seen.step('offsets', () => side.groups('offsets', { group: 'plt-group' }))
    await seen.step('described', () => side.groups('describe', { groups: ['plt-group'] }))
  },
}

const transactions: Scenario = {
  name: '@platformatic/kafka writes in transactions',
  async run(side, seen) {
    await side.createTopics({ name: 'plt-transactions' })
    const producer = new Producer({
      ...options(side),
      serializers: stringSerializers,
      idempotent: true,
      transactionalId: 'plt-transactions',
    })
    const send = async (value: string, end: 'commit' | 'abort') => {
      const transaction = await producer.beginTransaction()
      await transaction.send({ messages: [{ topic: 'plt-transactions', partition: 0, key: 'k', value }] })
      await transaction[end]()
    }
    await seen.step('commit', () => send('committed', 'commit'))
    await seen.step('abort', () => send('aborted', 'abort'))
    await seen.step('commit again', () => send('committed too', 'commit'))
    await producer.close()
    await side.ended('plt-transactions')
    await seen.step('read', async () => {
      const read = { topic: 'plt-transactions', isolation: 'read_committed', content: true }
      const { 0: partition } = await side.java<Record<string, { records: unknown[][] }>>('consume', read)
      return partition?.records.map(row => row[7])
    })
  },
}

export const platformaticScenarios: readonly Scenario[] = [administration, groups, transactions]
