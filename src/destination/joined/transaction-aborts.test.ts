/** Transactions of Kafka's coordinators that are ended because their topic changes roles. */
import { deepEqual, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import { javaBroker, joinedImage, lockstepBroker } from '../../metadata/fakes/joined-images.ts'
import { ErrorCode } from '../../protocol/errors.ts'
import { FakeBrokers } from './fakes/fake-brokers.ts'
import { TransactionAborts } from './transaction-aborts.ts'

interface Transaction {
  readonly producerId: bigint
  transactionState: string
  readonly topic: string
}

/** Two brokers, each of which coordinates some transactions. */
function scene(transactions: readonly Readonly<Record<string, Transaction>>[], coordinators = [[1], [2]]) {
  const brokers = new FakeBrokers()
  const told = { mayDescribe: true, isSlow: false, fenced: ErrorCode.CONCURRENT_TRANSACTIONS as number }
  for (const [index, own] of transactions.entries())
    brokers.answers.set(index + 1, {
      ListTransactionsRequest: ({
        stateFilters,
        producerIdFilters,
      }: {
        stateFilters: string[]
        producerIdFilters: bigint[]
      }) => ({
        ...{ errorCode: 0, unknownStateFilters: [] },
        transactionStates: Object.entries(own)
          .map(([transactionalId, { producerId, transactionState }]) => ({
            transactionalId,
            producerId,
            transactionState,
          }))
          .filter(of => stateFilters.includes(of.transactionState) && producerIdFilters.includes(of.producerId)),
      }),
      DescribeTransactionsRequest: ({ transactionalIds: [id = ''] }: { transactionalIds: string[] }) => {
        const found = own[id]
        const refusal = told.mayDescribe
          ? ErrorCode.TRANSACTIONAL_ID_NOT_FOUND
          : ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED
        const topics = found ? [{ topic: found.topic, partitions: [0] }] : []
        const state = { transactionTimeoutMs: 1, transactionStartTimeMs: 1n, producerEpoch: 0, topics }
        const { producerId = -1n, transactionState = '' } = found ?? {}
        const errorCode = found ? ErrorCode.NONE : refusal
        return { transactionStates: [{ ...state, errorCode, transactionalId: id, producerId, transactionState }] }
      },
      InitProducerIdRequest: ({ transactionalId }: { transactionalId: string }) => {
        const found = own[transactionalId]
        if (found && !told.isSlow && told.fenced === ErrorCode.CONCURRENT_TRANSACTIONS)
          found.transactionState = 'PrepareAbort'
        return { errorCode: told.fenced, producerId: -1n, producerEpoch: -1 }
      },
    })
  const image = joinedImage({
    brokers: [javaBroker(1), javaBroker(2), lockstepBroker(1001)],
    topics: { __transaction_state: coordinators },
  })
  return { aborts: new TransactionAborts({ image: () => image, brokers }), brokers, told }
}

const open = (producerId: bigint, topic = 'orders'): Transaction => ({ producerId, transactionState: 'Ongoing', topic })

test('what is open in the topic is aborted by its coordinator, what is ending is waited for, others are left alone', async () => {
  const { aborts, brokers, told } = scene([
    { mine: open(7n), other: open(8n) },
    { ending: { ...open(9n), transactionState: 'PrepareCommit' }, elsewhere: open(10n, 'payments') },
  ])
  // It shows late what it has begun.
  told.isSlow = true
  deepEqual(await aborts.abort('orders', new Set([7n, 9n, 10n])), { aborted: 1, ending: 1 })
  deepEqual(
    brokers.asked.filter(word => word.includes('Init')),
    ['1 InitProducerIdRequest'],
  )
  told.isSlow = false
  deepEqual(await aborts.abort('orders', new Set([7n, 9n, 10n])), { aborted: 0, ending: 2 })
})

test('what no coordinator knows of is in neither number, if all would be shown', async () => {
  const { aborts, told } = scene([{}, {}])
  deepEqual(await aborts.abort('orders', new Set([7n])), { aborted: 0, ending: 0 })
  told.mayDescribe = false
  await rejects(aborts.abort('orders', new Set([7n])), /producers 7 are shown by no coordinator/)
})

test('nothing is concluded where a coordinator is not there, or refuses', async () => {
  const headless = scene([{}, {}], [[1], [1001]])
  await rejects(headless.aborts.abort('orders', new Set([7n])), /no coordinator now: partition 1/)
  const { aborts, brokers, told } = scene([{ mine: open(7n) }, {}])
  told.fenced = ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED
  await rejects(aborts.abort('orders', new Set([7n])), /lacks WRITE on the transactional id mine/)
  brokers.answers.delete(2)
  await rejects(aborts.abort('orders', new Set([7n])), /broker 2 is not there/)
})
