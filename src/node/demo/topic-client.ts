/** A Kafka client for one topic of one node: appends batches and reads the log back; the demo's producer and comparison use it. */
import type { Clock } from '../../core/clock.ts'
import { offsetFromWire, offsetToWire } from '../../core/offset.ts'
import { type Uuid, ZERO_UUID } from '../../core/uuid.ts'
import { BrokerConnection } from '../../network/broker-connection.ts'
import { ErrorCode, errorName } from '../../protocol/errors.ts'
import { ProduceApi } from '../../protocol/messages/00-produce.ts'
import { FetchApi } from '../../protocol/messages/01-fetch.ts'
import { MetadataApi } from '../../protocol/messages/03-metadata.ts'
import { DemoError } from './demo-error.ts'

const CONNECT_TIMEOUT_MS = 5000
const REQUEST_TIMEOUT_MS = 30_000
const FETCH_BYTES = 4 * 1024 * 1024
const FETCH_WAIT_MS = 500
const ACKS_ALL = -1

/** Batches for one partition. */
export interface PartitionBatches {
  readonly partition: number
  readonly batches: Buffer
}

export class TopicClient {
  readonly topic: string
  readonly partitions: number
  readonly #topicId: Uuid
  readonly #connection: BrokerConnection

  private constructor(connection: BrokerConnection, topic: { name: string; id: Uuid; partitions: number }) {
    this.#connection = connection
    this.topic = topic.name
    this.#topicId = topic.id
    this.partitions = topic.partitions
  }

  /** `address` is the host:port of the node that leads all partitions. Throws DemoError or ConnectionError. */
  static async connect(address: string, topic: string, clock: Clock): Promise<TopicClient> {
    const at = address.lastIndexOf(':')
    const connection = await BrokerConnection.connect({
      host: address.slice(0, at),
      port: Number(address.slice(at + 1)),
      clientId: 'lockstep-demo',
      connectTimeoutMs: CONNECT_TIMEOUT_MS,
      requestTimeoutMs: REQUEST_TIMEOUT_MS,
      clock,
    })
    try {
      const { response } = await connection.send(MetadataApi, {
        topics: [{ name: topic }],
        allowAutoTopicCreation: false,
      })
      const found = response.topics[0]
      checkAnswer(found?.errorCode, `the metadata of ${topic}`)
      return new TopicClient(connection, {
        name: topic,
        id: found?.topicId ?? ZERO_UUID,
        partitions: found?.partitions.length ?? 0,
      })
    } catch (error) {
      connection.close()
      throw error
    }
  }

  /** Appends with acks=all; resolves with the base offset given to each partition's first batch. Several calls may be under way. */
  async append(parts: readonly PartitionBatches[]): Promise<Map<number, number>> {
    const partitionData = parts.map(({ partition, batches }) => ({ index: partition, records: batches }))
    const { response } = await this.#connection.send(ProduceApi, {
      acks: ACKS_ALL,
      timeoutMs: REQUEST_TIMEOUT_MS,
      topicData: [{ name: this.topic, topicId: this.#topicId, partitionData }],
    })
    const answers = response.responses.flatMap(answer => answer.partitionResponses)
    return new Map(
      parts.map(({ partition }) => {
        const answer = answers.find(({ index }) => index === partition)
        checkAnswer(answer?.errorCode, `appending to ${this.topic}-${partition}`, answer?.errorMessage)
        return [partition, offsetFromWire(answer?.baseOffset ?? -1n)]
      }),
    )
  }

  /** Whole batches from `offset` on (never none before the high watermark), and the high watermark. */
  async read(partition: number, offset: number): Promise<{ records: Buffer; highWatermark: number }> {
    const { response } = await this.#connection.send(FetchApi, {
      maxWaitMs: FETCH_WAIT_MS,
      minBytes: 1,
      maxBytes: FETCH_BYTES,
      topics: [
        {
          topic: this.topic,
          topicId: this.#topicId,
          partitions: [{ partition, fetchOffset: offsetToWire(offset), partitionMaxBytes: FETCH_BYTES }],
        },
      ],
      forgottenTopicsData: [],
    })
    checkAnswer(response.errorCode, `reading ${this.topic}-${partition}`)
    const answer = response.responses[0]?.partitions[0]
    checkAnswer(answer?.errorCode, `reading ${this.topic}-${partition} at offset ${offset}`)
    return {
      records: answer?.records ?? Buffer.alloc(0),
      highWatermark: offsetFromWire(answer?.highWatermark ?? 0n),
    }
  }

  close(): void {
    this.#connection.close()
  }
}

function checkAnswer(errorCode: number | undefined, what: string, detail?: string | null): void {
  if (errorCode === ErrorCode.NONE) return
  const why = errorCode === undefined ? 'the answer does not name it' : errorName(errorCode)
  throw new DemoError(`${what} failed: ${why}${detail ? ` (${detail})` : ''}`)
}
