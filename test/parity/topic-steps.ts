// Topics that go and come back between two cases, each step waited for: a broker of Kafka hears of them after the answer.
import { strictEqual } from 'node:assert/strict'
import { ErrorCode } from '../../src/protocol/errors.ts'
import { ListOffsetsApi } from '../../src/protocol/messages/02-list-offsets.ts'
import { MetadataApi } from '../../src/protocol/messages/03-metadata.ts'
import { CreateTopicsApi } from '../../src/protocol/messages/19-create-topics.ts'
import { DeleteTopicsApi } from '../../src/protocol/messages/20-delete-topics.ts'
import { eventually } from '../eventually.ts'
import { everythingIsInForce } from './in-force.ts'
import type { ParityCase } from './parity-case.ts'
import { ask, type Peer } from './raw-exchange.ts'

const LATEST = -1n

/** Resolves when the broker knows the topic, or does not; `peer.topicIds` keeps the id that it had at first. */
const waitFor = (peer: Peer, topic: string, errorCode: number): Promise<void> =>
  eventually(async () => {
    const answer = await ask(peer, { api: MetadataApi, request: { topics: [{ name: topic }] }, version: 12 })
    if (typeof answer === 'string') throw new Error(`Metadata: ${answer}`)
    strictEqual(answer.topics[0]?.errorCode, errorCode)
  })

/** Resolves when the broker knows the topic, and serves it: Kafka tells of partitions before it has opened them. */
export async function topicIsReady(peer: Peer, topic: string): Promise<void> {
  await waitFor(peer, topic, ErrorCode.NONE)
  await areServed(peer, [topic])
}

/** Resolves when partition 0 of each topic answers. */
export const areServed = (peer: Peer, names: readonly string[]): Promise<void> =>
  eventually(async () => {
    const topics = names.map(name => ({ name, partitions: [{ partitionIndex: 0, timestamp: LATEST }] }))
    const answer = await ask(peer, { api: ListOffsetsApi, request: { replicaId: -1, topics }, version: 7 })
    if (typeof answer === 'string') throw new Error(`ListOffsets: ${answer}`)
    for (const { name, partitions } of answer.topics) strictEqual(partitions[0]?.errorCode, ErrorCode.NONE, name)
  })

export const topicIsDeleted = (topic: string): ParityCase => ({
  name: `${topic} is deleted`,
  async ask(peer) {
    await ask(peer, { api: DeleteTopicsApi, request: { topicNames: [topic], timeoutMs: 30_000 }, version: 4 })
    await waitFor(peer, topic, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    // Until then it is not told of any more, and still read from.
    await everythingIsInForce(peer)
    return 'deleted'
  },
})

export const topicIsCreated = (topic: string): ParityCase => ({
  name: `${topic} is created`,
  async ask(peer) {
    const plan = { name: topic, numPartitions: 1, replicationFactor: 1, assignments: [], configs: [] }
    await ask(peer, { api: CreateTopicsApi, request: { topics: [plan] }, version: 5 })
    await topicIsReady(peer, topic)
    return 'created'
  },
})
