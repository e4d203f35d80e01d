/** What a release asks other brokers of the cluster; each question goes to the broker that knows, and none changes anything but producer ids. */
import { offsetFromWire } from '../../core/offset.ts'
import { completeBytes } from '../../protocol/batches/batch-iteration.ts'
import { ErrorCode, errorName } from '../../protocol/errors.ts'
import { FetchApi } from '../../protocol/messages/01-fetch.ts'
import { ListOffsetsApi } from '../../protocol/messages/02-list-offsets.ts'
import { InitProducerIdApi } from '../../protocol/messages/22-init-producer-id.ts'
import { WriteTxnMarkersApi } from '../../protocol/messages/27-write-txn-markers.ts'
import { DescribeConfigsApi } from '../../protocol/messages/32-describe-configs.ts'
import { DescribeProducersApi } from '../../protocol/messages/61-describe-producers.ts'
import { ListTransactionsApi } from '../../protocol/messages/66-list-transactions.ts'
import type { BrokerConnections } from '../../replica/broker-connections.ts'

const LATEST = -1n
const EARLIEST = -2n
const CONSUMER = -1
/** Who asks so is told of the log itself. */
const DEBUGGING = -2
/** The last version in which the leader answers consumers itself, rather than to send them to another replica (KIP-392). */
const FETCH_VERSION = { min: 4, max: 10 }
const TOPIC_RESOURCE = 2

/** Partitions in one question about producers. */
const PARTITIONS_MAX = 1000

/** A producer that a partition remembers. */
export interface ProducerState {
  readonly producerId: bigint
  readonly producerEpoch: number
  /** Of its last marker; -1 = it had none. */
  readonly coordinatorEpoch: number
  /** Where its open transaction begins. */
  readonly transactionStart: number | undefined
}

/** A broker answered with an error. */
export class BrokerRefusal extends Error {
  readonly errorCode: number

  constructor(api: string, broker: number, errorCode: number) {
    super(`broker ${broker} answers ${api} with ${errorName(errorCode)}`)
    this.name = 'BrokerRefusal'
    this.errorCode = errorCode
  }
}

/** Questions reject with ConnectionError or BrokerRefusal. */
export class BrokerQuestions {
  readonly #connections: Pick<BrokerConnections, 'to'>

  constructor(connections: Pick<BrokerConnections, 'to'>) {
    this.#connections = connections
  }

  /** What its leader lets consumers read up to. */
  highWatermark(leader: number, topic: string, partition: number): Promise<number> {
    return this.#offset(leader, { topic, partition, timestamp: LATEST })
  }

  logStart(leader: number, topic: string, partition: number): Promise<number> {
    return this.#offset(leader, { topic, partition, timestamp: EARLIEST })
  }

  /** Of the leader's log: what is above the high watermark is not on all in-sync replicas yet. */
  logEnd(leader: number, topic: string, partition: number): Promise<number> {
    return this.#offset(leader, { topic, partition, timestamp: LATEST, replicaId: DEBUGGING })
  }

  /** Whole batches from `offset` on, below the high watermark; at least one if there is one. */
  async readBatches(
    leader: number,
    of: {
      readonly topic: string
      readonly partition: number
      readonly offset: number
      readonly maxBytes: number
    },
  ): Promise<Buffer> {
    const connection = await this.#connections.to(leader)
    const { topic, partition, offset, maxBytes } = of
    const asked = { partition, fetchOffset: BigInt(offset), partitionMaxBytes: maxBytes, currentLeaderEpoch: -1 }
    const { response, release } = await connection.send(
      FetchApi,
      {
        ...{ replicaId: CONSUMER, maxWaitMs: 0, minBytes: 0, maxBytes, isolationLevel: 0 },
        topics: [{ topic, partitions: [asked] }],
        forgottenTopicsData: [],
      },
      { version: connection.versionFor(FetchApi.key, FETCH_VERSION) },
    )
    try {
      const told = response.responses[0]?.partitions[0]
      if (told?.errorCode !== ErrorCode.NONE)
        throw new BrokerRefusal('Fetch', leader, told?.errorCode ?? response.errorCode)
      const { records } = told
      // They are looked at later than the frame may be used again.
      return records ? Buffer.from(records.subarray(0, completeBytes(records))) : Buffer.alloc(0)
    } finally {
      release()
    }
  }

  async #offset(
    leader: number,
    {
      replicaId = CONSUMER,
      ...of
    }: { readonly topic: string; readonly partition: number; readonly timestamp: bigint; readonly replicaId?: number },
  ): Promise<number> {
    const connection = await this.#connections.to(leader)
    const { response } = await connection.send(ListOffsetsApi, {
      ...{ replicaId, isolationLevel: 0 },
      topics: [{ name: of.topic, partitions: [{ partitionIndex: of.partition, timestamp: of.timestamp }] }],
    })
    const told = response.topics[0]?.partitions[0]
    if (!told || told.errorCode !== ErrorCode.NONE)
      throw new BrokerRefusal('ListOffsets', leader, told?.errorCode ?? ErrorCode.UNKNOWN_SERVER_ERROR)
    return offsetFromWire(told.offset)
  }

  /** The value that holds for a topic at that broker, its own file included. */
  async topicConfig(broker: number, topic: string, key: string): Promise<string | null> {
    const connection = await this.#connections.to(broker)
    const { response } = await connection.send(DescribeConfigsApi, {
      resources: [{ resourceType: TOPIC_RESOURCE, resourceName: topic, configurationKeys: [key] }],
    })
    const [result] = response.results
    if (!result || result.errorCode !== ErrorCode.NONE)
      throw new BrokerRefusal('DescribeConfigs', broker, result?.errorCode ?? ErrorCode.UNKNOWN_SERVER_ERROR)
    return result.configs.find(({ name }) => name === key)?.value ?? null
  }

  /** A producer id from the blocks that the broker has: nobody else gets it. */
  async takeProducerId(broker: number): Promise<bigint> {
    const connection = await this.#connections.to(broker)
    const { response } = await connection.send(InitProducerIdApi, { transactionalId: null, transactionTimeoutMs: 1000 })
    if (response.errorCode !== ErrorCode.NONE) throw new BrokerRefusal('InitProducerId', broker, response.errorCode)
    return response.producerId
  }

  /** Producers that partitions remember which this broker leads; those that may not be asked about are left out. */
  async producersIn(
    broker: number,
    partitions: readonly { readonly topic: string; readonly partition: number }[],
  ): Promise<{ readonly topic: string; readonly producerId: bigint }[]> {
    const found: { topic: string; producerId: bigint }[] = []
    for (let from = 0; from < partitions.length; from += PARTITIONS_MAX) {
      const connection = await this.#connections.to(broker)
      const asked = Map.groupBy(partitions.slice(from, from + PARTITIONS_MAX), ({ topic }) => topic)
      const topics = [...asked].map(([name, of]) => ({ name, partitionIndexes: of.map(({ partition }) => partition) }))
      const { response } = await connection.send(DescribeProducersApi, { topics })
      for (const { name: topic, partitions: told } of response.topics)
        for (const { activeProducers } of told)
          for (const { producerId } of activeProducers) found.push({ topic, producerId })
    }
    return found
  }

  /** Producers that one partition remembers. */
  async producerStates(leader: number, topic: string, partition: number): Promise<ProducerState[]> {
    const connection = await this.#connections.to(leader)
    const topics = [{ name: topic, partitionIndexes: [partition] }]
    const { response } = await connection.send(DescribeProducersApi, { topics })
    const told = response.topics[0]?.partitions[0]
    if (!told || told.errorCode !== ErrorCode.NONE)
      throw new BrokerRefusal('DescribeProducers', leader, told?.errorCode ?? ErrorCode.UNKNOWN_SERVER_ERROR)
    return told.activeProducers.map(
      ({ producerId, producerEpoch, coordinatorEpoch, currentTxnStartOffset: start }) => ({
        ...{ producerId, producerEpoch, coordinatorEpoch },
        transactionStart: start < 0n ? undefined : offsetFromWire(start),
      }),
    )
  }

  /** Has the leader append an ABORT marker; resolves when all in-sync replicas have it. */
  async abortTransaction(
    leader: number,
    { topic, partition, producer }: { topic: string; partition: number; producer: ProducerState },
  ): Promise<void> {
    const connection = await this.#connections.to(leader)
    const { producerId, producerEpoch, coordinatorEpoch } = producer
    const topics = [{ name: topic, partitionIndexes: [partition] }]
    const of = { producerId, producerEpoch, coordinatorEpoch: Math.max(0, coordinatorEpoch) }
    const { response } = await connection.send(WriteTxnMarkersApi, {
      markers: [{ ...of, transactionResult: false, topics }],
    })
    const told = response.markers[0]?.topics[0]?.partitions[0]
    if (!told || told.errorCode !== ErrorCode.NONE)
      throw new BrokerRefusal('WriteTxnMarkers', leader, told?.errorCode ?? ErrorCode.UNKNOWN_SERVER_ERROR)
  }

  /** Transactional ids that this broker coordinates, with the producer ids that they go on with. */
  async transactionalIds(broker: number): Promise<{ readonly transactionalId: string; readonly producerId: bigint }[]> {
    const connection = await this.#connections.to(broker)
    const { response } = await connection.send(ListTransactionsApi, { stateFilters: [], producerIdFilters: [] })
    if (response.errorCode !== ErrorCode.NONE) throw new BrokerRefusal('ListTransactions', broker, response.errorCode)
    return response.transactionStates
  }
}
