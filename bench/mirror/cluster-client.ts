/** One connection to one broker, Kafka or Lockstep, for what the benchmarks do with it: topics, produce, fetch, ends. */
import { systemClock } from '../../src/core/clock.ts'
import { BrokerConnection } from '../../src/network/broker-connection.ts'
import { errorName } from '../../src/protocol/errors.ts'
import { ProduceApi } from '../../src/protocol/messages/00-produce.ts'
import { FetchApi } from '../../src/protocol/messages/01-fetch.ts'
import { ListOffsetsApi } from '../../src/protocol/messages/02-list-offsets.ts'
import { MetadataApi } from '../../src/protocol/messages/03-metadata.ts'
import { CreateTopicsApi } from '../../src/protocol/messages/19-create-topics.ts'
import { AlterPartitionReassignmentsApi } from '../../src/protocol/messages/45-alter-partition-reassignments.ts'
import { eventually } from '../../test/eventually.ts'

/** Last versions that name topics. */
const PRODUCE_NAMED_MAX = 12
const FETCH_NAMED_MAX = 12
const LATEST = -1n
const UNKNOWN_TOPIC_OR_PARTITION = 3
const CONSUMER = -1
/** Kafka's id for tools: whoever is asked answers, leader or not, with its own high watermark. */
const ANY_REPLICA = -2

/** Where the replicas of each partition are, the leader first. */
export type Assignment = readonly (readonly number[])[]

/** Records of one partition, as they go into a request or come out of an answer. */
export interface PartitionRecords {
  readonly partition: number
  readonly records: Buffer
}

export class ClusterClient {
  readonly #connection: BrokerConnection

  private constructor(connection: BrokerConnection) {
    this.#connection = connection
  }

  /** `bootstrap` is one `host:port`. */
  static async connect(bootstrap: string): Promise<ClusterClient> {
    const [host = '', port] = bootstrap.split(':')
    const connection = await BrokerConnection.connect({
      host,
      port: Number(port),
      clientId: 'bench',
      connectTimeoutMs: 10_000,
      requestTimeoutMs: 120_000,
      clock: systemClock,
    })
    return new ClusterClient(connection)
  }

  /** With one replica, or as assigned. Resolves when every partition is led, and led here unless it is assigned. */
  async createTopic(name: string, partitions: number, assignment?: Assignment): Promise<void> {
    const assignments = assignment?.map((brokerIds, partitionIndex) => ({ partitionIndex, brokerIds: [...brokerIds] }))
    const size = assignments
      ? { numPartitions: -1, replicationFactor: -1 }
      : { numPartitions: partitions, replicationFactor: 1 }
    const topic = { name, ...size, assignments: assignments ?? [], configs: [] }
    const { response } = await this.#connection.send(CreateTopicsApi, { topics: [topic] })
    for (const { errorCode, errorMessage } of response.topics)
      if (errorCode !== 0) throw new Error(`creating ${name}: ${errorName(errorCode)} ${errorMessage ?? ''}`)
    await eventually(async () => {
      const led = await this.#latestOffsets(name, partitions, assignment ? ANY_REPLICA : CONSUMER)
      if (led.length < partitions || led.some(({ errorCode }) => errorCode !== 0)) throw new Error(`${name} is not led`)
    })
  }

  /** Moves partitions of a topic; they are copied when this has resolved. */
  async reassign(topic: string, assignment: Assignment): Promise<void> {
    const partitions = assignment.map((replicas, partitionIndex) => ({ partitionIndex, replicas: [...replicas] }))
    const request = { topics: [{ name: topic, partitions }] }
    const { response } = await this.#connection.send(AlterPartitionReassignmentsApi, request)
    const rows = [response, ...response.responses.flatMap(answer => answer.partitions)]
    for (const { errorCode, errorMessage } of rows)
      if (errorCode !== 0) throw new Error(`moving ${topic}: ${errorName(errorCode)} ${errorMessage ?? ''}`)
  }

  /** One batch per partition, acknowledged by the leader. Requests may overlap; they are handled in order. */
  async produce(topic: string, partitionData: readonly PartitionRecords[]): Promise<void> {
    const { response } = await this.#connection.send(
      ProduceApi,
      {
        acks: 1,
        timeoutMs: 60_000,
        topicData: [
          { name: topic, partitionData: partitionData.map(({ partition: index, records }) => ({ index, records })) },
        ],
      },
      { version: this.#connection.versionFor(ProduceApi.key, { min: 3, max: PRODUCE_NAMED_MAX }) },
    )
    for (const { partitionResponses } of response.responses)
      for (const { index, errorCode } of partitionResponses)
        if (errorCode !== 0) throw new Error(`producing to ${topic}-${index}: ${errorName(errorCode)}`)
  }

  /** Log ends by partition; a topic that is not there (yet) ends at 0 everywhere. */
  async endOffsets(topic: string, partitions: number): Promise<number[]> {
    return endsIn(await this.#latestOffsets(topic, partitions, CONSUMER), partitions)
  }

  /** High watermarks by partition as the replicas of this broker know them; 0 for those that it does not have. */
  async replicaEnds(topic: string, partitions: number): Promise<number[]> {
    return endsIn(await this.#latestOffsets(topic, partitions, ANY_REPLICA), partitions)
  }

  /** The brokers of each partition; empty while there is no such topic. */
  async replicasOf(topic: string): Promise<number[][]> {
    const { response } = await this.#connection.send(MetadataApi, { topics: [{ name: topic }] })
    const replicas: number[][] = []
    for (const { partitionIndex, replicaNodes } of response.topics.flatMap(answer => answer.partitions))
      replicas[partitionIndex] = replicaNodes
    return replicas
  }

  /** Long-polls for anything at or behind the positions, one per partition; undefined = not wanted. */
  async fetch(topic: string, positions: readonly (number | undefined)[]): Promise<PartitionRecords[]> {
    const { response } = await this.#connection.send(
      FetchApi,
      {
        replicaState: {},
        maxWaitMs: 500,
        minBytes: 1,
        maxBytes: 16 * 1024 * 1024,
        topics: [
          {
            topic,
            partitions: positions.flatMap((offset, partition) =>
              offset === undefined ? [] : { partition, fetchOffset: BigInt(offset), partitionMaxBytes: 1024 * 1024 },
            ),
          },
        ],
        forgottenTopicsData: [],
      },
      { version: this.#connection.versionFor(FetchApi.key, { min: 4, max: FETCH_NAMED_MAX }) },
    )
    const answers = response.responses.flatMap(answer => answer.partitions)
    for (const { partitionIndex, errorCode } of answers)
      if (errorCode !== 0 && errorCode !== UNKNOWN_TOPIC_OR_PARTITION)
        throw new Error(`fetching ${topic}-${partitionIndex}: ${errorName(errorCode)}`)
    return answers.flatMap(({ partitionIndex, records }) =>
      records && records.length > 0 ? [{ partition: partitionIndex, records }] : [],
    )
  }

  async #latestOffsets(topic: string, partitions: number, replicaId: number) {
    const asked = Array.from({ length: partitions }, (_, partitionIndex) => ({ partitionIndex, timestamp: LATEST }))
    const { response } = await this.#connection.send(ListOffsetsApi, {
      replicaId,
      topics: [{ name: topic, partitions: asked }],
    })
    return response.topics.flatMap(answer => answer.partitions)
  }

  async close(): Promise<void> {
    this.#connection.close()
    await this.#connection.closed
  }
}

function endsIn(
  answers: readonly { readonly partitionIndex: number; readonly errorCode: number; readonly offset: bigint }[],
  partitions: number,
): number[] {
  const ends = Array.from({ length: partitions }, () => 0)
  for (const { partitionIndex, errorCode, offset } of answers)
    if (errorCode === 0) ends[partitionIndex] = Number(offset)
  return ends
}
