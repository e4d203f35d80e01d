/** A transactional id in any state, for tests of decisions. */
import { newTransaction, partitionSet, type TransactionMetadata } from '../transaction-metadata.ts'

export const NOW_MS = 1_700_000_000_000

/** Producer 7 in epoch 3, with one partition where the state has any. */
export function someTransaction(change: Partial<TransactionMetadata> = {}): TransactionMetadata {
  const { state = 'Ongoing' } = change
  const open = state === 'Ongoing' || state === 'PrepareCommit' || state === 'PrepareAbort'
  return {
    ...newTransaction('tx', { producerId: 7n, timeoutMs: 1000, nowMs: NOW_MS - 500 }),
    producerEpoch: 3,
    state,
    partitions: partitionSet(open ? [{ topic: 'orders', partition: 0 }] : []),
    startMs: state === 'Empty' ? -1 : NOW_MS - 500,
    ...change,
  }
}
