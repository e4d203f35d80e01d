/** A transactional producer in short forms against a TestNode, request by request; for tests of transactions. */
import { ZERO_UUID } from '../../core/uuid.ts'
import { buildBatch } from '../../protocol/batches/build-batch.ts'
import { ErrorCode, errorName } from '../../protocol/errors.ts'
import { ProduceApi } from '../../protocol/messages/00-produce.ts'
import { InitProducerIdApi } from '../../protocol/messages/22-init-producer-id.ts'
import { AddPartitionsToTxnApi } from '../../protocol/messages/24-add-partitions-to-txn.ts'
import { AddOffsetsToTxnApi } from '../../protocol/messages/25-add-offsets-to-txn.ts'
import { EndTxnApi } from '../../protocol/messages/26-end-txn.ts'
import { TxnOffsetCommitApi } from '../../protocol/messages/28-txn-offset-commit.ts'
import { DescribeTransactionsApi } from '../../protocol/messages/65-describe-transactions.ts'
import type { TestNode } from './test-node.ts'

/** Versions of the requests of one generation of clients. */
const REQUEST_VERSIONS = {
  1: { produce: 11, end: 4, offsets: 4 },
  2: { produce: 12, end: 5, offsets: 5 },
} as const

export class TransactionalClient {
  readonly id: string
  readonly #node: TestNode
  readonly #generation: 1 | 2
  producerId = -1n
  producerEpoch = -1
  #sequences = new Map<string, number>()

  constructor(node: TestNode, options: { id?: string; generation?: 1 | 2 } = {}) {
    this.#node = node
    this.id = options.id ?? 'tx'
    this.#generation = options.generation ?? 2
  }

  /** Resolves to the name of the error. Comes again while another transaction is on its way to its end, as clients do. */
  async init(options: { timeoutMs?: number; keep?: boolean } = {}): Promise<string> {
    for (;;) {
      const answer = await this.#node.call(InitProducerIdApi, {
        transactionalId: this.id,
        transactionTimeoutMs: options.timeoutMs ?? 60_000,
        ...(options.keep ? { producerId: this.producerId, producerEpoch: this.producerEpoch } : {}),
      })
      if (answer?.errorCode === ErrorCode.CONCURRENT_TRANSACTIONS) {
        await turn()
        continue
      }
      if (answer?.errorCode === 0) {
        this.producerId = answer.producerId
        this.producerEpoch = answer.producerEpoch
        this.#sequences.clear()
      }
      return errorName(answer?.errorCode ?? -1)
    }
  }

  async add(topic: string, partition = 0): Promise<string> {
    const answer = await this.#node.call(
      AddPartitionsToTxnApi,
      {
        v3AndBelowTransactionalId: this.id,
        v3AndBelowProducerId: this.producerId,
        v3AndBelowProducerEpoch: this.producerEpoch,
        v3AndBelowTopics: [{ name: topic, partitions: [partition] }],
      },
      { version: 3 },
    )
    const result = answer?.resultsByTopicV3AndBelow[0]?.resultsByPartition[0]
    return errorName(result?.partitionErrorCode ?? -1)
  }

  async produce(topic: string, partition = 0): Promise<string> {
    const key = `${topic}-${partition}`
    const sequence = this.#sequences.get(key) ?? 0
    const records = buildBatch({
      records: [{ timestamp: 1_700_000_000_000n, key: null, value: Buffer.from(`v${sequence}`) }],
      producerId: this.producerId,
      producerEpoch: this.producerEpoch,
      baseSequence: sequence,
      transactional: true,
    })
    const topicData = [{ name: topic, topicId: ZERO_UUID, partitionData: [{ index: partition, records }] }]
    const answer = await this.#node.call(
      ProduceApi,
      { transactionalId: this.id, acks: -1, timeoutMs: 1000, topicData },
      { version: REQUEST_VERSIONS[this.#generation].produce },
    )
    const errorCode = answer?.responses[0]?.partitionResponses[0]?.errorCode ?? -1
    if (errorCode === 0) this.#sequences.set(key, sequence + 1)
    return errorName(errorCode)
  }

  /** The first generation names the group before. */
  async addGroup(groupId: string): Promise<string> {
    const { id: transactionalId, producerId, producerEpoch } = this
    const answer = await this.#node.call(AddOffsetsToTxnApi, { transactionalId, producerId, producerEpoch, groupId })
    return errorName(answer?.errorCode ?? -1)
  }

  /** Of partition 0 of `orders`. */
  async commitOffset(groupId: string, committedOffset: bigint): Promise<string> {
    const { id: transactionalId, producerId, producerEpoch } = this
    const partitions = [{ partitionIndex: 0, committedOffset, committedMetadata: null }]
    const answer = await this.#node.call(
      TxnOffsetCommitApi,
      { transactionalId, producerId, producerEpoch, groupId, topics: [{ name: 'orders', partitions }] },
      { version: REQUEST_VERSIONS[this.#generation].offsets },
    )
    return errorName(answer?.topics[0]?.partitions[0]?.errorCode ?? -1)
  }

  /** Takes over the epoch of the next transaction. */
  async end(committed: boolean): Promise<string> {
    const { id, producerId, producerEpoch } = this
    const answer = await this.#node.call(
      EndTxnApi,
      { transactionalId: id, producerId, producerEpoch, committed },
      { version: REQUEST_VERSIONS[this.#generation].end },
    )
    if (answer?.errorCode === 0 && this.#generation === 2) {
      this.producerId = answer.producerId
      this.producerEpoch = answer.producerEpoch
      this.#sequences.clear()
    }
    return errorName(answer?.errorCode ?? -1)
  }

  async describe() {
    const answer = await this.#node.call(DescribeTransactionsApi, { transactionalIds: [this.id] })
    return answer?.transactionStates[0]
  }

  /** Resolves when no marker is on its way. */
  async settled(): Promise<void> {
    while (this.#node.transactions.completing > 0) await turn()
  }
}

/** Lets promise chains run. */
export const turn = (): Promise<void> => new Promise(resolve => setImmediate(resolve))
