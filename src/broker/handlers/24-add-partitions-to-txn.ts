/**
 * AddPartitionsToTxn (24), versions 0–5; the dispatch table calls it.
 *
 * 2: PRODUCER_FENCED instead of INVALID_PRODUCER_EPOCH. 3: flexible. 4: from brokers only, several transactions at once, and
 * `verifyOnly`; the transactions are of version 2 (KIP-890). 5: TRANSACTION_ABORTABLE.
 *
 * Up to version 3 it needs WRITE on the transactional id and on every topic; from 4 on CLUSTER_ACTION. If one partition cannot
 * be added, none is: the others are OPERATION_NOT_ATTEMPTED. A mirror is refused as in Produce.
 */
import {
  type PartitionSet,
  partitionKey,
  partitionSet,
  type TopicPartition,
} from '../../coordinator/transactions/transaction-metadata.ts'
import { topicByName } from '../../metadata/metadata-image.ts'
import { isInternalTopic } from '../../metadata/topic-names.ts'
import { ErrorCode } from '../../protocol/errors.ts'
import {
  AddPartitionsToTxnApi,
  type AddPartitionsToTxnRequest,
  type AddPartitionsToTxnResponseInput,
} from '../../protocol/messages/24-add-partitions-to-txn.ts'
import { allowed, allowedNames, requireAllowedOnCluster } from '../authorization.ts'
import { type BrokerContext, handlerOf, type RequestOrigin } from '../handler.ts'
import { knownFencing } from '../producer-fencing.ts'

type Transaction = AddPartitionsToTxnRequest['transactions'][number]
type Results = NonNullable<AddPartitionsToTxnResponseInput['resultsByTransaction']>
type TopicResults = Results[number]['topicResults']

/** The first version that only brokers send. */
const BROKER_VERSION = 4
const FENCED_VERSION = 2

export const addPartitionsToTxn = handlerOf(AddPartitionsToTxnApi, {
  versions: { min: 0, max: 5 },
  async handle(broker, request, origin) {
    if (origin.version >= BROKER_VERSION) requireAllowedOnCluster(broker, origin, 'CLUSTER_ACTION')
    const results = await Promise.all(
      transactionsOf(request, origin.version).map(async transaction => {
        const errors = await errorsOf(broker, origin, transaction)
        return { transactionalId: transaction.transactionalId, topicResults: byTopic(transaction, errors) }
      }),
    )
    return answer(results, origin.version)
  },
  failed(request, errorCode, { version }) {
    if (version >= BROKER_VERSION) return { ...answer([], version), errorCode }
    const results = transactionsOf(request, version).map(transaction => ({
      transactionalId: transaction.transactionalId,
      topicResults: byTopic(transaction, errorCode),
    }))
    return answer(results, version)
  },
})

const answer = (results: Results, version: number): AddPartitionsToTxnResponseInput => ({
  throttleTimeMs: 0,
  errorCode: ErrorCode.NONE,
  resultsByTransaction: version >= BROKER_VERSION ? results : [],
  resultsByTopicV3AndBelow: version >= BROKER_VERSION ? [] : (results[0]?.topicResults ?? []),
})

const transactionsOf = (request: AddPartitionsToTxnRequest, version: number): readonly Transaction[] =>
  version >= BROKER_VERSION
    ? request.transactions
    : [
        {
          transactionalId: request.v3AndBelowTransactionalId,
          producerId: request.v3AndBelowProducerId,
          producerEpoch: request.v3AndBelowProducerEpoch,
          verifyOnly: false,
          topics: request.v3AndBelowTopics,
        },
      ]

/** One code for all partitions, or one for each by its key. */
async function errorsOf(
  broker: BrokerContext,
  origin: RequestOrigin,
  transaction: Transaction,
): Promise<number | ReadonlyMap<string, number>> {
  const { transactionalId, topics } = transaction
  const fromClient = origin.version < BROKER_VERSION
  const write = { operation: 'WRITE', resource: 'TRANSACTIONAL_ID', name: transactionalId } as const
  if (fromClient && !allowed(broker, origin, write)) return ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED
  const partitions = partitionSet(
    topics.flatMap(({ name, partitions }) => partitions.map(partition => ({ topic: name, partition }))),
  )
  const refused = refusedPartitions(broker, origin, { partitions, verifyOnly: transaction.verifyOnly })
  if (refused.size > 0)
    return new Map(Array.from(partitions.keys(), key => [key, refused.get(key) ?? ErrorCode.OPERATION_NOT_ATTEMPTED]))
  if (transaction.verifyOnly) return broker.transactions.verifyPartitions(transaction, partitions)
  const clientVersion = fromClient ? 0 : 2
  const errorCode = await broker.transactions.addPartitions(transaction, partitions, clientVersion)
  return knownFencing(errorCode, origin.version >= FENCED_VERSION)
}

function refusedPartitions(
  broker: BrokerContext,
  origin: RequestOrigin,
  add: { readonly partitions: PartitionSet; readonly verifyOnly: boolean },
): ReadonlyMap<string, number> {
  const names = [...new Set(Array.from(add.partitions.values(), ({ topic }) => topic))]
  // Clients may not write internal topics at all; offsets are added by AddOffsetsToTxn.
  const writable =
    origin.version < BROKER_VERSION
      ? allowedNames(broker, origin, {
          operation: 'WRITE',
          resource: 'TOPIC',
          names: names.filter(name => !isInternalTopic(name)),
        })
      : new Set(names)
  const errorOf = ({ topic: name, partition }: TopicPartition): number => {
    if (!writable.has(name)) return ErrorCode.TOPIC_AUTHORIZATION_FAILED
    const topic = topicByName(origin.image, name)
    if (!topic?.partitions[partition]) return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    if (add.verifyOnly) return ErrorCode.NONE
    const refusal = broker.writeGate.refusal(topic.id, name, 'produce')
    if (!refusal) return ErrorCode.NONE
    // While it is not known whether this is a mirror: what producers take for the loss of a leader ends their transaction.
    return refusal.errorCode === ErrorCode.POLICY_VIOLATION ? refusal.errorCode : ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
  }
  return new Map(
    Array.from(add.partitions.values(), partition => [partitionKey(partition), errorOf(partition)] as const).filter(
      ([, errorCode]) => errorCode !== ErrorCode.NONE,
    ),
  )
}

const byTopic = (transaction: Transaction, errors: number | ReadonlyMap<string, number>): TopicResults =>
  transaction.topics.map(({ name, partitions }) => ({
    name,
    resultsByPartition: partitions.map(partitionIndex => ({
      partitionIndex,
      partitionErrorCode:
        typeof errors === 'number'
          ? errors
          : (errors.get(partitionKey({ topic: name, partition: partitionIndex })) ?? ErrorCode.UNKNOWN_SERVER_ERROR),
    })),
  }))
