/** Whether records that say they are part of a transaction may enter a partition (KIP-890); the Produce handler and appends ask. */
import type { Clock } from '../core/clock.ts'
import type { BatchHeader } from '../protocol/batches/batch-header.ts'
import { ErrorCode } from '../protocol/errors.ts'
import { ClientAppendError } from './client-append-error.ts'
import type { Partition } from './partition.ts'
import type { TransactionalBatch, VerificationGuard } from './transaction-verifications.ts'

/** What an append of transactional records has to show. */
export interface TransactionProof {
  /** Of the question to the coordinator that was answered with yes; undefined if the transaction was open here already. */
  readonly guard: VerificationGuard | undefined
  /** False where the operator has switched verification off. */
  readonly required: boolean
}

/**
 * A guard if the coordinator must be asked before the append, undefined if the transaction is open here already. Throws
 * ClientAppendError INVALID_PRODUCER_EPOCH for a producer that is fenced.
 */
export function beginVerification(
  partition: Partition,
  batch: TransactionalBatch,
  how: { readonly bumpsEpoch: boolean; readonly clock: Clock },
): VerificationGuard | undefined {
  refuseFenced(partition, batch)
  return isOpenHere(partition, batch) ? undefined : partition.verifications.begin(batch, how)
}

/**
 * Right before a client's append, in the partition's queue. Throws ClientAppendError: as `checkOpen`, or
 * OUT_OF_ORDER_SEQUENCE_NUMBER. A repeated batch is let through: it is not appended.
 */
export function checkTransactional(
  partition: Partition,
  header: BatchHeader,
  proof: TransactionProof | undefined,
): void {
  if (partition.log.checkProducer(header).kind === 'duplicate') return
  checkOpen(partition, header, proof)
  const known = (partition.log.producer(header.producerId)?.batches.length ?? 0) > 0
  if (partition.verifications.isOutOfOrder(header, known))
    throw new ClientAppendError(
      ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER,
      `${partition.name}: producer ${header.producerId} has earlier records on their way than sequence ${header.baseSequence}`,
    )
}

/**
 * Right before the append, in the partition's queue: is the producer's transaction open? Throws ClientAppendError:
 * INVALID_PRODUCER_EPOCH, or INVALID_TXN_STATE if a marker came after the coordinator was asked.
 */
export function checkOpen(partition: Partition, producer: Producer, proof: TransactionProof | undefined): void {
  if (isOpenHere(partition, producer)) return
  refuseFenced(partition, producer)
  if (proof?.required === false || partition.verifications.holds(proof?.guard)) return
  throw new ClientAppendError(
    ErrorCode.INVALID_TXN_STATE,
    `${partition.name}: the records are not part of an ongoing transaction`,
  )
}

interface Producer {
  readonly producerId: bigint
  readonly producerEpoch: number
}

/** A transaction of the producer, in this epoch, has records here and no marker yet. */
function isOpenHere(partition: Partition, batch: Producer): boolean {
  const entry = partition.log.producer(batch.producerId)
  return entry !== undefined && entry.transactionFirstOffset >= 0 && entry.producerEpoch === batch.producerEpoch
}

function refuseFenced(partition: Partition, batch: Producer): void {
  const epoch = partition.log.producer(batch.producerId)?.producerEpoch ?? -1
  if (batch.producerEpoch >= epoch) return
  throw new ClientAppendError(
    ErrorCode.INVALID_PRODUCER_EPOCH,
    `${partition.name}: the epoch of producer ${batch.producerId} is ${epoch}, not ${batch.producerEpoch}`,
  )
}
