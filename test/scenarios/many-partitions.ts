// Many topics and partitions in one node: created, written and asked for their ends in large requests; used by a suite and by bench/.

import { systemClock } from '../../src/core/clock.ts'
import { BrokerConnection } from '../../src/network/broker-connection.ts'
import { buildBatch } from '../../src/protocol/batches/build-batch.ts'
import { ProduceApi } from '../../src/protocol/messages/00-produce.ts'
import { FetchApi } from '../../src/protocol/messages/01-fetch.ts'
import { ListOffsetsApi } from '../../src/protocol/messages/02-list-offsets.ts'
import { CreateTopicsApi } from '../../src/protocol/messages/19-create-topics.ts'

const LATEST = -1n
const REQUEST_TIMEOUT_MS = 300_000

/** Topics `PREFIX-0` … with the same number of partitions each. */
export interface ManyPartitionsPlan {
  readonly prefix: string
  readonly topics: number
  readonly partitions: number
  /** Topics per request. */
  readonly together?: number
}

/** A client that works on all partitions of the plan at once. Everything rejects at the first error code. */
export class ManyPartitions {
  readonly #plan: ManyPartitionsPlan
  readonly #connection: BrokerConnection

  private constructor(plan: ManyPartitionsPlan, connection: BrokerConnection) {
    this.#plan = plan
    this.#connection = connection
  }

  static async connect(bootstrap: string, plan: ManyPartitionsPlan): Promise<ManyPartitions> {
    const [host = '', port] = bootstrap.split(':')
    const connection = await BrokerConnection.connect({
      host,
      port: Number(port),
      clientId: 'many-partitions',
      connectTimeoutMs: 10_000,
      requestTimeoutMs: REQUEST_TIMEOUT_MS,
      clock: systemClock,
    })
    return new ManyPartitions(plan, connection)
  }

  async close(): Promise<void> {
    await this.#connection.close()
  }

  async create(): Promise<void> {
    for (const names of this.#groups()) {
      const topics = names.map(name => ({
        name,
        numPartitions: this.#plan.partitions,
        replicationFactor: 1,
        assignments: [],
        configs: [],
      }))
      const { response } = await this.#connection.send(CreateTopicsApi, { topics, timeoutMs: REQUEST_TIMEOUT_MS })
      for (const { name, errorCode } of response.topics) refuse(errorCode, `creating ${name}`)
    }
  }

  /** One batch of `records` records of 100 bytes to every partition; the value names the partition. */
  async produce(records: number): Promise<void> {
    for (const names of this.#groups()) {
      const topicData = names.map(name => ({
        name,
        partitionData: this.#indexes().map(index => ({ index, records: batchFor(name, { index, records }) })),
      }))
      const request = { acks: -1, timeoutMs: 60_000, topicData }
      const { response } = await this.#connection.send(ProduceApi, request, { version: 9 })
      for (const { name, partitionResponses } of response.responses)
        for (const { index, errorCode } of partitionResponses) refuse(errorCode, `producing to ${name}-${index}`)
    }
  }

  /** One record of 100 bytes to each of `count` partitions, from the `first`-th on and round again. */
  async produceOne(first: number, count: number): Promise<void> {
    const { prefix, topics, partitions } = this.#plan
    const byTopic = new Map<string, Map<number, Buffer>>()
    for (let i = first; i < first + Math.min(count, topics * partitions); i++) {
      const at = i % (topics * partitions)
      const name = `${prefix}-${Math.floor(at / partitions)}`
      const index = at % partitions
      const batches = byTopic.get(name) ?? new Map<number, Buffer>()
      byTopic.set(name, batches.set(index, batchFor(name, { index, records: 1 })))
    }
    const topicData = Array.from(byTopic, ([name, batches]) => ({
      name,
      partitionData: Array.from(batches, ([index, records]) => ({ index, records })),
    }))
    const { response } = await this.#connection.send(
      ProduceApi,
      { acks: 1, timeoutMs: 60_000, topicData },
      { version: 9 },
    )
    for (const { name, partitionResponses } of response.responses)
      for (const { index, errorCode } of partitionResponses) refuse(errorCode, `producing to ${name}-${index}`)
  }

  /** Log end by `topic-partition`. */
  async ends(): Promise<Map<string, bigint>> {
    const ends = new Map<string, bigint>()
    for (const names of this.#groups()) {
      const topics = names.map(name => ({
        name,
        partitions: this.#indexes().map(partitionIndex => ({ partitionIndex, timestamp: LATEST })),
      }))
      const request = { replicaId: -1, isolationLevel: 0, topics, timeoutMs: 60_000 }
      const { response } = await this.#connection.send(ListOffsetsApi, request)
      for (const { name, partitions } of response.topics)
        for (const { partitionIndex, errorCode, offset } of partitions) {
          refuse(errorCode, `the end of ${name}-${partitionIndex}`)
          ends.set(`${name}-${partitionIndex}`, offset)
        }
    }
    return ends
  }

  /** Bytes of the batches from offset 0 on, by `topic-partition`. */
  async read(): Promise<Map<string, Buffer>> {
    const found = new Map<string, Buffer>()
    for (const names of this.#groups()) {
      const topics = names.map(topic => ({
        topic,
        partitions: this.#indexes().map(partition => ({
          partition,
          fetchOffset: 0n,
          logStartOffset: -1n,
          partitionMaxBytes: 1_000_000,
        })),
      }))
      const request = { maxWaitMs: 0, minBytes: 0, maxBytes: 100_000_000, isolationLevel: 0, topics }
      const { response } = await this.#connection.send(FetchApi, request, { version: 12 })
      for (const { topic, partitions } of response.responses)
        for (const { partitionIndex, errorCode, records } of partitions) {
          refuse(errorCode, `reading ${topic}-${partitionIndex}`)
          found.set(`${topic}-${partitionIndex}`, Buffer.from(records ?? []))
        }
    }
    return found
  }

  #indexes(): number[] {
    return [...Array(this.#plan.partitions).keys()]
  }

  *#groups(): Generator<string[]> {
    const { prefix, topics, together = 50 } = this.#plan
    for (let from = 0; from < topics; from += together)
      yield Array.from({ length: Math.min(together, topics - from) }, (_, i) => `${prefix}-${from + i}`)
  }
}

/** The batch that `produce` sends to a partition. */
function batchFor(topic: string, { index, records }: { index: number; records: number }): Buffer {
  const value = Buffer.from(`${topic}-${index}`.padEnd(100, '.'))
  return buildBatch({ records: Array.from({ length: records }, () => ({ timestamp: 1n, key: null, value })) })
}

function refuse(errorCode: number, what: string): void {
  if (errorCode !== 0) throw new Error(`${what}: error ${errorCode}`)
}
