/** Questions to Kafka brokers about the demo's topic: making it, who leads it, who is in sync, how far each broker's replicas are. */
import type { Clock } from '../../src/core/clock.ts'
import { BrokerConnection } from '../../src/network/broker-connection.ts'
import { ErrorCode, errorName } from '../../src/protocol/errors.ts'
import { ListOffsetsApi } from '../../src/protocol/messages/02-list-offsets.ts'
import { MetadataApi } from '../../src/protocol/messages/03-metadata.ts'
import { CreateTopicsApi } from '../../src/protocol/messages/19-create-topics.ts'
import { eventually } from '../../test/eventually.ts'

const LATEST = -1n
/** Kafka's id for tools: whoever is asked answers, leader or not, with what it would let consumers read. */
const ANY_REPLICA = -2

export interface PartitionPlace {
  readonly partition: number
  readonly leaderId: number
  readonly isr: readonly number[]
}

/** With one replica. Resolves when every partition is led. */
export async function createTopic(
  address: string,
  of: { readonly topic: string; readonly partitions: number; readonly clock: Clock },
): Promise<void> {
  const { topic: name, partitions, clock } = of
  await withBroker(address, clock, async broker => {
    const topic = { name, numPartitions: partitions, replicationFactor: 1, assignments: [], configs: [] }
    const { response } = await broker.send(CreateTopicsApi, { topics: [topic] })
    const { errorCode = ErrorCode.UNKNOWN_SERVER_ERROR } = response.topics[0] ?? {}
    if (errorCode !== ErrorCode.NONE) throw new Error(`the topic ${name} cannot be created: ${errorName(errorCode)}`)
    await eventually(async () => {
      const ends = await endsAt(broker, { topic: name, partitions })
      if (ends.includes(undefined)) throw new Error(`the partitions of ${name} are not led`)
    })
  })
}

/** As the broker at that address knows it. */
export function placesOf(address: string, topic: string, clock: Clock): Promise<PartitionPlace[]> {
  return withBroker(address, clock, async broker => {
    const { response } = await broker.send(MetadataApi, { topics: [{ name: topic }], allowAutoTopicCreation: false })
    const partitions = response.topics.flatMap(answer => answer.partitions)
    return partitions.map(({ partitionIndex, leaderId, isrNodes }) => ({
      partition: partitionIndex,
      leaderId,
      isr: isrNodes,
    }))
  })
}

/** Records that consumers could read from the replicas of the broker at that address; those that it cannot tell do not count. */
export async function recordsAt(
  address: string,
  of: { readonly topic: string; readonly partitions: number; readonly clock: Clock },
): Promise<number> {
  const ends = await withBroker(address, of.clock, broker => endsAt(broker, of))
  return ends.reduce((sum: number, end) => sum + (end ?? 0), 0)
}

/** undefined for those that it cannot tell. */
async function endsAt(
  broker: BrokerConnection,
  of: { readonly topic: string; readonly partitions: number },
): Promise<(number | undefined)[]> {
  const partitions = Array.from({ length: of.partitions }, (_, partitionIndex) => ({
    partitionIndex,
    timestamp: LATEST,
  }))
  const request = { replicaId: ANY_REPLICA, topics: [{ name: of.topic, partitions }] }
  const { response } = await broker.send(ListOffsetsApi, request)
  return response.topics.flatMap(answer =>
    answer.partitions.map(({ errorCode, offset }) => (errorCode === ErrorCode.NONE ? Number(offset) : undefined)),
  )
}

async function withBroker<T>(
  address: string,
  clock: Clock,
  work: (broker: BrokerConnection) => Promise<T>,
): Promise<T> {
  const at = address.lastIndexOf(':')
  const broker = await BrokerConnection.connect({
    host: address.slice(0, at),
    port: Number(address.slice(at + 1)),
    clientId: 'lockstep-demo',
    connectTimeoutMs: 5000,
    requestTimeoutMs: 30_000,
    clock,
  })
  try {
    return await work(broker)
  } finally {
    broker.close()
  }
}
