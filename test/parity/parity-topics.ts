// The topics that the parity cases use; made on both nodes before the first case.
import { strictEqual } from 'node:assert/strict'
import { MetadataApi } from '../../src/protocol/messages/03-metadata.ts'
import { CreateTopicsApi } from '../../src/protocol/messages/19-create-topics.ts'
import { InitProducerIdApi } from '../../src/protocol/messages/22-init-producer-id.ts'
import { eventually } from '../eventually.ts'
import { ask, type Peer } from './raw-exchange.ts'
import { areServed } from './topic-steps.ts'

interface ParityTopic {
  readonly name: string
  readonly partitions?: number
  readonly configs?: Readonly<Record<string, string>>
}

const topics: readonly ParityTopic[] = [
  { name: 'p', partitions: 2 },
  { name: 'c', configs: { 'cleanup.policy': 'compact' } },
  { name: 'small', configs: { 'max.message.bytes': '100' } },
  { name: 'append-time', configs: { 'message.timestamp.type': 'LogAppendTime' } },
  { name: 'gzip', configs: { 'compression.type': 'gzip' } },
  { name: 'times', configs: { 'message.timestamp.before.max.ms': '1000', 'message.timestamp.after.max.ms': '1000' } },
  { name: 'gaps' },
  { name: 'idempotent' },
  { name: 'session-a' },
  { name: 'session-b' },
  { name: 'configured', configs: { 'retention.ms': '5000' } },
  { name: 'growing' },
  { name: 'tx', partitions: 3 },
  { name: 'tx2', partitions: 3 },
  { name: 'tx3', partitions: 3 },
  { name: '__consumer_offsets' },
]

/** Creates them and fills `peer.topicIds`. */
export async function createParityTopics(peer: Peer): Promise<void> {
  const request = {
    topics: topics.map(({ name, partitions = 1, configs = {} }) => ({
      name,
      numPartitions: partitions,
      replicationFactor: 1,
      assignments: [],
      configs: Object.entries(configs).map(([key, value]) => ({ name: key, value })),
    })),
  }
  const created = await ask(peer, { api: CreateTopicsApi, request: request, version: 7 })
  if (typeof created === 'string') throw new Error(`CreateTopics: ${created}`)
  for (const topic of created.topics) strictEqual(topic.errorCode, 0, `${peer.name}: ${topic.name}`)
  // Kafka answers before its broker has the partitions.
  await eventually(async () => {
    const metadata = await ask(peer, { api: MetadataApi, request: { topics: null }, version: 12 })
    if (typeof metadata === 'string') throw new Error(`Metadata: ${metadata}`)
    for (const { name, topicId, partitions } of metadata.topics) {
      if (partitions.some(({ leaderId }) => leaderId < 0)) throw new Error(`${name} has no leader`)
      if (name !== null) peer.topicIds.set(name, topicId)
    }
    strictEqual(topics.filter(({ name }) => !peer.topicIds.has(name)).length, 0)
  })
  await areServed(
    peer,
    topics.map(({ name }) => name),
  )
  // Kafka gives producer ids only once it has asked its controller for some.
  await eventually(async () => {
    const given = await ask(peer, {
      api: InitProducerIdApi,
      request: { transactionalId: null, transactionTimeoutMs: 1000 },
      version: 5,
    })
    if (typeof given === 'string') throw new Error(`InitProducerId: ${given}`)
    strictEqual(given.errorCode, 0)
  })
}
