/** Ends the transactions of a topic that is about to change hands; the composition root gives it to the link engine. */
import { ErrorCode } from '../../protocol/errors.ts'
import type { TransactionCoordinator } from './transaction-coordinator.ts'
import type { TransactionMetadata } from './transaction-metadata.ts'

const has = ({ partitions }: TransactionMetadata, topic: string): boolean =>
  partitions.values().some(partition => partition.topic === topic)

/**
 * Aborts every open transaction with records in the topic, as its time-out would, which fences its producer. Resolves to how many, and
 * to how many more have an end that is not written there yet. Rejects with CoordinatorError while ids are being loaded.
 */
export async function abortOpenTransactions(
  coordinator: Pick<TransactionCoordinator, 'list' | 'abort'>,
  topic: string,
): Promise<{ readonly aborted: number; readonly ending: number }> {
  const concerned = coordinator
    .list({ states: ['Ongoing', 'PrepareCommit', 'PrepareAbort'], producerIds: [], longerThanMs: -1n, idPattern: null })
    .filter(transaction => has(transaction, topic))
  const open = concerned.filter(({ state }) => state === 'Ongoing')
  const codes = await Promise.all(open.map(({ transactionalId }) => coordinator.abort(transactionalId)))
  const aborted = codes.filter(code => code === ErrorCode.NONE).length
  return { aborted, ending: concerned.length - aborted }
}
