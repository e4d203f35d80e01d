// Requests about transactions; asked by every user of the scene.
import { errorName } from '../../../src/protocol/errors.ts'
import { AddPartitionsToTxnApi } from '../../../src/protocol/messages/24-add-partitions-to-txn.ts'
import { AddOffsetsToTxnApi } from '../../../src/protocol/messages/25-add-offsets-to-txn.ts'
import { EndTxnApi } from '../../../src/protocol/messages/26-end-txn.ts'
import { WriteTxnMarkersApi } from '../../../src/protocol/messages/27-write-txn-markers.ts'
import { TxnOffsetCommitApi } from '../../../src/protocol/messages/28-txn-offset-commit.ts'
import { DescribeTransactionsApi } from '../../../src/protocol/messages/65-describe-transactions.ts'
import { ListTransactionsApi } from '../../../src/protocol/messages/66-list-transactions.ts'
import { type AccessCase, accessCase, errorsOf } from './access-case.ts'
import { COMMITTED, offsetsOf, PRODUCERS, topicErrors, topLevel } from './group-access-cases.ts'

const ANY_PRODUCER = { producerId: 4711n, producerEpoch: 0 }

const transactionCases: AccessCase[] = PRODUCERS.flatMap(transactionalId => [
  accessCase(`of ${transactionalId}`, AddPartitionsToTxnApi, {
    version: 3,
    request: {
      v3AndBelowTransactionalId: transactionalId,
      v3AndBelowProducerId: 4711n,
      v3AndBelowProducerEpoch: 0,
      v3AndBelowTopics: ['write', 'hidden', 'absent'].map(name => ({ name, partitions: [0] })),
    },
    show: ({ resultsByTopicV3AndBelow: results }) =>
      results
        .flatMap(({ name, resultsByPartition }) =>
          resultsByPartition.map(({ partitionErrorCode }) => `${name}: ${errorName(partitionErrorCode)}`),
        )
        .sort(),
  }),
  ...['read', 'hidden'].map(groupId =>
    accessCase(`of ${transactionalId} to ${groupId}`, AddOffsetsToTxnApi, {
      version: 3,
      request: { transactionalId, ...ANY_PRODUCER, groupId },
      show: topLevel,
    }),
  ),
  ...['read', 'hidden'].map(groupId =>
    accessCase(`of ${transactionalId} to ${groupId}`, TxnOffsetCommitApi, {
      version: 3,
      request: { transactionalId, groupId, ...ANY_PRODUCER, topics: offsetsOf(COMMITTED) },
      show: ({ topics }) => topicErrors(topics),
    }),
  ),
  accessCase(`of ${transactionalId}`, EndTxnApi, {
    version: 3,
    request: { transactionalId, ...ANY_PRODUCER, committed: true },
    show: topLevel,
  }),
])

const markers: AccessCase[] = [
  accessCase('by servers only', AddPartitionsToTxnApi, {
    version: 4,
    users: ['bob', 'alice', 'erin'],
    request: {
      transactions: [{ transactionalId: 'write', ...ANY_PRODUCER, topics: [{ name: 'write', partitions: [0] }] }],
    },
    show: topLevel,
  }),
  accessCase('', WriteTxnMarkersApi, {
    version: 1,
    users: ['bob', 'alice', 'erin'],
    request: {
      markers: [
        {
          ...ANY_PRODUCER,
          transactionResult: false,
          topics: [{ name: 'hidden', partitionIndexes: [0] }],
          coordinatorEpoch: 0,
        },
      ],
    },
    show: ({ markers: results }) =>
      results.flatMap(({ topics }) => topics.flatMap(({ partitions }) => partitions.map(topLevel))),
  }),
  accessCase('', DescribeTransactionsApi, {
    request: { transactionalIds: [...PRODUCERS] },
    show: ({ transactionStates }) => errorsOf(transactionStates, ({ transactionalId }) => transactionalId),
  }),
  accessCase('', ListTransactionsApi, {
    version: 1,
    request: { stateFilters: [], producerIdFilters: [] },
    show: ({ errorCode, transactionStates }) => ({
      errorCode,
      ids: transactionStates.map(({ transactionalId }) => transactionalId).sort(),
    }),
  }),
]

export const transactionAccessCases: readonly AccessCase[] = [...transactionCases, ...markers]
