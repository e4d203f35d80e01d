/** The server properties behind transactions as numbers; the composition root and tests read them once. */
import type { PropertyText } from '../runtime/internal-topics.ts'

export interface TransactionSettings {
  /** `transaction.max.timeout.ms`: the longest timeout that a producer may ask for. */
  readonly timeoutMsMax: number
  /** `transaction.abort.timed.out.transaction.cleanup.interval.ms` */
  readonly timeoutCheckMs: number
  /** `transactional.id.expiration.ms`: idle time after which an id is forgotten. */
  readonly idExpirationMs: number
  /** `transaction.remove.expired.transaction.cleanup.interval.ms` */
  readonly expiryCheckMs: number
  /** `add.partitions.to.txn.retry.backoff.max.ms`: how long records wait for the end of the transaction before theirs. */
  readonly addWaitMs: number
}

export const transactionSettings = (property: PropertyText): TransactionSettings => ({
  timeoutMsMax: Number(property('transaction.max.timeout.ms')),
  timeoutCheckMs: Number(property('transaction.abort.timed.out.transaction.cleanup.interval.ms')),
  idExpirationMs: Number(property('transactional.id.expiration.ms')),
  expiryCheckMs: Number(property('transaction.remove.expired.transaction.cleanup.interval.ms')),
  addWaitMs: Number(property('add.partitions.to.txn.retry.backoff.max.ms')),
})
