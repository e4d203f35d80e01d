/** The records of `__transaction_state` as Kafka writes them; the coordinator writes and replays them. */

import {
  decodeCoordinatorRecord,
  encodeRecordKey,
  encodeRecordValue,
} from '../../protocol/coordinator-records/registry.ts'
import {
  TransactionLogKey,
  TransactionLogValue,
} from '../../protocol/coordinator-records/transaction-00-transaction-log.ts'
import { DecodeError } from '../../protocol/schema/codec-errors.ts'
import type { StateRecord } from '../runtime/state-partitions.ts'
import {
  NO_PRODUCER_EPOCH,
  partitionSet,
  type TopicPartition,
  type TransactionMetadata,
  type TransactionVersion,
} from './transaction-metadata.ts'
import { transactionStateOf, transactionStates } from './transaction-state.ts'

/** A record of an id: its last state, or null once it was forgotten. */
export interface TransactionRecord {
  readonly transactionalId: string
  readonly metadata: TransactionMetadata | null
}

/** Value version 1 (flexible, with the ids of KIP-890) needs transaction.version 1. */
export const valueVersionAt = (transactionVersion: TransactionVersion): 0 | 1 => (transactionVersion >= 1 ? 1 : 0)

export function encodeTransaction(metadata: TransactionMetadata, valueVersion: 0 | 1): StateRecord {
  const value = {
    producerId: metadata.producerId,
    producerEpoch: metadata.producerEpoch,
    transactionTimeoutMs: metadata.timeoutMs,
    transactionStatus: transactionStates[metadata.state].id,
    transactionPartitions: metadata.state === 'Empty' ? null : byTopic(metadata.partitions.values()),
    transactionLastUpdateTimestampMs: BigInt(metadata.updatedMs),
    transactionStartTimestampMs: BigInt(metadata.startMs),
    ...(valueVersion === 0
      ? {}
      : {
          previousProducerId: metadata.previousProducerId,
          nextProducerId: metadata.nextProducerId,
          clientTransactionVersion: metadata.clientVersion,
        }),
  }
  return {
    key: encodeKey(metadata.transactionalId),
    value: encodeRecordValue(TransactionLogValue, value, valueVersion),
  }
}

/** Forgets the id. */
export const encodeTombstone = (transactionalId: string): StateRecord => ({
  key: encodeKey(transactionalId),
  value: null,
})

/** undefined for what a newer Kafka wrote, which is passed over as Kafka does. Throws DecodeError for damage. */
export function decodeTransaction({ key, value }: StateRecord): TransactionRecord | undefined {
  const valueVersion = value === null || value.length < 2 ? 0 : value.readInt16BE(0)
  if (valueVersion < 0 || valueVersion > 1) return undefined
  const record = decodeCoordinatorRecord('transaction', key, value)
  if (!record) return undefined
  const { transactionalId } = record.key as TransactionLogKey
  if (record.value === null) return { transactionalId, metadata: null }
  return { transactionalId, metadata: metadataOf(transactionalId, record.value as TransactionLogValue) }
}

function metadataOf(transactionalId: string, value: TransactionLogValue): TransactionMetadata {
  const state = transactionStateOf(value.transactionStatus)
  if (state === undefined)
    throw new DecodeError(
      'malformed',
      0,
      `transaction ${transactionalId} has the unknown state ${value.transactionStatus}`,
    )
  const partitions = (value.transactionPartitions ?? []).flatMap(({ topic, partitionIds }) =>
    partitionIds.map(partition => ({ topic, partition })),
  )
  return {
    transactionalId,
    producerId: value.producerId,
    previousProducerId: value.previousProducerId,
    nextProducerId: value.nextProducerId,
    producerEpoch: value.producerEpoch,
    lastProducerEpoch: NO_PRODUCER_EPOCH,
    timeoutMs: value.transactionTimeoutMs,
    state,
    partitions: partitionSet(state === 'Empty' ? [] : partitions),
    startMs: Number(value.transactionStartTimestampMs),
    updatedMs: Number(value.transactionLastUpdateTimestampMs),
    clientVersion: versionOf(value.clientTransactionVersion),
  }
}

const versionOf = (level: number): TransactionVersion => (level >= 2 ? 2 : level === 1 ? 1 : 0)

const encodeKey = (transactionalId: string): Buffer => encodeRecordKey(TransactionLogKey, { transactionalId })

function byTopic(partitions: Iterable<TopicPartition>): { topic: string; partitionIds: number[] }[] {
  const topics = new Map<string, number[]>()
  for (const { topic, partition } of partitions) {
    const ids = topics.get(topic)
    if (ids) ids.push(partition)
    else topics.set(topic, [partition])
  }
  return Array.from(topics, ([topic, partitionIds]) => ({ topic, partitionIds }))
}
