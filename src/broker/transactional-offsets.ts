/**
 * Before offsets are committed in a transaction: is the partition that holds the group part of it? TxnOffsetCommit up to version 4
 * asks the coordinator; from 5 on it adds the partition (KIP-890). Its handler calls it.
 */
import { OFFSETS_TOPIC } from '../coordinator/transactions/transaction-markers.ts'
import { partitionSet } from '../coordinator/transactions/transaction-metadata.ts'
import { ErrorCode } from '../protocol/errors.ts'
import type { TxnOffsetCommitRequest } from '../protocol/messages/28-txn-offset-commit.ts'
import { ClientAppendError } from '../replica/client-append-error.ts'
import { PartitionUnavailable } from '../replica/partition-unavailable.ts'
import type { VerificationGuard } from '../replica/transaction-verifications.ts'
import { beginVerification, type TransactionProof } from '../replica/transactional-records.ts'
import type { BrokerContext, RequestOrigin } from './handler.ts'
import { isVerificationOn } from './transactional-produce.ts'

const IMPLICIT_VERSION = 5
/** The first version whose clients know TRANSACTION_ABORTABLE. */
const ABORTABLE_VERSION = 4

/** What the write has to show, or the error code of the refusal. */
export async function proveOffsets(
  broker: BrokerContext,
  origin: RequestOrigin,
  request: TxnOffsetCommitRequest,
): Promise<TransactionProof | number> {
  const at = { topic: OFFSETS_TOPIC, partition: broker.groups.partitionFor(request.groupId) }
  const bumpsEpoch = origin.version >= IMPLICIT_VERSION
  const required = isVerificationOn(broker, origin)
  let guard: VerificationGuard | undefined
  try {
    const partition = broker.replicas.lookupByName(at.topic, at.partition)
    const batch = { producerId: request.producerId, producerEpoch: request.producerEpoch, baseSequence: -1 }
    guard = beginVerification(partition, batch, { bumpsEpoch, clock: broker.clock })
  } catch (error) {
    if (error instanceof ClientAppendError) return error.errorCode
    if (error instanceof PartitionUnavailable) return ErrorCode.NOT_COORDINATOR
    throw error
  }
  if (guard === undefined || (!bumpsEpoch && !required)) return { guard, required }
  const partitions = partitionSet([at])
  const errorCode = bumpsEpoch
    ? await broker.transactions.addImplicitly(request, partitions)
    : [...broker.transactions.verifyPartitions(request, partitions).values()][0]
  return errorCode === ErrorCode.NONE ? { guard, required } : told(errorCode ?? ErrorCode.NONE, origin.version)
}

/** Kafka's translation of the coordinator's codes into those that producers of this version understand. */
function told(errorCode: number, version: number): number {
  if (errorCode === ErrorCode.PRODUCER_FENCED) return ErrorCode.INVALID_PRODUCER_EPOCH
  if (errorCode === ErrorCode.TRANSACTION_ABORTABLE && version < ABORTABLE_VERSION) return ErrorCode.INVALID_TXN_STATE
  return errorCode
}
