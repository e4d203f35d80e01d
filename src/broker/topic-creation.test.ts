/** Topics that clients may not create: the write gate is asked, by name, about those that do not exist. */
import { deepStrictEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { errorName } from '../protocol/errors.ts'
import { MetadataApi } from '../protocol/messages/03-metadata.ts'
import { CreateTopicsApi } from '../protocol/messages/19-create-topics.ts'
import type { WriteGate } from '../replica/write-gate.ts'
import { TestNode } from './fakes/test-node.ts'

test('a name for which a link makes a mirror is not free', async () => {
  const writeGate: WriteGate = {
    refusal: (_id, topic, write) =>
      topic.startsWith('mirror') && write === 'create-topic' ? { errorCode: 44, message: 'a mirror' } : undefined,
  }
  const node = await TestNode.start({ writeGate, file: new Map([['auto.create.topics.enable', 'true']]) })
  await node.createTopic('mirror-there')
  const topics = ['mirror', 'mirror-there', 'orders'].map(name => ({
    name,
    numPartitions: 1,
    replicationFactor: 1,
    assignments: [],
    configs: [],
  }))
  const created = await node.call(CreateTopicsApi, { topics })
  deepStrictEqual(
    new Map(created?.topics.map(({ name, errorCode }) => [name, errorName(errorCode)])),
    new Map([
      ['mirror-there', 'TOPIC_ALREADY_EXISTS'],
      ['orders', 'NONE'],
      ['mirror', 'POLICY_VIOLATION'],
    ]),
  )
  const asked = await node.call(MetadataApi, { topics: [{ name: 'mirror' }], allowAutoTopicCreation: true })
  deepStrictEqual(errorName(asked?.topics[0]?.errorCode ?? 0), 'UNKNOWN_TOPIC_OR_PARTITION')
  deepStrictEqual([...node.controller.image.topicIds.keys()].sort(), ['mirror-there', 'orders'])
  await node.close()
})
