/** CreateTopics, DeleteTopics, Metadata and DescribeTopicPartitions over the wire format, in several versions. */
import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { randomUuid, ZERO_UUID } from '../../core/uuid.ts'
import { ErrorCode, errorName } from '../../protocol/errors.ts'
import { MetadataApi } from '../../protocol/messages/03-metadata.ts'
import { CreateTopicsApi } from '../../protocol/messages/19-create-topics.ts'
import { DeleteTopicsApi } from '../../protocol/messages/20-delete-topics.ts'
import {
  DescribeTopicPartitionsApi,
  type DescribeTopicPartitionsResponse,
} from '../../protocol/messages/75-describe-topic-partitions.ts'
import type { WriteGate } from '../../replica/write-gate.ts'
import { TestNode, testClient } from '../fakes/test-node.ts'

const allVersions = ({ min, max }: { min: number; max: number }) =>
  Array.from({ length: max - min + 1 }, (_, i) => min + i)

test('Metadata of all topics, of some, by id and of none', async () => {
  const node = await TestNode.start()
  const { topicId } = await node.createTopic('orders', { partitions: 2 })
  await node.createTopic('__consumer_offsets')
  for (const version of allVersions(MetadataApi.request.versions)) {
    const all = await node.call(MetadataApi, { topics: version === 0 ? [] : null }, { version })
    deepStrictEqual(
      all?.topics.map(topic => [topic.name, topic.errorCode, topic.partitions.length]),
      [
        ['__consumer_offsets', 0, 1],
        ['orders', 0, 2],
      ],
      `version ${version}`,
    )
    deepStrictEqual(
      all?.brokers.map(({ nodeId, host, port }) => [nodeId, host, port]),
      [[1, '127.0.0.1', 9092]],
    )
    const named = await node.call(MetadataApi, { topics: [{ name: 'orders' }, { name: 'none' }] }, { version })
    deepStrictEqual(
      named?.topics.map(topic => [topic.name, errorName(topic.errorCode)]),
      [
        ['orders', 'NONE'],
        ['none', 'UNKNOWN_TOPIC_OR_PARTITION'],
      ],
    )
  }
  const none = await node.call(MetadataApi, { topics: [] }, { version: 1 })
  deepStrictEqual([none?.topics, none?.controllerId], [[], 1])
  const byId = await node.call(MetadataApi, {
    topics: [
      { name: null, topicId },
      { name: null, topicId: randomUuid() },
    ],
  })
  deepStrictEqual(
    byId?.topics.map(topic => [topic.name, errorName(topic.errorCode)]),
    [
      ['orders', 'NONE'],
      [null, 'UNKNOWN_TOPIC_ID'],
    ],
  )
  strictEqual(byId?.clusterId, node.controller.image.clusterId)
  await node.close()
})

test('Metadata shows the partition as it is led', async () => {
  const node = await TestNode.start()
  await node.createTopic('orders')
  const answer = await node.call(MetadataApi, {
    topics: [{ name: 'orders' }],
    includeTopicAuthorizedOperations: true,
  })
  const topic = answer?.topics[0]
  deepStrictEqual(
    { ...topic?.partitions[0] },
    {
      errorCode: 0,
      partitionIndex: 0,
      leaderId: 1,
      leaderEpoch: 0,
      replicaNodes: [1],
      isrNodes: [1],
      offlineReplicas: [],
    },
  )
  strictEqual(topic?.topicAuthorizedOperations, 3576)
  await node.close()
})

test('a client of a listener that the leader lacks is told so', async () => {
  const node = await TestNode.start()
  await node.createTopic('orders')
  const client = { ...testClient(), listener: 'INTERNAL' }
  const error = async (version: number) => {
    const answer = await node.call(MetadataApi, { topics: [{ name: 'orders' }] }, { version, client })
    const partition = answer?.topics[0]?.partitions[0]
    return [errorName(partition?.errorCode ?? 0), partition?.leaderId, answer?.brokers.length]
  }
  deepStrictEqual(await error(5), ['LEADER_NOT_AVAILABLE', -1, 0])
  deepStrictEqual(await error(6), ['LISTENER_NOT_FOUND', -1, 0])
  await node.close()
})

test('topic ids in Metadata before version 12 fail the request', async () => {
  const node = await TestNode.start()
  const request = { topics: [{ name: 'orders', topicId: randomUuid() }] }
  const answer = await node.call(MetadataApi, request, { version: 11 })
  strictEqual(answer?.topics[0]?.errorCode, ErrorCode.INVALID_REQUEST)
  await node.close()
})

test('topics are created on first use only where the broker and the client allow it', async () => {
  const ask = (node: TestNode, name: string, allowAutoTopicCreation: boolean) =>
    node.call(MetadataApi, { topics: [{ name }], allowAutoTopicCreation })
  const strict = await TestNode.start()
  strictEqual((await ask(strict, 'orders', true))?.topics[0]?.errorCode, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
  await strict.close()
  const file = new Map([
    ['auto.create.topics.enable', 'true'],
    ['num.partitions', '3'],
  ])
  const generous = await TestNode.start({ file })
  strictEqual((await ask(generous, 'orders', false))?.topics[0]?.errorCode, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
  strictEqual((await ask(generous, 'not a name', true))?.topics[0]?.errorCode, ErrorCode.INVALID_TOPIC_EXCEPTION)
  const created = await ask(generous, 'orders', true)
  deepStrictEqual([created?.topics[0]?.errorCode, created?.topics[0]?.partitions.length], [0, 3])
  await generous.close()
})

test('the topics of coordinators are created as those create them, also when Metadata asks first', async () => {
  const file = new Map([
    ['auto.create.topics.enable', 'true'],
    ['offsets.topic.num.partitions', '7'],
  ])
  const node = await TestNode.start({ file })
  const topics = [{ name: '__consumer_offsets' }, { name: 'orders' }]
  const answer = await node.call(MetadataApi, { topics, allowAutoTopicCreation: true })
  deepStrictEqual(
    answer?.topics.map(({ name, errorCode, partitions }) => [name, errorCode, partitions.length]),
    [
      ['__consumer_offsets', 0, 7],
      ['orders', 0, 1],
    ],
  )
  deepStrictEqual(node.partition('__consumer_offsets').settings.compacts, true)
  await node.close()
})

test('CreateTopics creates, validates and refuses topic by topic', async () => {
  const node = await TestNode.start()
  const topic = (name: string, configs: { name: string; value: string }[] = []) => ({
    name,
    numPartitions: 2,
    replicationFactor: 1,
    assignments: [],
    configs,
  })
  for (const version of allVersions(CreateTopicsApi.request.versions)) {
    const name = `orders-${version}`
    const dry = await node.call(CreateTopicsApi, { topics: [topic(name)], validateOnly: true }, { version })
    strictEqual(dry?.topics[0]?.errorCode, 0)
    strictEqual(node.controller.image.topicIds.get(name), undefined)
    const answer = await node.call(
      CreateTopicsApi,
      { topics: [topic(name, [{ name: 'retention.ms', value: '1000' }])] },
      { version },
    )
    const created = answer?.topics[0]
    strictEqual(created?.errorCode, 0)
    strictEqual(node.partition(name, 1).settings.retentionMs, 1000)
    if (version >= 5) {
      deepStrictEqual([created?.numPartitions, created?.replicationFactor], [2, 1])
      const config = created?.configs?.find(found => found.name === 'retention.ms')
      deepStrictEqual([config?.value, config?.configSource], ['1000', 1])
    }
    if (version >= 7) strictEqual(created?.topicId, node.controller.image.topicIds.get(name))
  }
  const answer = await node.call(CreateTopicsApi, {
    topics: [topic('twice'), topic('twice'), topic('__cluster_metadata'), topic('orders-7'), topic('fine')],
  })
  deepStrictEqual(
    new Map(answer?.topics.map(({ name, errorCode }) => [name, errorName(errorCode)])),
    new Map([
      ['orders-7', 'TOPIC_ALREADY_EXISTS'],
      ['fine', 'NONE'],
      ['twice', 'INVALID_REQUEST'],
      ['__cluster_metadata', 'INVALID_REQUEST'],
    ]),
  )
  await node.close()
})

test('DeleteTopics by name and by id; what waits on the topic learns it', async () => {
  const node = await TestNode.start()
  const { topicId } = await node.createTopic('orders')
  await node.createTopic('clicks')
  const partition = node.partition('orders')
  const byName = await node.call(DeleteTopicsApi, { topicNames: ['clicks', 'none'], timeoutMs: 1 }, { version: 4 })
  deepStrictEqual(
    new Map(byName?.responses.map(({ name, errorCode }) => [name, errorName(errorCode)])),
    new Map([
      ['clicks', 'NONE'],
      ['none', 'UNKNOWN_TOPIC_OR_PARTITION'],
    ]),
  )
  const odd = await node.call(DeleteTopicsApi, {
    timeoutMs: 1,
    topics: [
      { name: null, topicId: ZERO_UUID },
      { name: 'orders', topicId },
      { name: null, topicId: randomUuid() },
    ],
  })
  deepStrictEqual(odd?.responses.map(({ errorCode }) => errorName(errorCode)).sort(), [
    'INVALID_REQUEST',
    'INVALID_REQUEST',
    'UNKNOWN_TOPIC_ID',
  ])
  const byId = await node.call(DeleteTopicsApi, { timeoutMs: 1, topics: [{ name: null, topicId }] })
  deepStrictEqual([byId?.responses[0]?.errorCode, byId?.responses[0]?.name], [0, 'orders'])
  strictEqual(partition.unavailable?.errorCode, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
  strictEqual([...node.replicas.partitions].length, 0)
  await node.close()
})

test('DeleteTopics asks the write gate, by name and by id', async () => {
  const writeGate: WriteGate = {
    refusal: (_id, topic, write) =>
      topic === 'kept' && write === 'delete-topic' ? { errorCode: 44, message: 'kept' } : undefined,
  }
  const node = await TestNode.start({ writeGate })
  const { topicId } = await node.createTopic('kept')
  const byName = await node.call(DeleteTopicsApi, { topicNames: ['kept'], timeoutMs: 1 }, { version: 5 })
  strictEqual(byName?.responses[0]?.errorCode, 44)
  const byId = await node.call(DeleteTopicsApi, { timeoutMs: 1, topics: [{ name: null, topicId }] })
  strictEqual(byId?.responses[0]?.errorMessage, 'kept')
  ok(node.controller.image.topics.has(topicId))
  await node.close()
})

test('DeleteTopics is refused where the broker forbids it', async () => {
  const node = await TestNode.start({ file: new Map([['delete.topic.enable', 'false']]) })
  await node.createTopic('orders')
  const ask = async (version: number) => {
    const answer = await node.call(DeleteTopicsApi, { topicNames: ['orders'], timeoutMs: 1 }, { version })
    return errorName(answer?.responses[0]?.errorCode ?? 0)
  }
  deepStrictEqual([await ask(1), await ask(3)], ['INVALID_REQUEST', 'TOPIC_DELETION_DISABLED'])
  await node.close()
})

test('a topic that is deleted and created anew starts empty under another id', async () => {
  const node = await TestNode.start()
  const first = await node.createTopic('orders')
  await node.controller.deleteTopics([{ name: 'orders', topicId: ZERO_UUID }])
  const second = await node.createTopic('orders')
  ok(first.topicId !== second.topicId)
  strictEqual(node.partition('orders').topicId, second.topicId)
  strictEqual(node.partition('orders').log.logEndOffset, 0)
  await node.close()
})

test('DescribeTopicPartitions pages through the partitions', async () => {
  const node = await TestNode.start()
  await node.createTopic('b', { partitions: 3 })
  await node.createTopic('a', { partitions: 2 })
  const seen: string[] = []
  let cursor: { topicName: string; partitionIndex: number } | null = null
  let pages = 0
  do {
    const answer: DescribeTopicPartitionsResponse | undefined = await node.call(DescribeTopicPartitionsApi, {
      topics: [],
      responsePartitionLimit: 2,
      cursor,
    })
    for (const { name, partitions } of answer?.topics ?? [])
      for (const { partitionIndex } of partitions) seen.push(`${name}-${partitionIndex}`)
    cursor = answer?.nextCursor ?? null
    pages++
  } while (cursor)
  deepStrictEqual([seen, pages], [['a-0', 'a-1', 'b-0', 'b-1', 'b-2'], 3])
  const named = await node.call(DescribeTopicPartitionsApi, { topics: [{ name: 'none' }, { name: 'a' }] })
  deepStrictEqual(
    named?.topics.map(({ name, errorCode }) => [name, errorName(errorCode)]),
    [
      ['a', 'NONE'],
      ['none', 'UNKNOWN_TOPIC_OR_PARTITION'],
    ],
  )
  await node.close()
})
