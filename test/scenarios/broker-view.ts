// What one broker of a real cluster tells about a topic, epochs included, which Kafka's clients keep to themselves.
import { systemClock } from '../../src/core/clock.ts'
import { BrokerConnection } from '../../src/network/broker-connection.ts'
import { MetadataApi } from '../../src/protocol/messages/03-metadata.ts'

/** A partition as its cluster tells it. */
export interface PartitionView {
  readonly leader: number
  readonly leaderEpoch: number
  readonly replicas: readonly number[]
  readonly isr: readonly number[]
}

const TIMEOUT_MS = 30_000

/** Partitions of a topic by index, as the broker at `address` (`host:port`) has them. */
export async function partitionsAt(address: string, topic: string): Promise<PartitionView[]> {
  const [host = '', port] = address.split(':')
  const connection = await BrokerConnection.connect({
    host,
    port: Number(port),
    clientId: 'view',
    connectTimeoutMs: TIMEOUT_MS,
    requestTimeoutMs: TIMEOUT_MS,
    clock: systemClock,
  })
  try {
    const { response } = await connection.send(MetadataApi, {
      topics: [{ name: topic }],
      allowAutoTopicCreation: false,
      includeTopicAuthorizedOperations: false,
    })
    return (response.topics[0]?.partitions ?? [])
      .toSorted((a, b) => a.partitionIndex - b.partitionIndex)
      .map(({ leaderId, leaderEpoch, replicaNodes, isrNodes }) => ({
        leader: leaderId,
        leaderEpoch,
        replicas: replicaNodes,
        isr: isrNodes,
      }))
  } finally {
    connection.close()
  }
}
