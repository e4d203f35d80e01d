/**
 * DescribeTransactions (65), version 0 (KIP-664); the dispatch table calls it.
 *
 * Needs DESCRIBE on each transactional id; topics that the client may not describe are left out.
 */
import { CoordinatorError } from '../../coordinator/runtime/coordinator-error.ts'
import type { TransactionMetadata } from '../../coordinator/transactions/transaction-metadata.ts'
import { ErrorCode } from '../../protocol/errors.ts'
import {
  DescribeTransactionsApi,
  type DescribeTransactionsResponseInput,
} from '../../protocol/messages/65-describe-transactions.ts'
import { allowed } from '../authorization.ts'
import { type BrokerContext, handlerOf, type RequestOrigin } from '../handler.ts'

type Description = DescribeTransactionsResponseInput['transactionStates'][number]

export const describeTransactions = handlerOf(DescribeTransactionsApi, {
  versions: { min: 0, max: 0 },
  handle: (broker, request, origin) => ({
    throttleTimeMs: 0,
    transactionStates: request.transactionalIds.map(id => describe(broker, origin, id)),
  }),
  failed: (request, errorCode) => ({
    throttleTimeMs: 0,
    transactionStates: request.transactionalIds.map(id => refused(id, errorCode)),
  }),
})

function describe(broker: BrokerContext, origin: RequestOrigin, transactionalId: string): Description {
  if (!allowed(broker, origin, { operation: 'DESCRIBE', resource: 'TRANSACTIONAL_ID', name: transactionalId }))
    return refused(transactionalId, ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED)
  try {
    const { producerId, producerEpoch, state, timeoutMs, startMs, partitions } =
      broker.transactions.describe(transactionalId)
    return {
      errorCode: ErrorCode.NONE,
      transactionalId,
      transactionState: state,
      transactionTimeoutMs: timeoutMs,
      transactionStartTimeMs: BigInt(startMs),
      producerId,
      producerEpoch,
      topics: byTopic(partitions).filter(({ topic }) =>
        allowed(broker, origin, { operation: 'DESCRIBE', resource: 'TOPIC', name: topic }),
      ),
    }
  } catch (error) {
    if (error instanceof CoordinatorError) return refused(transactionalId, error.errorCode)
    throw error
  }
}

function byTopic(partitions: TransactionMetadata['partitions']): { topic: string; partitions: number[] }[] {
  const topics = new Map<string, number[]>()
  for (const { topic, partition } of partitions.values()) topics.set(topic, [...(topics.get(topic) ?? []), partition])
  return Array.from(topics, ([topic, indexes]) => ({ topic, partitions: indexes }))
}

const refused = (transactionalId: string, errorCode: number): Description => ({
  errorCode,
  transactionalId,
  transactionState: '',
  transactionTimeoutMs: 0,
  transactionStartTimeMs: 0n,
  producerId: 0n,
  producerEpoch: 0,
  topics: [],
})
