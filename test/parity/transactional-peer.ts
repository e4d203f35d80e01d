// A transactional producer as raw requests to one of the two nodes: every answer as text that can be compared.
import type { Uuid } from '../../src/core/uuid.ts'
import { ZERO_UUID } from '../../src/core/uuid.ts'
import { buildBatch } from '../../src/protocol/batches/build-batch.ts'
import { errorName } from '../../src/protocol/errors.ts'
import { ProduceApi } from '../../src/protocol/messages/00-produce.ts'
import { InitProducerIdApi } from '../../src/protocol/messages/22-init-producer-id.ts'
import { AddPartitionsToTxnApi } from '../../src/protocol/messages/24-add-partitions-to-txn.ts'
import { AddOffsetsToTxnApi } from '../../src/protocol/messages/25-add-offsets-to-txn.ts'
import { EndTxnApi } from '../../src/protocol/messages/26-end-txn.ts'
import { TxnOffsetCommitApi } from '../../src/protocol/messages/28-txn-offset-commit.ts'
import type { Api } from '../../src/protocol/schema/message.ts'
import { topicIdOf } from './parity-case.ts'
import { ask, type Peer } from './raw-exchange.ts'

/** Stands for what the producer has now, above or below it. */
export interface Claim {
  /** Added to the epoch that the producer has. */
  readonly epoch?: number
  /** Added to its id. */
  readonly id?: number
  readonly version?: number
}

export interface Place {
  readonly topic?: string
  readonly partition?: number
}

/** Ids differ from node to node: they are shown by the order in which a node gave them. */
const idNames = new WeakMap<Peer, Map<bigint, string>>()

export function idName(peer: Peer, id: bigint): string {
  if (id < 0n) return 'no id'
  const names = idNames.get(peer) ?? new Map<bigint, string>()
  idNames.set(peer, names)
  const name = names.get(id) ?? `id ${names.size + 1}`
  names.set(id, name)
  return name
}

export class TransactionalPeer {
  readonly id: string
  producerId = -1n
  producerEpoch = -1
  readonly #peer: Peer
  #sequences = new Map<string, number>()

  constructor(peer: Peer, id: string) {
    this.#peer = peer
    this.id = id
  }

  async init(options: Claim & { timeoutMs?: number; expected?: boolean } = {}): Promise<string> {
    const { version = 5, timeoutMs = 600_000, expected = false } = options
    const answer = await this.#ask(InitProducerIdApi, version, {
      transactionalId: this.id,
      transactionTimeoutMs: timeoutMs,
      ...(expected ? { producerId: this.#claimedId(options), producerEpoch: this.#claimedEpoch(options) } : {}),
    })
    if (answer.errorCode === 0) this.#takeOver(answer)
    return this.#shown(answer)
  }

  async add(places: readonly Place[], options: Claim & { id?: number } = {}): Promise<string> {
    const answer = await this.#ask(AddPartitionsToTxnApi, options.version ?? 3, {
      v3AndBelowTransactionalId: this.id,
      v3AndBelowProducerId: this.#claimedId(options),
      v3AndBelowProducerEpoch: this.#claimedEpoch(options),
      v3AndBelowTopics: byTopic(places).map(({ topic, partitions }) => ({ name: topic, partitions })),
    })
    return answer.resultsByTopicV3AndBelow
      .flatMap(({ name, resultsByPartition }) =>
        resultsByPartition.map(
          ({ partitionIndex, partitionErrorCode }) => `${name}-${partitionIndex} ${errorName(partitionErrorCode)}`,
        ),
      )
      .sort()
      .join(', ')
  }

  async addGroup(groupId: string, options: Claim = {}): Promise<string> {
    const answer = await this.#ask(AddOffsetsToTxnApi, options.version ?? 3, { ...this.#claim(options), groupId })
    return errorName(answer.errorCode)
  }

  async commitOffset(
    groupId: string,
    options: Claim & Place & { offset?: bigint; generation?: number; member?: string } = {},
  ): Promise<string> {
    const { version = 3, topic = 'tx', partition = 0, offset = 1n } = options
    const partitions = [{ partitionIndex: partition, committedOffset: offset, committedMetadata: null }]
    const answer = await this.#ask(TxnOffsetCommitApi, version, {
      ...this.#claim(options),
      groupId,
      ...(version >= 3 ? { generationId: options.generation ?? -1, memberId: options.member ?? '' } : {}),
      topics: [{ name: topic, partitions }],
    })
    return answer.topics
      .flatMap(({ name, partitions: answers }) =>
        answers.map(({ partitionIndex, errorCode }) => `${name}-${partitionIndex} ${errorName(errorCode)}`),
      )
      .join(', ')
  }

  async produce(options: Claim & Place & { withoutId?: boolean; sequence?: number } = {}): Promise<string> {
    const { version = 9, topic = 'tx', partition = 0 } = options
    const key = `${topic}-${partition}`
    const sequence = options.sequence ?? this.#sequences.get(key) ?? 0
    const records = buildBatch({
      records: [{ timestamp: BigInt(Date.now()), key: null, value: Buffer.from(`v${sequence}`) }],
      producerId: this.#claimedId(options),
      producerEpoch: this.#claimedEpoch(options),
      baseSequence: sequence,
      transactional: true,
    })
    const byId = version >= 13
    const named: { name: string; topicId: Uuid } = byId
      ? { name: '', topicId: topicIdOf(this.#peer, topic) }
      : { name: topic, topicId: ZERO_UUID }
    const answer = await this.#ask(ProduceApi, version, {
      transactionalId: options.withoutId ? null : this.id,
      acks: -1,
      timeoutMs: 30_000,
      topicData: [{ ...named, partitionData: [{ index: partition, records }] }],
    })
    const result = answer.responses[0]?.partitionResponses[0]
    if (result?.errorCode === 0) this.#sequences.set(key, sequence + 1)
    return `${errorName(result?.errorCode ?? -1)} at ${result?.baseOffset}, start ${result?.logStartOffset}`
  }

  async end(committed: boolean, options: Claim = {}): Promise<string> {
    const version = options.version ?? 4
    const answer = await this.#ask(EndTxnApi, version, { ...this.#claim(options), committed })
    if (answer.errorCode === 0 && version >= 5) this.#takeOver(answer)
    return version >= 5 ? this.#shown(answer) : errorName(answer.errorCode)
  }

  #claim(options: Claim) {
    return {
      transactionalId: this.id,
      producerId: this.#claimedId(options),
      producerEpoch: this.#claimedEpoch(options),
    }
  }

  #claimedId = ({ id = 0 }: Claim): bigint => this.producerId + BigInt(id)
  #claimedEpoch = ({ epoch = 0 }: Claim): number => this.producerEpoch + epoch

  #takeOver({ producerId, producerEpoch }: { producerId: bigint; producerEpoch: number }): void {
    if (producerId !== this.producerId || producerEpoch !== this.producerEpoch) this.#sequences = new Map()
    this.producerId = producerId
    this.producerEpoch = producerEpoch
  }

  #shown({ errorCode, producerId, producerEpoch }: { errorCode: number; producerId: bigint; producerEpoch: number }) {
    return `${errorName(errorCode)}, ${idName(this.#peer, producerId)}, epoch ${producerEpoch}`
  }

  async #ask<Q, QI, R, RI>(api: Api<Q, QI, R, RI>, version: number, request: QI): Promise<R> {
    const answer = await ask(this.#peer, { api, request, version })
    if (typeof answer === 'string') throw new Error(`${this.#peer.name} answers ${api.name} with ${answer}`)
    return answer
  }
}

function byTopic(places: readonly Place[]): { topic: string; partitions: number[] }[] {
  const topics = new Map<string, number[]>()
  for (const { topic = 'tx', partition = 0 } of places) topics.set(topic, [...(topics.get(topic) ?? []), partition])
  return Array.from(topics, ([topic, partitions]) => ({ topic, partitions }))
}
