/** Which transactions are open in partitions of the source, and whose they are (KIP-664); the source cluster exposes it. */
import { SourceError, type SourceTopic, type SourceTransaction } from '../link/ports.ts'
import { ErrorCode } from '../protocol/errors.ts'
import { DescribeProducersApi } from '../protocol/messages/61-describe-producers.ts'
import { ListTransactionsApi } from '../protocol/messages/66-list-transactions.ts'
import type { BrokerPool } from './broker-pool.ts'
import { sourceErrorOf } from './source-error-of.ts'

interface Question {
  readonly topic: SourceTopic
  readonly partitions: readonly number[]
  readonly signal: AbortSignal | undefined
}

/** Leaders tell the producers, coordinators their transactional ids. What a source cannot or may not tell is left out; rejects when it is away. */
export async function openTransactions(pool: BrokerPool, question: Question): Promise<SourceTransaction[]> {
  const { signal } = question
  const found = await openProducers(pool, question)
  if (found.length === 0) return []
  const producerIds = [...new Set(found.map(({ producerId }) => producerId))]
  const names = await transactionalIds(pool, producerIds, signal)
  return found.map(transaction => ({ ...transaction, transactionalId: names.get(transaction.producerId) }))
}

async function openProducers(
  pool: BrokerPool,
  { topic, partitions, signal }: Question,
): Promise<Omit<SourceTransaction, 'transactionalId'>[]> {
  const asked = topic.partitions.filter(({ partition, leader }) => leader >= 0 && partitions.includes(partition))
  const byLeader = Map.groupBy(asked, ({ leader }) => leader)
  const answers = await Promise.all(
    [...byLeader].map(([leader, ofLeader]) =>
      orNothing([], async () => {
        const connection = await pool.questionsTo(leader, signal)
        const partitionIndexes = ofLeader.map(({ partition }) => partition)
        const topics = [{ name: topic.name, partitionIndexes }]
        const { response } = await connection.send(DescribeProducersApi, { topics }, { signal })
        return response.topics.flatMap(({ partitions: told }) => told)
      }),
    ),
  )
  return answers.flat().flatMap(({ partitionIndex, activeProducers }) =>
    activeProducers
      .filter(({ currentTxnStartOffset }) => currentTxnStartOffset >= 0n)
      .map(({ producerId, currentTxnStartOffset }) => {
        return { partition: partitionIndex, producerId, startOffset: Number(currentTxnStartOffset) }
      }),
  )
}

/** Any broker may be the coordinator. */
async function transactionalIds(
  pool: BrokerPool,
  producerIds: readonly bigint[],
  signal: AbortSignal | undefined,
): Promise<Map<bigint, string>> {
  const answers = await Promise.all(
    pool.brokers.map(({ id }) =>
      orNothing([], async () => {
        const connection = await pool.questionsTo(id, signal)
        const request = { stateFilters: [], producerIdFilters: [...producerIds] }
        const { response } = await connection.send(ListTransactionsApi, request, { signal })
        return response.errorCode === ErrorCode.NONE ? response.transactionStates : []
      }),
    ),
  )
  return new Map(answers.flat().map(({ producerId, transactionalId }) => [producerId, transactionalId]))
}

/** An older broker, one that refuses, or one that is away: the rest is told all the same. */
async function orNothing<T>(nothing: T, question: () => Promise<T>): Promise<T> {
  try {
    return await question()
  } catch (error) {
    const failure = sourceErrorOf(error)
    if (failure instanceof SourceError) return nothing
    throw failure
  }
}
