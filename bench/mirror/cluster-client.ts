/** One connection to a single-broker cluster, Kafka or Lockstep, for what the benchmarks do with it: topics, produce, fetch, ends. */
import { systemClock } from '../../src/core/clock.ts'
import { BrokerConnection } from '../../src/network/broker-connection.ts'
import { errorName } from '../../src/protocol/errors.ts'
import { ProduceApi } from '../../src/protocol/messages/00-produce.ts'
import { FetchApi } from '../../src/protocol/messages/01-fetch.ts'
import { ListOffsetsApi } from '../../src/protocol/messages/02-list-offsets.ts'
import { CreateTopicsApi } from '../../src/protocol/messages/19-create-topics.ts'
import { eventually } from '../../test/eventually.ts'

/** Last versions that name topics. */
const PRODUCE_NAMED_MAX = 12
const FETCH_NAMED_MAX = 12
const LATEST = -1n
const UNKNOWN_TOPIC_OR_PARTITION = 3

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

  /** With one replica. Resolves when every partition is led. */
  async createTopic(name: string, partitions: number): Promise<void> {
    const topic = { name, numPartitions: partitions, replicationFactor: 1, assignments: [], configs: [] }
    const { response } = await this.#connection.send(CreateTopicsApi, { topics: [topic] })
    for (const { errorCode, errorMessage } of response.topics)
      if (errorCode !== 0) throw new Error(`creating ${name}: ${errorName(errorCode)} ${errorMessage ?? ''}`)
    await eventually(async () => {
      const led = await this.#latestOffsets(name, partitions)
      if (led.length < partitions || led.some(({ errorCode }) => errorCode !== 0)) throw new Error(`${name} is not led`)
    })
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
    const ends = Array.from({ length: partitions }, () => 0)
    for (const { partitionIndex, errorCode, offset } of await this.#latestOffsets(topic, partitions))
      if (errorCode === 0) ends[partitionIndex] = Number(offset)
    return ends
  }

  /** Long-polls for anything at or behind the positions (one per partition). */
  async fetch(topic: string, positions: readonly number[]): Promise<PartitionRecords[]> {
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
            partitions: positions.map((offset, partition) => ({
              partition,
              fetchOffset: BigInt(offset),
              partitionMaxBytes: 1024 * 1024,
            })),
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

  async #latestOffsets(topic: string, partitions: number) {
    const asked = Array.from({ length: partitions }, (_, partitionIndex) => ({ partitionIndex, timestamp: LATEST }))
    const { response } = await this.#connection.send(ListOffsetsApi, {
      replicaId: -1,
      topics: [{ name: topic, partitions: asked }],
    })
    return response.topics.flatMap(answer => answer.partitions)
  }

  async close(): Promise<void> {
    this.#connection.close()
    await this.#connection.closed
  }
}
