// What one broker of a real cluster tells about a topic, epochs included, which Kafka's clients keep to themselves.
import type { BrokerConnection } from '../../src/network/broker-connection.ts'
import { MetadataApi } from '../../src/protocol/messages/03-metadata.ts'
import { DescribeConfigsApi } from '../../src/protocol/messages/32-describe-configs.ts'
import { DescribeQuorumApi } from '../../src/protocol/messages/55-describe-quorum.ts'
import type { ClientSecurity } from '../clients/client-record.ts'
import { askBroker } from '../clients/direct.ts'

/** A partition as its cluster tells it. */
export interface PartitionView {
  readonly leader: number
  readonly leaderEpoch: number
  readonly replicas: readonly number[]
  readonly isr: readonly number[]
}

/** Partitions of a topic by index, as the broker at `address` (`host:port`) has them. */
export function partitionsAt(address: string, topic: string, security?: ClientSecurity): Promise<PartitionView[]> {
  const ask = async (connection: BrokerConnection) => {
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
  }
  return askBroker(address, ask, security)
}

/** A config of a topic as the broker at `address` tells it: a Kafka broker the fence of a mirror, a Lockstep node what is meant; an Admin asks either. */
export function topicConfigAt(address: string, topic: string, key: string): Promise<string | undefined> {
  return askBroker(address, async connection => {
    const resources = [{ resourceType: 2, resourceName: topic, configurationKeys: [key] }]
    const { response } = await connection.send(DescribeConfigsApi, { resources })
    return response.results[0]?.configs[0]?.value ?? undefined
  })
}

/** Id of the controller that leads the quorum, as its followers tell the broker at `address`; throws while nobody does. */
export function activeControllerAt(address: string): Promise<number> {
  return askBroker(address, async connection => {
    const topics = [{ topicName: '__cluster_metadata', partitions: [{ partitionIndex: 0 }] }]
    const { response } = await connection.send(DescribeQuorumApi, { topics })
    const { leaderId, errorCode } = response.topics[0]?.partitions[0] ?? { leaderId: -1, errorCode: response.errorCode }
    if (errorCode !== 0 || leaderId < 0) throw new Error(`no active controller, error code ${errorCode}`)
    return leaderId
  })
}
